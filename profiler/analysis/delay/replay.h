// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Predicts how long a run would take with a changed program or device: walks the recorded calls and
// ops in issue order with two clocks at once.
//
// One clock is the recording. The other starts equal and differs by what a Change removes. Every op
// keeps its duration and its own lag: the time from when no known condition delayed it to its
// start. Threads keep the time between their calls. So a replay without a change is the recording,
// and a change moves exactly what depends on it. Modeled in addition to CUDA's order: the host's
// own pace, multiprocessor capacity, copy engines. Not modeled: ops that newly overlap and slow
// each other down, and threads that wait for each other outside of CUDA.
//
// A gain applies to the program without recording: for runs on a real clock the overhead of
// recording is removed from both sides, because a change may remove those calls or hide them.
#pragma once

#include <span>
#include <vector>

#include "analysis/order/issue_order.h"
#include "change.h"
#include "host_pauses.h"

namespace streamscope::analysis {

/// H200 latencies: from the entry of a launch call to its start on an idle device, and from the end
/// of an op to the start of its successor. Only their difference matters: the rest of each op's
/// delay is its lag.
inline constexpr Ns kLaunchLatencyNs = 5'000;
inline constexpr Ns kSuccessorGapNs = 1'500;
/// How much longer the call of a record with timing takes than one without.
inline constexpr Ns kTimedRecordCallNs = 900;

/// When an op could have started, as recorded.
struct Readiness {
  Ns ordered_ns = kUnknownNs;  ///< issued, and everything ordered before it had ended
  Ns ready_ns = kUnknownNs;    ///< and there was capacity: multiprocessors, copy engine
};

/// When an op is predicted to run.
struct PredictedRun {
  Ns start_ns = kUnknownNs;
  Ns end_ns = kUnknownNs;
};

/// Immutable, thread-safe; keeps references to the order and the pauses.
class Replay {
 public:
  /// `pauses`: null: no thread waits for another.
  explicit Replay(const IssueOrder& order, const HostPauses* pauses = nullptr);

  /// From the first call or op to the end of the last, as recorded.
  Ns recorded_ns() const { return recorded_ns_; }
  /// How much shorter the run would be; negative if longer. O(items).
  Ns gain_ns(const Change& change) const;
  /// When every op would run, on the recording's clock and with its overhead; without a change, as
  /// recorded. Unknown for ops that are not timed. O(items).
  std::vector<PredictedRun> predict(const Change& change) const;
  /// When these ops would end, on a clock without the overhead of recording; unknown for those
  /// without times. O(items until the last of them).
  std::vector<Ns> predict_ends(const Change& change, std::span<const Id> ops) const;
  /// As recorded; unknown for ops that are not timed. O(1).
  const Readiness& readiness(Id op) const { return readiness_[op]; }
  /// From when the op was ready to its start.
  Ns lag_ns(Id op) const;

 private:
  class Walk;
  const IssueOrder& order_;
  const HostPauses* pauses_;
  std::vector<Readiness> readiness_;
  std::vector<double> recorder_paces_;  // by thread
  Ns recorded_ns_ = 0;
  Ns recorder_ns_ = 0;  // how much shorter the run would be without recording
};

}  // namespace streamscope::analysis
