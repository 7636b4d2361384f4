// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The 64-bit hash FNV-1a: the same in every process and run, so it can identify things in rings and
// in files. Hashes can be continued: fnv1a(b, fnv1a(a)).
#pragma once

#include <cstdint>
#include <string_view>

namespace streamscope {

inline constexpr uint64_t kFnv1aStart = 0xcbf29ce484222325;

/// Continues with one byte, or with a wider value as if it were one.
constexpr uint64_t fnv1a_step(uint64_t value, uint64_t hash) {
  return (hash ^ value) * 0x100000001b3;
}

/// Continues with the bytes of a text. Nothing marks its end: "ab", "c" yields the same as "a",
/// "bc".
constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = kFnv1aStart) {
  for (const char c : text) hash = fnv1a_step(static_cast<unsigned char>(c), hash);
  return hash;
}

}  // namespace streamscope
