// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ops of every stream in the order in which the stream runs them, and how busy each stream was.
//
// Everything in analysis starts from a StreamOps: it turns the op table, which is in arrival order,
// into lanes. edges.h has the order between streams; waits.h explains why an op started late.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "trace/read/reader.h"
#include "vocabulary/threads.h"

namespace streamscope::analysis {

using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;
using trace::Ns;
using trace::Trace;

/// The call that enqueued an op. Times are unknown and `thread_id` is kNoId if the trace does not
/// contain the call.
struct Issue {
  Ns start_ns = kUnknownNs;
  Ns end_ns = kUnknownNs;
  Id thread_id = kNoId;
};

inline Issue issue_of(const Trace& trace, Id op) {
  const Id call = trace.op.api_call_id[op];
  if (call >= trace.api_call.size()) return {};
  return {trace.api_call.start_ns[call], trace.api_call.end_ns[call],
          trace.api_call.thread_id[call]};
}

/// True if both ends of the op are known and in order.
inline bool is_timed(Ns start_ns, Ns end_ns) {
  static_assert(kUnknownNs == std::numeric_limits<Ns>::min());
  return start_ns != kUnknownNs && start_ns <= end_ns;  // an unknown end is before every start
}
inline bool is_timed(const Trace& trace, Id op) {
  return is_timed(trace.op.start_ns[op], trace.op.end_ns[op]);
}

/// True if the event of the record is known to have been created without cudaEventDisableTiming.
bool takes_time_stamp(const Trace& trace, Id record);
/// True unless it is known to have been created with it.
bool may_take_time_stamp(const Trace& trace, Id record);

/// What one stream did. Durations are 0 and times unknown if no op of the stream is timed.
struct StreamActivity {
  size_t op_count = 0;
  size_t kernel_count = 0;
  size_t copy_count = 0;  ///< memcpy only
  size_t memset_count = 0;
  size_t untimed_count = 0;
  Ns first_start_ns = kUnknownNs;
  Ns last_end_ns = kUnknownNs;
  Ns busy_ns = 0;  ///< length of the union of the op intervals, without memory waits
  int64_t copied_bytes = 0;

  /// Time between the first start and the last end in which the stream ran nothing.
  Ns idle_ns() const {
    return first_start_ns == kUnknownNs ? 0 : last_end_ns - first_start_ns - busy_ns;
  }
};

/// Immutable; keeps no references. Built in O(n log n), or O(n) if the trace is already in order.
class StreamOps {
 public:
  explicit StreamOps(const Trace& trace);

  size_t stream_count() const { return activity_.size(); }
  /// Ops of a stream in FIFO order: timed ones by start, the others inserted by their call.
  std::span<const Id> ops(Id stream) const {
    return {ops_.data() + first_[stream], first_[stream + 1] - first_[stream]};
  }
  /// Calls `visit(stream, op)` for the ops of every stream in FIFO order. Across streams it follows
  /// the table order where possible, so that the data of neighboring ops is in the cache.
  template <class Visit>
  void each_in_order(const Trace& trace, Visit visit) const;
  /// The op before this one on its stream; kNoId if it is the first or its stream is unknown.
  Id predecessor(Id op) const { return predecessor_[op]; }
  const StreamActivity& activity(Id stream) const { return activity_[stream]; }

  /// From the first start to the last end of any timed op; unknown if there is none.
  Ns first_start_ns() const { return first_start_ns_; }
  Ns last_end_ns() const { return last_end_ns_; }
  Ns window_ns() const {
    return first_start_ns_ == kUnknownNs ? 0 : last_end_ns_ - first_start_ns_;
  }

 private:
  std::vector<size_t> first_;    // per stream: index into ops_; one more at the end
  std::vector<bool> as_stored_;  // per stream: its ops are in order of id
  std::vector<Id> ops_;
  std::vector<Id> predecessor_;
  std::vector<StreamActivity> activity_;
  Ns first_start_ns_ = kUnknownNs;
  Ns last_end_ns_ = kUnknownNs;
};

template <class Visit>
void StreamOps::each_in_order(const Trace& trace, Visit visit) const {
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    if (stream < stream_count() && as_stored_[stream]) visit(stream, op);
  }
  for (Id stream = 0; stream < stream_count(); ++stream) {
    if (as_stored_[stream]) continue;
    for (Id op : ops(stream)) visit(stream, op);
  }
}

/// The longest time that ops of the same kind and name took; 0 if none has times. Linear in the
/// ops.
Ns longest_run(const Trace& trace, Id op);
/// An op that takes this many times longer than ever before is considered stuck.
inline constexpr Ns kTimesLonger = 10;

/// True if a trace is large enough that starting a thread for part of the work pays off.
inline bool worth_threads(const Trace& trace) { return trace.op.size() > 100'000; }

}  // namespace streamscope::analysis
