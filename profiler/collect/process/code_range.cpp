// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/code_range.h"

#include <link.h>

namespace streamscope::collect {
namespace {

struct Search {
  uint64_t address;
  CodeRange found;
};

int look_into(dl_phdr_info* object, size_t, void* pointer) {
  auto& search = *static_cast<Search*>(pointer);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    const CodeRange range{begin, begin + segment.p_memsz};
    if (!range.contains(search.address)) continue;
    search.found = range;
    return 1;
  }
  return 0;
}

}  // namespace

CodeRange code_around(uint64_t address) {
  Search search{address, {}};
  ::dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace streamscope::collect
