// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The address range of a loaded library's code.
#pragma once

#include <cstdint>

namespace streamscope::collect {

struct CodeRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

/// The executable part of the library or program that contains `address`; empty if none does.
CodeRange code_around(uint64_t address);

}  // namespace streamscope::collect
