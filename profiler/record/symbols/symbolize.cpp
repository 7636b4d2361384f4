// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "symbolize.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <new>
#include <string_view>
#include <tuple>

#include "trace/function_name.h"
#include "vocabulary/system_header.h"
#if STREAMSCOPE_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#endif

namespace streamscope::record {

#if STREAMSCOPE_HAVE_LIBDW

namespace {

// libdw's own handler would end the recorder. Clang treats only this spelling as part of a
// function's type.
__attribute__((noreturn)) void run_out_of_memory() { throw std::bad_alloc(); }

// The functions of a module by address: libdwfl itself scans all symbols for each query, which
// takes a minute if a library has hundreds of thousands.
class SortedSymbols {
 public:
  explicit SortedSymbols(Dwfl_Module* module) : module_(module) {
    const int count = dwfl_module_getsymtab(module);
    symbols_.reserve(static_cast<size_t>(std::max(count, 0)));
    for (int i = 1; i < count; ++i) add(i);
    std::ranges::sort(symbols_, {}, [](const Symbol& symbol) {
      return std::tuple(symbol.begin, symbol.binding, symbol.index);
    });
    GElf_Addr reached = 0;
    for (Symbol& symbol : symbols_) symbol.reached = reached = std::max(reached, symbol.end);
  }

  /// The function that contains an address, or nullptr.
  const char* at(GElf_Addr address) const {
    auto symbol = std::ranges::upper_bound(symbols_, address, {}, &Symbol::begin);
    const Symbol* found = nullptr;  // of those that begin last, the first
    const Symbol* label = nullptr;  // without a size, such as assembly code
    while (symbol != symbols_.begin()) {
      --symbol;
      if (found != nullptr && symbol->begin != found->begin) break;
      if (address < symbol->end) {
        found = &*symbol;
      } else if (symbol->end == symbol->begin &&
                 (label == nullptr || label->begin == symbol->begin)) {
        label = &*symbol;
      }
      if (symbol->reached <= address && (label == nullptr || symbol->begin != label->begin)) break;
    }
    if (found == nullptr && label != nullptr && reaches(*label, address)) found = label;
    return found == nullptr ? nullptr : name(found->index);
  }

 private:
  struct Symbol {
    GElf_Addr begin, end;
    GElf_Addr reached;  // end of this symbol or of one before it
    int index;
    int binding;  // a global symbol has the commonly used name
    GElf_Word section;
  };

  void add(int index) {
    GElf_Sym symbol;
    GElf_Addr value = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module_, index, &symbol, &value, &section, nullptr, nullptr);
    if (name == nullptr || *name == 0 || section == SHN_UNDEF || section == SHN_ABS) return;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_SECTION || type == STT_FILE || type == STT_TLS) return;
    const int binding = GELF_ST_BIND(symbol.st_info);
    symbols_.push_back({value, value + symbol.st_size, 0, index,
                        binding == STB_GLOBAL ? 0
                        : binding == STB_WEAK ? 1
                                              : 2,
                        section});
  }
  // A label is for the code that follows it in its section.
  bool reaches(const Symbol& label, GElf_Addr address) const {
    if (label.reached > label.begin) return false;  // inside another, or after its begin
    GElf_Addr in_section = address, bias = 0;
    Elf_Scn* section = dwfl_module_address_section(module_, &in_section, &bias);
    return section != nullptr && elf_ndxscn(section) == label.section;
  }
  const char* name(int index) const {
    GElf_Sym symbol;
    GElf_Addr value = 0;
    return dwfl_module_getsym_info(module_, index, &symbol, &value, nullptr, nullptr, nullptr);
  }

  Dwfl_Module* module_;
  std::vector<Symbol> symbols_;
};

struct SourceLine {
  std::string_view file;  // empty if unknown; libdw keeps the text
  int line = 0;
};

// Headers of the toolkit and of the C++ library, and what nvcc makes of a launch.
bool is_of_library(std::string_view file) {
  const bool of_toolkit = file.find("/cuda") != file.npos && file.find("/include/") != file.npos;
  return of_toolkit || is_system_header(file) || file.find("tmpxft_") != file.npos;
}

// Where an inlined call at an address was made, the first one outside of libraries from the
// innermost one on; nothing if there is none.
SourceLine inlined_from(Dwfl_Module* module, GElf_Addr at) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, at, &bias);
  Dwarf_Die *inner = nullptr, *scopes = nullptr;
  if (unit == nullptr || dwarf_getscopes(unit, at - bias, &inner) <= 0) return {};
  // All that enclose the innermost one.
  const int count = dwarf_getscopes_die(inner, &scopes);
  Dwarf_Files* files = nullptr;
  size_t file_count = 0;
  if (dwarf_getsrcfiles(unit, &files, &file_count) != 0) file_count = 0;
  SourceLine found;
  for (int i = 0; i < count && found.file.empty(); ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line) != 0 ||
        file >= file_count)
      continue;
    const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
    if (name != nullptr && !is_of_library(name)) found = {name, static_cast<int>(line)};
  }
  std::free(inner);
  std::free(scopes);
  return found;
}

}  // namespace

struct Symbolizer::Impl {
  struct File {
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
    GElf_Addr bias = 0;
    std::optional<SortedSymbols> symbols;
    bool has_lines = true;
    bool ran_out = false;  // of memory: it has no lines any more, and cannot be closed
  };

  ~Impl() {
    for (auto& [key, file] : files) {
      if (file.session != nullptr && !file.ran_out) dwfl_end(file.session);
    }
  }

  // A file that was replaced meanwhile is a different file.
  using Key = std::tuple<std::string, dev_t, ino_t, time_t>;

  File& open(const std::string& path) {
    struct stat facts {};
    ::stat(path.c_str(), &facts);
    auto [known, is_new] =
        files.try_emplace({path, facts.st_dev, facts.st_ino, facts.st_mtim.tv_sec});
    File& file = known->second;
    if (!is_new) return file;
    // Separate debug files are searched on this machine only.
    static constexpr Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
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
    if (file.module != nullptr) file.symbols.emplace(file.module);
    return file;
  }

  /// " FILE:LINE", or nothing.
  static std::string line(File& file, GElf_Addr at) {
    SourceLine source;
    errno = 0;
    try {
      GElf_Addr ignored = 0;
      Dwarf* facts = dwfl_module_getdwarf(file.module, &ignored);
      file.has_lines = facts != nullptr;
      if (facts == nullptr) return "";
      dwarf_new_oom_handler(facts, run_out_of_memory);
      Dwfl_Line* found = dwfl_module_getsrc(file.module, at);
      if (found != nullptr)
        if (const char* name =
                dwfl_lineinfo(found, nullptr, &source.line, nullptr, nullptr, nullptr))
          source.file = name;
      // A call that was inlined from a header is of the line that makes it.
      if (is_of_library(source.file)) {
        if (const SourceLine outer = inlined_from(file.module, at); !outer.file.empty())
          source = outer;
      }
      // libdw 0.188 leaves a pointer to its stack behind when it runs out of memory, and follows it
      // at the next query.
      file.ran_out = found == nullptr && errno == ENOMEM;
    } catch (const std::bad_alloc&) {
      file.ran_out = true;
    }
    if (file.ran_out) file.has_lines = false;
    return source.file.empty() ? ""
                               : " " + std::string(source.file) + ":" + std::to_string(source.line);
  }

  std::map<Key, File> files;
};

std::string Symbolizer::name(const CodePlace& place) {
  Impl::File& opened = impl_->open(place.file);
  if (opened.module == nullptr || !opened.symbols) return "";
  const GElf_Addr at = place.address + opened.bias;
  const char* function = opened.symbols->at(at);
  if (function == nullptr) return "";
  std::string result = trace::demangled(function);
  if (opened.has_lines) result += Impl::line(opened, at);
  return result;
}

#else

struct Symbolizer::Impl {};

std::string Symbolizer::name(const CodePlace&) { return ""; }

#endif

Symbolizer::Symbolizer() : impl_(std::make_unique<Impl>()) {}
Symbolizer::~Symbolizer() = default;

}  // namespace streamscope::record
