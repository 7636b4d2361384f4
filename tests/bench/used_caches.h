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

/// Executes some 40 bytes of code that no other piece has, and touches memory now and then.
template <size_t kNumber>
[[gnu::always_inline]] inline void piece_of_code(uint32_t (&values)[4], volatile uint32_t* memory) {
  uint32_t& value = values[kNumber % 4];
  value = (value ^ value >> 7) + static_cast<uint32_t>(kNumber * 77777);
  if (__builtin_expect(value == 0x1234567, 0)) memory[kNumber] = 1;
  if constexpr (kNumber % 8 == 0) memory[kNumber * 8 % 4096] = value;
}

/// What a call of a real driver does to the first level of the caches: 40 bytes of code for each of
/// `kPieces`, all of it executed once, and up to 16 KiB of memory. Each `kCall` has its own.
template <size_t kCall, size_t kPieces>
[[gnu::noinline]] void use_like_a_driver() {
  static std::vector<uint32_t> memory(1 << 16);
  uint32_t values[4] = {memory[0], memory[1], memory[2], memory[3]};
  [&]<size_t... kNumbers>(std::index_sequence<kNumbers...>) {
    (piece_of_code<10'000 * kCall + kNumbers>(values, memory.data()), ...);
  }
  (std::make_index_sequence<kPieces>());
  memory[0] = values[0] + values[1] + values[2] + values[3];
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
