// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of a step of the critical path went into.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/busy_times.h"
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
  /// The same for a thread on its way to a launch: of `op`, if that is not kNoId.
  template <class Visit>
  void split_host(Id thread, Ns from, Ns to, Id op, Visit visit);

  /// True if an op of the process ran in (from, to). O(log ops).
  bool works_between(Ns from, Ns to) const;

  /// Time between calls counts as launching, as if none of it were a long pause.
  static TimeShare share_of(HostState state);
  static TimeShare share_of_op(const Trace& trace, Id op);

 private:
  static TimeShare share_of_gap(WaitCause cause);
  TimeShare share_of_sync(Id host_sync) const;
  // Since when a thread is in the call of an op that copies, if it is, or `otherwise`.
  Ns copying_from(Id thread, Id op, Ns otherwise) const;

  Analyses& analyses_;
  const Trace& trace_;
  const HostPauses& pauses_;
  Ns long_pause_ns_;
  BusyTimes work_;       // of the process
  Marks copying_syncs_;  // host_sync: of large synchronous copies
  std::vector<HostPart> parts_;
};

template <class Visit>
void StepShares::split(const PathStep& step, Ns from, Ns to, Visit visit) {
  switch (step.kind) {
    case trace::kOpStep:
      return visit(share_of_op(trace_, step.op), to - from);
    case trace::kHostSyncStep:
      return visit(share_of_sync(step.host_sync), to - from);
    case trace::kGapStep: {
      // Host functions and memory waits have no times of their own: they are in long gaps.
      const Ns latency = std::clamp(step.start_ns + kStartLatencyNs, from, to);
      visit(TimeShare::kLatency, latency - from);
      if (latency == to) return;
      return visit(share_of_gap(analyses_.gap_cause(step.op)), to - latency);
    }
    case trace::kLaunchStep:
      return split_host(step.thread, from, to, step.op, visit);
  }
}

template <class Visit>
void StepShares::split_host(Id thread, Ns from, Ns to, Id op, Visit visit) {
  const Ns called = std::clamp(copying_from(thread, op, to), from, to);
  parts_.clear();
  analyses_.split_host(thread, called, to, parts_);
  for (const HostPart& part : parts_)
    visit(part.state == HostState::kSync ? TimeShare::kCopies : share_of(part.state),
          part.duration_ns);
  parts_.clear();
  analyses_.split_host(thread, from, called, parts_);
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
