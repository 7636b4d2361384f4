// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of times and sizes that cannot overflow, whatever a trace contains.
//
// Each value of a trace is bounded (checks.h), so the sum or difference of a few is plain
// arithmetic. A sum over rows is not: it uses add_to() or sum_of(), which saturate at kMostSum. The
// difference of two such sums fits again.
#pragma once

#include <algorithm>

#include "model.h"

namespace streamscope::trace {

inline constexpr Int kMostSum = (Int{1} << 62) - 1;  ///< 146 years

/// a + b, but at least -kMostSum and at most kMostSum.
constexpr Int sum_of(Int a, Int b) {
  Int sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? -kMostSum : kMostSum;
  return std::clamp(sum, -kMostSum, kMostSum);
}
constexpr void add_to(Int& sum, Int value) { sum = sum_of(sum, value); }
constexpr void add_to(uint64_t& sum, uint64_t value) {
  sum = static_cast<uint64_t>(sum_of(static_cast<Int>(std::min(sum, uint64_t{kMostSum})),
                                     static_cast<Int>(std::min(value, uint64_t{kMostSum}))));
}

/// a - b, within the same limits.
constexpr Int difference_of(Int a, Int b) {
  Int difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? kMostSum : -kMostSum;
  return std::clamp(difference, -kMostSum, kMostSum);
}

/// From one time to another; 0 if one of them is not known. Both may be sums.
constexpr Ns between(Ns from, Ns to) {
  return from == kUnknownNs || to == kUnknownNs ? 0 : difference_of(to, from);
}

}  // namespace streamscope::trace
