// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Groups similar waits for a quick overview: an iteration repeated a thousand times is one line
// with a count.
#pragma once

#include <tuple>
#include <vector>

#include "analysis/iterations/iteration_series.h"
#include "timeline_waits.h"
#include "waits.h"

namespace streamscope::analysis {

/// True if the op waited for something that can be named: work, a synchronization, a long call.
/// False for the host's pace outside CUDA and for the normal cost of issuing and starting an op.
bool is_wait(const WaitPart& part);

/// What identifies the same work for a reader: its kind, and its name or direction.
struct Work {
  trace::Small kind = trace::kNoSmall;
  Id name_id = kNoId;
  trace::Small direction = 0;  ///< of copies

  auto operator<=>(const Work&) const = default;
};
Work work_of(const Trace& trace, Id op);

/// What the waits of a group have in common: the cause, who waited, and for what.
using WaitKey = std::tuple<WaitCause, Id, Work, Id, Work, Id>;
WaitKey key_of(const Trace& trace, const Edges& edges, const WaitPart& part);

/// Waits of one kind of work on one stream for one kind of work on another stream, or for one host
/// call.
struct WaitGroup {
  uint64_t count = 0;
  uint64_t steady_count = 0;  ///< of these, in the steady part
  IterationSeries times;      ///< by the iteration in which the ops started
  WaitPart longest;           ///< of the steady part, if any is in it
  Id event_record = kNoId;    ///< of the longest, if it was for an event
  Id event_wait = kNoId;
  /// The value that the longest waited for, if libcoord made it for a timeline.
  std::optional<TimelineValue> wanted;
};

/// Most costly first.
std::vector<WaitGroup> group_waits(const Trace& trace, const Edges& edges,
                                   const std::vector<WaitPart>& parts, IterationSlots slots = {});

}  // namespace streamscope::analysis
