// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/kernel_code.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace streamscope::collect {

namespace {

constexpr std::string_view kCode = ".text.";
constexpr unsigned char kEntry = 0x10;  // STO_CUDA_ENTRY of a symbol: a kernel
constexpr size_t kInstructionBytes = 16;

// A strong load or store that kernels beside this one can see, by bits 77 to 80: not only within
// the block or multiprocessor.
bool is_strong_beyond_sm(uint64_t high, unsigned sm) {
  const unsigned field = high >> 13 & 15;
  if (sm < 80) return field >> 2 == 2 && (field & 3) != 0;
  constexpr unsigned kGpu = 7, kSystem = 10;
  return field == kGpu || field == kSystem;
}

// The number of an operation is in 9 bits; three more say where its operands are.
uint8_t traits_of(uint64_t low, uint64_t high, unsigned sm) {
  switch (low & 0x1ff) {
    case 0x180:  // LD
    case 0x181:  // LDG
      return is_strong_beyond_sm(high, sm) ? kMayWait : 0;
    case 0x185:  // ST
    case 0x186:  // STG
      return is_strong_beyond_sm(high, sm) ? kMaySignal : 0;
    case 0x18e:  // RED
    case 0x1a6:  // of floating-point numbers
      return kMaySignal;
    case 0x18a:  // ATOM
    case 0x18b:
    case 0x1a8:  // ATOMG
    case 0x1a9:
    case 0x1a3:
      return kMaySignal | kMayWait;
    case 0x192:  // MEMBAR; 0 is that of a block
      return (high >> 13 & 15) != 0 ? kMaySignal : 0;
    case 0x1b4:  // UTMALDG
      return kReadsByTensorMap;
    case 0x1b5:  // UTMASTG
    case 0x1b6:  // UTMAREDG
      return kWritesByTensorMap;
    case 0x160:  // TEX
    case 0x161:
    case 0x163:  // TLD4
    case 0x164:
    case 0x166:  // TLD
    case 0x167:
    case 0x16c:  // TXD
    case 0x16d:
    case 0x199:  // SULD
    case 0x19d:  // SUST
    case 0x19f:  // SURED
    case 0x1a4:  // LDGMC
      return kTouchesUnseen;
    default:
      return 0;
  }
}

// An ELF file in memory; what lies outside of it is not there.
class Cubin {
 public:
  Cubin(const char* data, size_t bytes) : file_(data, bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_ident[EI_CLASS] == ELFCLASS64)
      header_ = *header;
  }

  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset) return {};
    return file_.substr(offset, bytes);
  }
  std::string_view contents(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_NOBITS ? std::string_view()
                                         : part(section.sh_offset, section.sh_size);
  }

  /// Empty if it is no cubin.
  std::vector<Elf64_Shdr> sections() const {
    std::vector<Elf64_Shdr> found;
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header_.e_shoff + uint64_t{i} * header_.e_shentsize);
      if (!section) return {};
      found.push_back(*section);
    }
    return found;
  }
  /// The number of the section with the names of sections.
  size_t names() const { return header_.e_shstrndx; }
  unsigned sm() const { return header_.e_flags >> 8 & 0xff; }

 private:
  Elf64_Ehdr header_ = {};  // without sections if it is no cubin
  std::string_view file_;
};

std::string_view text_at(std::string_view strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  return strings.substr(offset, strings.find('\0', offset) - offset);
}

// The names of functions that are no kernels.
std::vector<std::string_view> device_functions(const Cubin& cubin,
                                               const std::vector<Elf64_Shdr>& sections) {
  std::vector<std::string_view> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const std::string_view strings = cubin.contents(sections[section.sh_link]);
    const std::string_view symbols = cubin.contents(section);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntry) == 0)
        names.push_back(text_at(strings, symbol.st_name));
    }
  }
  return names;
}

uint8_t traits_of(std::string_view code, unsigned sm) {
  uint8_t traits = 0;
  for (size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    uint64_t halves[2];
    std::memcpy(halves, code.data() + at, sizeof halves);
    traits |= traits_of(halves[0], halves[1], sm);
  }
  return traits;
}

}  // namespace

bool read_code(const char* cubin_bytes, size_t bytes, CodeOfKernels& kernels) {
  kernels.clear();
  const Cubin cubin(cubin_bytes, bytes);
  const std::vector<Elf64_Shdr> sections = cubin.sections();
  if (cubin.names() >= sections.size()) return false;
  const std::string_view names = cubin.contents(sections[cubin.names()]);
  for (const Elf64_Shdr& section : sections) {
    const std::string_view name = text_at(names, section.sh_name);
    if (!name.starts_with(kCode)) continue;
    kernels[std::string(name.substr(kCode.size()))] =
        traits_of(cubin.contents(section), cubin.sm());
  }
  uint8_t of_all = 0;
  for (const std::string_view name : device_functions(cubin, sections)) {
    const auto function = kernels.find(std::string(name));
    if (function == kernels.end()) continue;
    of_all |= function->second;
    kernels.erase(function);
  }
  for (auto& [name, traits] : kernels) traits |= of_all;
  std::erase_if(kernels, [](const auto& kernel) { return kernel.second == 0; });
  return true;
}

}  // namespace streamscope::collect
