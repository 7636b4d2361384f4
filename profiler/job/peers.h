// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks that run the same program, recognized by their calls: what a step usually takes among them,
// and what one rank has more.
#pragma once

#include <optional>
#include <utility>

#include "steps.h"

namespace streamscope::job {

/// What a step takes in the median of the peers.
struct Usual {
  CompactShares shares{};
  Ns work_ns = 0;
  int32_t after = -1;     ///< position in the iteration of the step it depends on; -1: its start
  bool disagree = false;  ///< no more than half of them depend on that
  float host_ns = -1;     ///< that the host takes since the step before; negative: not known
  float device_ns = -1;   ///< of the work on devices issued since then; negative: not known
  // Standard deviations of one rank from iteration to iteration.
  float noise_ns = 0;        ///< of the work
  float start_noise_ns = 0;  ///< of the start since that of the iteration
  float host_noise_ns = 0;   ///< of what the host takes since the start of the iteration
};

/// How many calls an iteration has and a hash of them, by kind and by the size of their
/// communicators; names of communicators and peers differ between ranks that do the same.
std::pair<uint32_t, uint64_t> program_of(const Steps& steps, const IterationRow& row);

struct Peers {
  std::vector<uint32_t> first_usual;  ///< by row of Steps::iterations; of its first step
  std::vector<bool> is_alone;  ///< by rank row: no other rank makes the same calls in any iteration
  std::vector<Usual> usual;
  std::vector<Ns>
      own_ns;  ///< by group: a collective's own duration, that of the rank that is in it
               ///< for the shortest time, as it arrived last; unknown: nobody ended it
  /// By step: what the host took longer than usual since the start of the iteration, or since it
  /// last waited for the device, which was at step `waited`, or kNone.
  std::vector<float> host_lag_ns;
  std::vector<uint32_t> waited;

  const Usual& of(const Steps& steps, uint32_t step) const {
    const uint32_t row = steps.row[step];
    return usual[first_usual[row] + step - steps.iterations[row].first_step];
  }
};

/// What a rank's own work took longer than usual, before one step. A host that did not wait for the
/// device meanwhile cannot have held it up for longer than it was slower than its peers: that it is
/// behind them, at the same speed, has other reasons. Nor does a rank lose time to work on its
/// device that takes no longer than that of its peers: they do it beside the collective before.
struct Excess {
  CompactShares shares{};    ///< by what the work was
  float exposed_ns = 0;      ///< in a collective that its peers overlap with work; without
                             ///< the waiting for others in it
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
/// The standard deviation of excess_ns() where nothing is wrong.
float noise_ns(const Steps& steps, const Peers& peers, uint32_t step);
Excess excess_of(const Steps& steps, const Peers& peers, uint32_t step);

/// What a step took since the one on which it usually depends; nothing if that is not known.
std::optional<Ns> usual_length_ns(const Steps& steps, const Peers& peers, uint32_t step);

/// What the host took longer than usual since the step before; 0 if that is not known.
float host_excess_ns(const Steps& steps, const Peers& peers, uint32_t step);

}  // namespace streamscope::job
