// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/symbols.h"

#include <cstddef>

namespace streamscope::collect {
namespace {

bool is_same(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) ++one, ++other;
  return *one == *other;
}

bool begins_with(const char* text, const char* prefix) {
  while (*prefix != '\0' && *text == *prefix) ++text, ++prefix;
  return *prefix == '\0';
}

struct Wanted {
  const char* prefix;
  Symbols found;
};

int find_file(dl_phdr_info* info, size_t, void* passed) {
  auto& wanted = *static_cast<Wanted*>(passed);
  if (info->dlpi_name == nullptr) return 0;
  const char* file = info->dlpi_name;
  for (const char* c = file; *c != '\0'; ++c) {
    if (*c == '/') file = c + 1;
  }
  if (!begins_with(file, wanted.prefix)) return 0;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC)
      wanted.found = symbols_of(info->dlpi_addr,
                                reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + part.p_vaddr));
  }
  return 1;
}

}  // namespace

Symbols symbols_of(ElfW(Addr) base, const ElfW(Dyn) * dynamic) {
  Symbols table;
  table.base = base;
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    // glibc has relocated these already.
    const auto* at = reinterpret_cast<const void*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) table.symbols = static_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) table.names = static_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) table.hash = static_cast<const uint32_t*>(at);
  }
  return table;
}

Symbols symbols_of_file(const char* prefix) {
  Wanted wanted{prefix, {}};
  ::dl_iterate_phdr(find_file, &wanted);
  return wanted.found;
}

void* find_symbol(const Symbols& table, const char* name) {
  if (table.symbols == nullptr || table.names == nullptr || table.hash == nullptr) return nullptr;
  uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const uint32_t buckets = table.hash[0], first = table.hash[1], filter_words = table.hash[2];
  const uint32_t* bucket = table.hash + 4 + filter_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* chain = bucket + buckets;
  uint32_t index = bucket[hash % buckets];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t entry = chain[index - first];
    const ElfW(Sym)& symbol = table.symbols[index];
    if ((entry | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        is_same(table.names + symbol.st_name, name))
      return reinterpret_cast<void*>(table.base + symbol.st_value);
    if ((entry & 1) != 0) return nullptr;
  }
}

}  // namespace streamscope::collect
