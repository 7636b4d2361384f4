// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a run would have taken if the program, or what it ran on, had been another: the recorded
// calls and ops, walked in the order of issue with two clocks at once.
//
// One clock is what was recorded. The other starts equal and differs by what a Change takes away.
// Every op keeps its length and its own lag: the time between the instant at which nothing known
// held it back and its start. Threads keep the time between their calls. So a replay without a
// change is the recording, and a change moves exactly what depended on it. Modeled besides the
// order of CUDA: the host's own pace, room on the multiprocessors, copy engines. Not modeled: that
// ops which newly meet slow each other down, and threads that wait for each other unseen.
//
// A gain is that of a program which nobody records: of runs on a real clock what recording adds to
// the host's calls is taken out of both sides, as a change may remove those calls or hide them.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// A set of row ids of one table.
class Marks {
 public:
  void add(Id id) {
    if (id >= bits_.size()) bits_.resize(std::max<size_t>(id + size_t{1}, bits_.size() * 2));
    bits_[id] = true;
  }
  void add(const Marks& others) {
    for (Id id = 0; id < others.bits_.size(); ++id) {
      if (others.bits_[id]) add(id);
    }
  }
  bool has(Id id) const { return id < bits_.size() && bits_[id]; }

 private:
  std::vector<bool> bits_;
};

/// What would be otherwise.
struct Change {
  Marks without_wait;   ///< event_wait: the call is not made
  Marks without_sync;   ///< host_sync: the call is not made
  Marks deferred_sync;  ///< host_sync: the device waits in the host's stead: what the thread issues
                        ///< later runs after what the sync waited for, and the host goes on
  Marks no_barrier_op;  ///< op of a legacy default stream: orders no other stream
  Marks no_barrier_record;  ///< the same of event_record
  Marks no_barrier_wait;    ///< the same of event_wait
  Marks prompt_op;          ///< op: the most urgent of all, starts without a lag once there is room
  Marks async_op;           ///< op: its call does not wait for it, nor stages anything before it
  Marks untimed_record;     ///< event_record: takes no device time stamp
  /// host_sync -> op: the host waits for this op only, the device for the rest in its stead
  std::unordered_map<Id, Id> narrowed_sync;
  std::unordered_map<Id, Ns> length_ns;  ///< op -> another length
  /// op -> all the ops that still hold it back on the device
  std::unordered_map<Id, std::vector<Id>> held_only_by;
  Marks spread_stream;        ///< stream: its work runs on it and on one more, in no order
  int more_copy_engines = 0;  ///< of every device and direction

  /// Both at once. Where they disagree about one op or synchronization, this one stays.
  void add(const Change& other);
};

/// A launch takes so long from the entry of its call to its start on an idle device, a successor so
/// long after what it waited for; of an H200. Only the difference of the two matters: the rest of
/// each op's delay is its lag.
inline constexpr Ns kLaunchLatencyNs = 5'000;
inline constexpr Ns kSuccessorGapNs = 1'500;
/// What a record with timing keeps its caller busy beyond one without.
inline constexpr Ns kTimedRecordCallNs = 900;

/// When an op could have started, as recorded.
struct Readiness {
  Ns ordered_ns = kUnknownNs;  ///< issued, and everything ordered before it had ended
  Ns ready_ns = kUnknownNs;    ///< and there was room: multiprocessors, copy engine
};

/// When an op would run.
struct PredictedRun {
  Ns start_ns = kUnknownNs;
  Ns end_ns = kUnknownNs;
};

/// Immutable, thread-safe; keeps a reference to the order.
class Replay {
 public:
  explicit Replay(const IssueOrder& order);
  ~Replay();

  /// From the first call or op to the end of the last, as recorded.
  Ns recorded_ns() const { return recorded_ns_; }
  /// How much shorter the run would be; negative if longer. O(items).
  Ns gain_ns(const Change& change) const;
  /// When every op would run, on the clock of the recording and at its pace: as recorded without a
  /// change. Unknown for ops that are not timed. O(items).
  std::vector<PredictedRun> predict(const Change& change) const;
  /// As recorded; unknown for ops that are not timed. O(1).
  const Readiness& readiness(Id op) const { return readiness_[op]; }
  /// The op's start after it was ready.
  Ns lag_ns(Id op) const;

 private:
  class Walk;
  const IssueOrder& order_;
  std::vector<Readiness> readiness_;
  std::vector<double> recorder_paces_;  // by thread
  Ns recorded_ns_ = 0;
  Ns recorder_ns_ = 0;  // how much shorter it would have been with nobody recording
};

}  // namespace streamscope::analysis
