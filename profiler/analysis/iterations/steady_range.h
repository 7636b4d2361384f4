// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// The part of a series with a constant level, as [first, last): the longest between its changes.
/// Single outliers are no changes.
std::pair<size_t, size_t> steady_range(const std::vector<Ns>& durations);

}  // namespace streamscope::analysis
