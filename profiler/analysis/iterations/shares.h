// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of the iterations went into: the critical path through the steady part, cut where
// iterations end, so that the shares of an iteration sum to its duration.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "iterations.h"
#include "steady_syncs.h"

namespace streamscope::analysis {

enum class TimeShare : uint8_t {
  kKernels,        ///< kernels and graphs ran
  kCollectives,    ///< kernels of collectives ran
  kCopies,         ///< copies and memsets ran
  kOtherWork,      ///< host functions and memory waits of streams
  kLatency,        ///< the device started work that was issued
  kLaunching,      ///< the host was on its way to the next launch, in CUDA calls or shortly between
  kOutside,        ///< the host was outside CUDA for long
  kSynchronizing,  ///< the host waited, or caught up after it had waited
  kMemory,         ///< the host allocated or freed memory
  kCodeLoading,    ///< the host loaded code
  kLock,           ///< the host waited for another thread's call
  kRecorder,       ///< the recorder delayed the host
  kUnknown,
};
inline constexpr size_t kShareCount = 13;

struct ShareNames {
  std::string_view id;     ///< in JSON and assertions
  std::string_view shown;  ///< in reports
};
const ShareNames& names_of(TimeShare share);

/// True for what the host spends.
bool is_host_time(TimeShare share);

/// By TimeShare.
using Shares = std::array<Ns, kShareCount>;

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
