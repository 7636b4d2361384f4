// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What recording adds to a program, so that gains can be told of one that nobody records.
#pragma once

#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// Measured on H200 hosts, recorded runs beside unrecorded ones: between the stamps of any call and
/// between two calls, to calls that issue work of which the times are recorded, and to copies of a
/// MiB to pageable memory.
inline constexpr Ns kRecorderInsideNs = 100;
inline constexpr Ns kRecorderBetweenNs = 130;
inline constexpr Ns kRecorderIssueNs = 700;
inline constexpr Ns kRecorderPageableNs = 5'000;

/// How many times as much every thread paid, 1 to 2, as hosts differ; 0 on a virtual clock. What
/// lies between calls in a row is the recorder's, so their lower quartile tells. O(items).
std::vector<double> recorder_paces(const IssueOrder& order);

}  // namespace streamscope::analysis
