// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a program does to the caches between two calls: it runs other code and touches other memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace streamscope::bench {

using Code = uint32_t (*)(uint32_t);

template <size_t kNumber>
[[gnu::noinline]] uint32_t other_code(uint32_t value) {
  value = value * 2654435761u + static_cast<uint32_t>(kNumber);
  return value ^ value >> 15;
}

/// One function in each page.
template <size_t kNumber>
[[gnu::noinline, gnu::aligned(4096)]] uint32_t page_of_code(uint32_t value) {
  return other_code<kNumber>(value);
}

template <size_t... kNumbers>
std::vector<Code> pieces_of_code(std::index_sequence<kNumbers...>) {
  return {&other_code<1000 + kNumbers>...};
}

template <size_t... kNumbers>
std::vector<Code> pages_of_code(std::index_sequence<kNumbers...>) {
  return {&page_of_code<kNumbers>...};
}

/// Uses all of the first two levels of the caches and of the table of pages: some 60 KiB of code,
/// then 128 pages of it, and 8 MiB of memory.
inline void use_caches() {
  static std::vector<uint32_t> memory(2 << 20);
  static const std::vector<Code> pieces = pieces_of_code(std::make_index_sequence<1000>());
  static const std::vector<Code> pages = pages_of_code(std::make_index_sequence<128>());
  uint32_t value = 1;
  for (const Code code : pieces) value = code(value);
  for (const Code code : pages) value = code(value);
  for (size_t line = 0; line < memory.size(); line += 16) memory[line] += value;
}

}  // namespace streamscope::bench
