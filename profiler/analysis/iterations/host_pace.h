// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How fast the host does what it does all the time: it depends on the machine, and on what else
// runs there, as well as on the program.
#pragma once

#include "iteration_model.h"

namespace streamscope::analysis {

/// Medians over the steady part, or as much of its beginning as they need; 0: there are too few.
struct HostPace {
  Ns launch_ns = 0;   ///< of a call that launches a kernel
  Ns between_ns = 0;  ///< from a call to the next one of a thread that launches, but for pauses

  bool is_known() const { return launch_ns > 0 && between_ns > 0; }
};

/// `threads`: that issue work. O(calls).
HostPace host_pace(Analyses& analyses, const Iterations& iterations,
                   const std::vector<Id>& threads);

/// How many times as long as in `base` the host takes in `now` for launches and for what is between
/// calls: the factor nearer to 1. 1 if only one of the two changed, or neither did by much.
double slowdown(const HostPace& base, const HostPace& now);

}  // namespace streamscope::analysis
