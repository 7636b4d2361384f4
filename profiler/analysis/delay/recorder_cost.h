// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The overhead of recording, so that gains can be stated for the program without recording.
#pragma once

#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// Overheads measured on H200 hosts, recorded runs against unrecorded ones: between the time stamps
/// of any call, between two calls, in calls that issue work whose times are recorded, and in copies
/// of a MiB to pageable memory.
inline constexpr Ns kRecorderInsideNs = 100;
inline constexpr Ns kRecorderBetweenNs = 130;
inline constexpr Ns kRecorderIssueNs = 700;
inline constexpr Ns kRecorderPageableNs = 5'000;

/// A factor on these overheads per thread, 1 to 2, because hosts differ; 0 on a virtual clock. It
/// is estimated from the lower quartile of the gaps between consecutive calls. O(items).
std::vector<double> recorder_paces(const IssueOrder& order);

}  // namespace streamscope::analysis
