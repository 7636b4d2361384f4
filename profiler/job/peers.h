// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks that run the same program, recognized by their calls: what a step usually takes among them,
// and what one rank has more.
#pragma once

#include "steps.h"

namespace streamscope::job {

/// What a step takes in the median of the peers.
struct Usual {
  CompactShares shares{};
  Ns work_ns = 0;
  int32_t after = -1;  ///< position in the iteration of the step it depends on; -1: its start
  float noise_ns = 0;  ///< standard deviation of the work of one rank from iteration to iteration
};

struct Peers {
  std::vector<uint32_t> first_usual;  ///< by row of Steps::iterations; of its first step
  std::vector<Usual> usual;

  const Usual& of(const Steps& steps, uint32_t step) const {
    const uint32_t row = steps.row[step];
    return usual[first_usual[row] + step - steps.iterations[row].first_step];
  }
};

/// What a rank's own work took longer than usual, before one step.
struct Excess {
  CompactShares shares{};    ///< by what the work was
  float exposed_ns = 0;      ///< it waited for a collective that its peers overlap with work
  uint32_t exposed = kNone;  ///< the step of that collective
  float total_ns = 0;
};

/// Peers make the same calls in the same order in the same iteration; of more than a few thousand
/// some are enough for a median. Where a rank has none, it is compared with its own other
/// iterations. O(steps), on all processors.
Peers peers_of(const Steps& steps);

/// The step on which this one usually depends; kNone: nothing earlier.
uint32_t usual_after(const Steps& steps, const Peers& peers, uint32_t step);

/// The work of a step and of those that it depends on, since the start of the iteration: what the
/// rank would have taken until then without waiting for others.
struct Chain {
  Ns work_ns = 0;
  CompactShares shares{};
};
Chain chain_of(const Steps& steps, uint32_t step);

/// Excess::total_ns alone.
Ns excess_ns(const Steps& steps, const Peers& peers, uint32_t step);
Excess excess_of(const Steps& steps, const Peers& peers, uint32_t step);

}  // namespace streamscope::job
