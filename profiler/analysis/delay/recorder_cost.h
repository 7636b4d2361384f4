// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The overhead of recording, so that gains can be stated for the program without recording.
#pragma once

#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// Overheads measured on H200 hosts, recorded runs against unrecorded ones: between the time stamps
/// of any call, between two calls, and in calls that issue work whose times are recorded.
inline constexpr Ns kRecorderInsideNs = 100;
inline constexpr Ns kRecorderBetweenNs = 130;
inline constexpr Ns kRecorderIssueNs = 700;

/// A factor on these overheads per thread, 1 to 2, because hosts differ; 0 on a virtual clock. It
/// is estimated from the lower quartile of the gaps between consecutive calls. O(items).
std::vector<double> recorder_paces(const IssueOrder& order);

/// How much longer a timed op takes because it is recorded: a copy to pageable memory, as the
/// driver makes it in pieces, which are recorded one by one.
Ns recorder_of_copy(const Trace& trace, Id op);

}  // namespace streamscope::analysis
