// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which op had to end before another could start, by CUDA's ordering rules: stream order, records
// and waits by version, legacy and per-thread default streams, host syncs, synchronous copies,
// graphs, memory waits, context-wide records and waits. docs/analysis.md lists the rules.
//
// Every stream carries a vector clock: per other stream, the newest op known to have ended. It
// changes only when a join adds something, so ops between two waits share one. Threads carry one
// too: what they learned by synchronizing and pass on to whatever they issue next. Detectors query
// this class; it knows nothing about times.
#pragma once

#include <memory>
#include <vector>

#include "issue_order.h"

namespace streamscope::analysis {

enum class Relation {
  kGuaranteed,  ///< what CUDA documents, and the order of calls within one thread
  kObserved,    ///< in addition: a call that returned before another began, in any thread
};

/// One step from the work of one stream or thread to that of another; steps within a stream are
/// implied. In words: "recorded on `from_stream`, waited for by `event_wait` on `to_stream`".
struct Hop {
  trace::EdgeKind kind = trace::kEventEdge;  ///< kHostEdge: into a thread, or out of one
  Id from_stream = kNoId;                    ///< kNoId: a thread
  Id to_stream = kNoId;                      ///< kNoId: a thread
  Id event_wait = kNoId;                     ///< kEventEdge
  Id host_sync = kNoId;                      ///< kHostEdge into a thread, unless a copy's
  Id op = kNoId;  ///< kMemoryEdge: the write; kHostEdge of a synchronous copy: the copy

  bool operator==(const Hop&) const = default;
};

/// The position of an op, or of a stream-ordered allocation or release, in the order of a device.
struct Point {
  uint32_t chain = UINT32_MAX;  ///< of its stream; UINT32_MAX: unknown
  int32_t position = -1;
  uint32_t clock = UINT32_MAX;
  Id op = kNoId;  ///< ops of one graph launch share a position

  bool placed() const { return chain != UINT32_MAX; }
};

/// Immutable, thread-safe; keeps no references. Built in O(items + joins * streams). Failed calls,
/// waits whose record is unknown, and ops whose call is missing order nothing.
class HappensBefore {
 public:
  struct Options {
    Relation relation = Relation::kGuaranteed;
    /// Memory for clocks kept for queries about any op. Beyond it, such queries search: still
    /// exact, but in time that grows with the number of waits between the two ops.
    size_t clock_budget_bytes = size_t{256} << 20;
  };
  HappensBefore(const IssueOrder& order, Options options);
  explicit HappensBefore(const IssueOrder& order) : HappensBefore(order, Options{}) {}
  HappensBefore(HappensBefore&&) noexcept;
  ~HappensBefore();

  /// False for ops whose call is not in the trace: their order is unknown.
  bool placed(Id op) const;
  /// True if `from` must have ended before `to` starts. O(1) within the clock budget.
  bool ordered(Id from, Id to) const { return ordered(point_of_op(from), point_of_op(to)); }
  bool ordered(const Point& from, const Point& to) const;
  Point point_of_op(Id op) const;
  /// The point of a row of api_call that allocates or releases stream-ordered memory.
  Point point_of_call(Id api_call) const;
  /// True if the host knew when this synchronization returned that the op had ended.
  bool known_at_return(Id op, Id host_sync) const;
  /// True if a thread knew at `at_ns`, from calls that had returned by then, that the op had ended.
  bool known_to_thread(Id op, Id thread, Ns at_ns) const {
    return known_to_thread(point_of_op(op), thread, at_ns);
  }
  bool known_to_thread(const Point& point, Id thread, Ns at_ns) const;
  /// Why `from` comes before `to`: a shortest sequence of steps between streams. Empty if stream or
  /// graph order alone implies it, or if they are not ordered.
  std::vector<Hop> path(Id from, Id to) const;

  /// True if a stream wait adds no order: everything its record represents was before the stream's
  /// next op anyway. False for waits without an exact record.
  bool is_redundant_wait(Id event_wait) const;
  /// True if its thread learned nothing new from a synchronization.
  bool is_redundant_sync(Id host_sync) const;

  /// False if clocks were dropped to stay within the budget.
  bool keeps_all_clocks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::analysis
