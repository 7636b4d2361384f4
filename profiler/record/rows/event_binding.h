// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which record of an event a wait, query or synchronize binds to, from the entries and exits of the
// calls alone.
//
// A call takes effect at some time between its entry and its exit. A call that ended before another
// began took effect before it; calls of different threads that overlap may have taken effect in
// either order, and nothing outside the device knows which (docs/architecture.md). So the result is
// the newest record that is certain, or the set of possible records. Pure; used by the drain, one
// history per event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "trace/model.h"

namespace streamscope::record {

/// When a call ran, in ticks of its process; on a simulated device both stamps are its number.
/// Calls of one lane (a ring: one thread at a time) never overlap and are ordered by `order`, even
/// if their stamps are equal.
struct CallSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t lane = kNoLane;
  uint64_t order = 0;

  static constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();
  /// `end` of a call that has not returned.
  static constexpr uint64_t kStillOpen = std::numeric_limits<uint64_t>::max();
};

/// True if `first` had taken effect before `second` could.
inline bool surely_before(const CallSpan& first, const CallSpan& second) {
  if (first.lane == second.lane && first.lane != CallSpan::kNoLane)
    return first.order < second.order;
  return first.end < second.begin;
}

/// What a wait is bound to.
struct Bound {
  trace::Binding binding = trace::kUnknownHistory;
  trace::Id record = trace::kNoId;    ///< only if exact
  std::vector<trace::Id> candidates;  ///< only if ambiguous; newest end first
};

/// The records of one event (one life of its handle). Thread-compatible.
class EventHistory {
 public:
  struct Record {
    CallSpan span;
    trace::Id row = trace::kNoId;
    bool captured = false;  ///< made while its stream was being captured into a graph
  };

  /// Adds a record that took effect. Records are added by ascending end, except for those that were
  /// open for long.
  void add(const Record& record);
  /// The record `row`, added while it was open, has ended at `end`.
  void close(trace::Id row, uint64_t end);
  /// The record `row`, added while it was open, has failed.
  void remove(trace::Id row) {
    std::erase_if(open_, [&](const Record& record) { return record.row == row; });
  }

  /// Binds a call. `complete_since`: all records that ended later than this are known (0: all
  /// records ever made).
  Bound bind(const CallSpan& call, uint64_t complete_since) const;

  /// Drops records to which no call that begins at `horizon` or later can be bound. Amortized
  /// constant.
  void forget_before(uint64_t horizon);

  size_t size() const { return records_.size(); }

 private:
  size_t end_of_earlier(const CallSpan& call) const;

  std::vector<Record> records_;  // by ascending end
  std::vector<Record> open_;
  uint64_t longest_ = 0;   // no record in `records_` took longer
  size_t forget_at_ = 16;  // size at which dropping is tried again
};

/// When records of events may be missing, of all events of a process. Thread-compatible.
class LostHistory {
 public:
  /// Those that took effect from `from` to `until`.
  void add(uint64_t from, uint64_t until);
  /// The end of what may be missing before a call that ended at `end`, 0 if nothing may be.
  uint64_t before(uint64_t end) const;

 private:
  std::map<uint64_t, uint64_t> spans_;  // end by begin; both ascend, and they do not overlap
};

}  // namespace streamscope::record
