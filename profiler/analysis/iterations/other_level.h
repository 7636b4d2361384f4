// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations behind the steady part that take another time: a program, or the machine, that changes
// while it runs.
#pragma once

#include <optional>

#include "host_pace.h"

namespace streamscope::analysis {

struct OtherLevel {
  size_t from = 0, to = 0;   ///< indexes in Iterations::all, [from, to)
  Ns median_ns = 0;          ///< of these
  double host_slowdown = 1;  ///< slowdown() from the steady part to them
};

/// The longest part behind the steady one. Nothing if it has fewer than a fifth of the iterations,
/// or takes as long, but for 15 %. Iterations were found; `pace`: of the steady part. O(calls).
std::optional<OtherLevel> find_other_level(Analyses& analyses, const IterationModel& model,
                                           const HostPace& pace);

}  // namespace streamscope::analysis
