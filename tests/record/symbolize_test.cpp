// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/symbolize.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if STREAMSCOPE_HAVE_LIBDW
#include <elfutils/libdwfl.h>

#include "inlined_call.h"
#include "support/sanitized.h"
#include "trace/function_name.h"

namespace streamscope::record {
namespace {

// libdwfl's own search, which checks every symbol.
class SymbolOracle {
 public:
  explicit SymbolOracle(const std::string& file) {
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_build_id_find_debuginfo,
                                              .section_address = dwfl_offline_section_address,
                                              .debuginfo_path = nullptr};
    session_ = dwfl_begin(&kCallbacks);
    dwfl_report_begin(session_);
    module_ = dwfl_report_offline(session_, file.c_str(), file.c_str(), -1);
    dwfl_report_end(session_, nullptr, nullptr);
    dwfl_module_getelf(module_, &bias_);
  }
  ~SymbolOracle() { dwfl_end(session_); }

  struct Answer {
    std::string name;
    GElf_Addr begin = 0;
  };
  Answer at(uint64_t address) const {
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    const char* name =
        dwfl_module_addrinfo(module_, address + bias_, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name == nullptr) return {};
    return {trace::demangled(name), address - offset};
  }
  // Names of all symbols that begin there: any of them is right.
  bool is_alias(const std::string& name, GElf_Addr begin) const {
    for (int i = 1; i < dwfl_module_getsymtab(module_); ++i) {
      GElf_Sym symbol;
      GElf_Addr value = 0;
      const char* text =
          dwfl_module_getsym_info(module_, i, &symbol, &value, nullptr, nullptr, nullptr);
      if (text != nullptr && value == begin + bias_ && trace::demangled(text) == name) return true;
    }
    return false;
  }

 private:
  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  GElf_Addr bias_ = 0;
};

std::string without_line(const std::string& name) {
  const size_t colon = name.rfind(':'), space = name.rfind(' ', colon);
  const bool numbered = colon != name.npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == name.npos;
  return numbered && space != name.npos ? name.substr(0, space) : name;
}

std::string file_of(const void* address) {
  Dl_info info{};
  ::dladdr(address, &info);
  char* path = ::realpath(info.dli_fname, nullptr);
  std::string result = path;
  std::free(path);
  return result;
}

// Addresses in and between functions, and of none.
std::vector<uint64_t> addresses(uint64_t until) {
  std::vector<uint64_t> result;
  std::mt19937_64 random(5);
  for (int i = 0; i < test::sample_of(3000); ++i) result.push_back(random() % until);
  return result;
}

TEST(Symbolizer, NamesWhatASearchOfAllSymbolsNames) {
  int named = 0;
  for (const auto& [file, size] :
       {std::pair{std::string("/proc/self/exe"), uint64_t{4} << 20},
        std::pair{file_of(reinterpret_cast<void*>(&std::getenv)), uint64_t{2} << 20}}) {
    char* path = ::realpath(file.c_str(), nullptr);
    const std::string real = path;
    std::free(path);
    const SymbolOracle oracle(real);
    Symbolizer symbolizer;
    for (const uint64_t address : addresses(size)) {
      const std::string got = without_line(symbolizer.name({real, address}));
      const SymbolOracle::Answer wanted = oracle.at(address);
      named += !wanted.name.empty();
      EXPECT_TRUE(got == wanted.name || oracle.is_alias(got, wanted.begin))
          << real << " +" << address << ": '" << got << "', not '" << wanted.name << "'";
    }
  }
  EXPECT_GT(named, test::sample_of(1000));
}

TEST(Symbolizer, GivesTheLineOfTheProgramForACallThatIsInlinedFromAHeaderOfALibrary) {
  const std::string self = file_of(reinterpret_cast<const void*>(&call_from_header));
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&call_from_header), &info), 0);
  Symbolizer symbolizer;
  const auto name_of = [&](const char* address) {
    return symbolizer.name(
        {self, static_cast<uint64_t>(address - static_cast<const char*>(info.dli_fbase))});
  };
  EXPECT_THAT(name_of(call_from_header()), testing::HasSubstr("call_from_header"));
  EXPECT_THAT(name_of(call_from_header()), testing::EndsWith("program.cpp:200"));
  EXPECT_THAT(name_of(call_from_helper()), testing::EndsWith("helper.h:100"));
}

TEST(CodeNames, AreThoseOfTheSymbolizerInTheOrderOfThePlaces) {
  const std::string libc = file_of(reinterpret_cast<void*>(&std::getenv));
  std::vector<CodePlace> places;
  for (const uint64_t address : addresses(uint64_t{2} << 20)) places.push_back({libc, address});
  places.push_back({"/nonexistent", 5});
  places.push_back(places.front());
  CodeNames names;
  Symbolizer symbolizer;
  for (int turn = 0; turn < 2; ++turn) {  // the second time from memory
    const auto found = names.look_up(places);
    ASSERT_EQ(found.size(), places.size());
    for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(found[i], symbolizer.name(places[i]));
  }
}

}  // namespace
}  // namespace streamscope::record
#endif
