// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of the iterations went into: the critical path through the steady part, cut where
// iterations end, so that the shares of an iteration sum to its duration.
#pragma once

#include <vector>

#include "iterations.h"
#include "steady_syncs.h"
#include "time_share.h"

namespace streamscope::analysis {

/// A row of host_sample, and what the time that it stands for went into.
struct SampledShare {
  Id sample;
  TimeShare share;
};

/// Immutable.
struct IterationShares {
  std::vector<Shares> each;  ///< of the steady iterations; sum to Iteration::duration_ns()
  Shares total{};            ///< their sum

  Shares host{};                      ///< the part of `total` in which the host held the device up
  std::vector<SampledShare> sampled;  ///< samples of it, in order of the path

  Ns busy_ns = 0;  ///< of an iteration (usual), in which any of the process's work ran on a device
  std::vector<Id> threads;  ///< of the process that launched work in the steady part, ascending
  // Means over the steady iterations.
  double kernel_count = 0;
  Ns median_kernel_ns = 0;
  double launch_count = 0;       ///< calls that launch
  double sync_count = 0;         ///< of SteadySyncs
  double small_copy_count = 0;   ///< those of them that are copies
  double copy_count = 0;         ///< all copies
  double large_copy_count = 0;   ///< those that the host waits for, see is_large_synchronous_copy()
  double lost_run_ahead_ns = 0;  ///< the part of kSynchronizing in which the host caught up

  Ns total_ns() const;
  TimeShare largest() const;
};

/// The least length of a long pause of the host between two CUDA calls: a twentieth of the
/// iteration, within these limits.
Ns long_pause_ns(const Iterations& iterations);
inline constexpr Ns kLeastLongPauseNs = 100'000, kMostLongPauseNs = 500'000;

/// `iterations` was found. O(steps of the path).
IterationShares shares_of(Analyses& analyses, const Iterations& iterations,
                          const SteadySyncs& syncs);

/// Moves time in which the host caught up after synchronizations to kSynchronizing: what an
/// iteration would save without them, less the time of their own.
void charge_run_ahead(IterationShares& shares, Ns saved_ns);

}  // namespace streamscope::analysis
