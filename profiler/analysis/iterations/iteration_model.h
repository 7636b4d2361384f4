// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The iterations of a trace, what bounds them, and how long they would take with a change.
#pragma once

#include "analysis/delay/replay.h"
#include "iterations.h"
#include "shares.h"
#include "steady_syncs.h"

namespace streamscope::analysis {

/// Iterations of the steady part whose duration with a change is predicted, from its beginning: as
/// many as have some work together, and a few in any case.
inline constexpr size_t kMostReplayed = 256, kFewestReplayed = 3;
inline constexpr uint64_t kMostReplayedOps = 300'000;

/// Keeps a reference to the analyses. Immutable, thread-safe.
class IterationModel {
 public:
  IterationModel(Analyses& analyses, const IterationRequest& request);

  const Iterations& iterations() const { return iterations_; }
  bool found() const { return iterations_.found(); }
  /// These two are empty if no iterations were found.
  const SteadySyncs& syncs() const { return syncs_; }
  const IterationShares& shares() const { return shares_; }
  /// The predicted duration of an iteration without recording, as Iterations::usual_ns().
  Ns bare_ns() const { return bare_ns_; }
  /// The same with a change, by the first replayed() iterations of the steady part.
  Ns predicted_ns(const Change& change) const;
  size_t replayed() const { return replayed_; }
  /// What an iteration takes less without any synchronization that blocks the host.
  Ns run_ahead_ns() const { return run_ahead_ns_; }
  /// The same if what a share is spent on took no time; unknown for what cannot be removed, and for
  /// small shares.
  Ns without_ns(TimeShare share) const { return without_ns_[static_cast<size_t>(share)]; }
  /// What an iteration gets shortest without; of what cannot be removed, its share counts. Of those
  /// that shorten it equally, but for a twentieth of it, the largest share; launching rather than
  /// pauses outside CUDA.
  TimeShare bound() const { return bound_; }
  /// The others, if they shorten it by a twentieth at least: in another run one of them may bound
  /// it. In order of TimeShare.
  const std::vector<TimeShare>& nearly_bound() const { return nearly_bound_; }

 private:
  bool is_small(Ns share) const;  // a share of the steady part
  void remove_each();
  Ns gain_without(size_t share) const;
  void look_before();
  Ns predicted_only_ns(const Change& change) const;
  void find_bound();

  Analyses& analyses_;
  Iterations iterations_;
  SteadySyncs syncs_;
  IterationShares shares_;
  // If there is one iteration only: the op that was done last before it, and whether calls of work
  // that ran in it are missing.
  Id before_only_ = kNoId;
  bool lacks_calls_ = false;
  size_t replayed_ = 0;
  Ns bare_ns_ = 0;
  Ns run_ahead_ns_ = 0;
  Shares without_ns_{};
  TimeShare bound_ = TimeShare::kUnknown;
  std::vector<TimeShare> nearly_bound_;
};

}  // namespace streamscope::analysis
