// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of a step of the critical path went into.
#pragma once

#include <algorithm>
#include <vector>

#include "shares.h"

namespace streamscope::analysis {

/// Keeps a reference to the analyses. Thread-compatible.
class StepShares {
 public:
  /// Pauses of the host of at least `long_pause_ns` are time outside CUDA. `process`: whose work
  /// works_between() looks for.
  StepShares(Analyses& analyses, Ns long_pause_ns, Id process);

  /// Calls visit(share, duration) for the parts of a step in [from, to).
  template <class Visit>
  void split(const PathStep& step, Ns from, Ns to, Visit visit);
  /// The same for a thread on its way to a launch.
  template <class Visit>
  void split_host(Id thread, Ns from, Ns to, Visit visit);

  /// True if an op of the process ran in (from, to). O(log ops).
  bool works_between(Ns from, Ns to) const;

 private:
  static TimeShare share_of(HostState state);
  static TimeShare share_of_gap(WaitCause cause);
  TimeShare share_of_op(Id op) const;

  Analyses& analyses_;
  const Trace& trace_;
  const HostPauses& pauses_;
  Ns long_pause_ns_;
  std::vector<Ns> starts_;       // of the ops of the process, ascending
  std::vector<Ns> latest_ends_;  // of each of them and all before it
  std::vector<HostPart> parts_;
};

template <class Visit>
void StepShares::split(const PathStep& step, Ns from, Ns to, Visit visit) {
  switch (step.kind) {
    case trace::kOpStep:
      return visit(share_of_op(step.op), to - from);
    case trace::kHostSyncStep:
      return visit(TimeShare::kSynchronizing, to - from);
    case trace::kGapStep: {
      // Host functions and memory waits have no times of their own: they are in long gaps.
      const Ns latency = std::clamp(step.start_ns + kStartLatencyNs, from, to);
      visit(TimeShare::kLatency, latency - from);
      if (latency == to) return;
      return visit(share_of_gap(analyses_.gap_cause(step.op)), to - latency);
    }
    case trace::kLaunchStep:
      return split_host(step.thread, from, to, visit);
  }
}

template <class Visit>
void StepShares::split_host(Id thread, Ns from, Ns to, Visit visit) {
  parts_.clear();
  analyses_.split_host(thread, from, to, parts_);
  for (const HostPart& part : parts_) {
    Ns rest = part.duration_ns;
    if (part.state == HostState::kOutside) {
      const Ns paused = std::min(rest, pauses_.paused_ns(thread, from, to, long_pause_ns_));
      visit(TimeShare::kOutside, paused);
      rest -= paused;
    }
    visit(share_of(part.state), rest);
  }
}

}  // namespace streamscope::analysis
