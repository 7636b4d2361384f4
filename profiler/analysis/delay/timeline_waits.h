// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds which stream waits were made for a value of a libcoord timeline.
//
// A trace records that a thread made a stream wait for a value and, as separate calls, how
// libcoord implemented that: waits for events of the streams that promised the value, or a wait for
// a word in memory. This matches the two by thread, stream and time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

struct TimelineValue {
  Id timeline = kNoId;
  trace::Int value = 0;

  bool operator==(const TimelineValue&) const = default;
};

/// Immutable; keeps a reference to the trace. Lookups take O(log points).
class TimelineWaits {
 public:
  explicit TimelineWaits(const Trace& trace);

  /// Empty for waits that the program made itself.
  std::optional<TimelineValue> of_wait(Id event_wait) const;
  std::optional<TimelineValue> of_op(Id memory_wait) const;

 private:
  struct Point {
    Ns at_ns;
    TimelineValue wanted;
  };
  std::optional<TimelineValue> before(Id thread, Id stream, Ns at) const;

  const Trace& trace_;
  std::map<std::pair<Id, Id>, std::vector<Point>> waits_;  // by thread and stream, in time
  std::map<std::pair<Id, Id>, Ns> first_signal_;           // by timeline and stream
};

/// "value 5 of timeline steps"
std::string timeline_label(const Trace& trace, const TimelineValue& wanted);

}  // namespace streamscope::analysis
