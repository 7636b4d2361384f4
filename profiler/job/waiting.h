// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who keeps whom waiting in collectives, without clocks: the rank that arrives last is in the
// collective for the shortest time, and what the others are in it for longer they wait.
#pragma once

#include "matching.h"
#include "peers.h"

namespace streamscope::job {

struct Wait {
  uint32_t late = kNone;  ///< the step that arrived last; kNone: nobody took part to the end
  Ns own_ns = 0;          ///< from its arrival to its end: the collective's own duration
  Ns total_ns = 0;        ///< that all others waited together while they had nothing else to do
  Ns late_ns = 0;         ///< that each of the others waited in the mean
};

/// Calls `act(step)` for the collectives of an iteration that its end had to wait for, last first;
/// what a rank waits in the others is hidden by its work.
template <class Act>
void for_each_exposed(const Steps& steps, const IterationRow& row, const Act& act) {
  uint32_t step = steps.after[row.first_step + row.step_count - 1];
  for (; step != kNone && step >= row.first_step; step = steps.after[step]) {
    if (steps.ran(step)) act(step);
  }
}

/// What the late rank's own work has to answer for.
struct Waiting {
  std::vector<Wait> waits;        ///< by group
  std::vector<double> caused_ns;  ///< by row of Steps::iterations: waiting of others that the
                                  ///< rank's own work caused
  double total_ns = 0;
  double unexplained_ns =
      0;  ///< of `total_ns`: nobody's work was longer than usual, as in a pipeline
};

/// A late rank that was itself kept waiting passes the delay on to the rank that kept it.
/// O(steps), plus O(length of such chains) per collective.
Waiting waiting_of(const Steps& steps, const Peers& peers);

/// What a rank waits in a collective.
inline Ns waited_ns(const Steps& steps, const Wait& wait, uint32_t step) {
  return wait.late == kNone || !steps.ran(step)
             ? 0
             : steps.end_ns[step] - steps.start_ns[step] - wait.own_ns;
}

}  // namespace streamscope::job
