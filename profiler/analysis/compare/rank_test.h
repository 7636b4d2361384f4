// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Whether two series of durations differ by more than chance: the test of Mann and Whitney, which
// compares ranks, so that a few outliers do not matter.
#pragma once

#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

struct RankTest {
  /// The probability of a difference this large or larger if both series come from the same
  /// distribution (two-sided, normal approximation with correction for ties); 1 if one is empty.
  double p_value = 1;
  /// The share of pairs, one of each series, in which the second one is longer; ties count half.
  double longer = 0.5;
};

/// O(n log n).
RankTest compare_ranks(const std::vector<Ns>& base, const std::vector<Ns>& now);

}  // namespace streamscope::analysis
