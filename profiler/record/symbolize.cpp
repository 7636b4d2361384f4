// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "symbolize.h"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <new>
#include <tuple>

#include "trace/function_name.h"
#if STREAMSCOPE_HAVE_LIBDW
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#endif

namespace streamscope::record {

#if STREAMSCOPE_HAVE_LIBDW

namespace {

// libdw's own handler would end the recorder. For Clang only this spelling is part of a function's
// type.
__attribute__((noreturn)) void run_out_of_memory() { throw std::bad_alloc(); }

}  // namespace

struct Symbolizer::Impl {
  struct File {
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
    GElf_Addr bias = 0;
    bool has_lines = true;
    bool ran_out = false;  // of memory: it has no lines any more, and cannot be closed
  };

  ~Impl() {
    for (auto& [key, file] : files) {
      if (file.session != nullptr && !file.ran_out) dwfl_end(file.session);
    }
  }

  // A file that was replaced meanwhile is another one.
  using Key = std::tuple<std::string, dev_t, ino_t, time_t>;

  File& open(const std::string& path) {
    struct stat facts {};
    ::stat(path.c_str(), &facts);
    auto [known, is_new] =
        files.try_emplace({path, facts.st_dev, facts.st_ino, facts.st_mtim.tv_sec});
    File& file = known->second;
    if (!is_new) return file;
    // Separate debug files are looked for on this machine only.
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_build_id_find_debuginfo,
                                              .section_address = dwfl_offline_section_address,
                                              .debuginfo_path = nullptr};
    file.session = dwfl_begin(&kCallbacks);
    if (file.session == nullptr) return file;
    dwfl_report_begin(file.session);
    file.module = dwfl_report_offline(file.session, path.c_str(), path.c_str(), -1);
    dwfl_report_end(file.session, nullptr, nullptr);
    if (file.module != nullptr && dwfl_module_getelf(file.module, &file.bias) == nullptr)
      file.module = nullptr;
    return file;
  }

  /// " FILE:LINE", or nothing.
  static std::string line(File& file, GElf_Addr at) {
    int line = 0;
    const char* source = nullptr;
    errno = 0;
    try {
      GElf_Addr ignored = 0;
      Dwarf* facts = dwfl_module_getdwarf(file.module, &ignored);
      file.has_lines = facts != nullptr;
      if (facts == nullptr) return "";
      dwarf_new_oom_handler(facts, run_out_of_memory);
      Dwfl_Line* found = dwfl_module_getsrc(file.module, at);
      if (found != nullptr)
        source = dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr);
      // libdw 0.188 leaves a pointer to its stack behind where it ran out of memory, and follows it
      // when it is asked again.
      file.ran_out = found == nullptr && errno == ENOMEM;
    } catch (const std::bad_alloc&) {
      file.ran_out = true;
    }
    if (file.ran_out) file.has_lines = false;
    return source == nullptr ? "" : " " + std::string(source) + ":" + std::to_string(line);
  }

  std::map<Key, File> files;
};

std::string Symbolizer::name(const std::string& file, uint64_t address) {
  Impl::File& opened = impl_->open(file);
  if (opened.module == nullptr) return "";
  const GElf_Addr at = address + opened.bias;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* function =
      dwfl_module_addrinfo(opened.module, at, &offset, &symbol, nullptr, nullptr, nullptr);
  if (function == nullptr) return "";
  std::string result = trace::demangled(function);
  if (opened.has_lines) result += Impl::line(opened, at);
  return result;
}

#else

struct Symbolizer::Impl {};

std::string Symbolizer::name(const std::string&, uint64_t) { return ""; }

#endif

Symbolizer::Symbolizer() : impl_(std::make_unique<Impl>()) {}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

}  // namespace streamscope::record
