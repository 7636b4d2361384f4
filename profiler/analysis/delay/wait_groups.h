// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who waited for whom: alike waits taken together, for people who have a few seconds. An iteration
// repeated a thousand times is one line with a count.
#pragma once

#include <vector>

#include "timeline_waits.h"
#include "waits.h"

namespace streamscope::analysis {

/// True if the op waited for something that has a name: work, a synchronization, a long call. Not
/// for the host's pace outside CUDA, nor for what issuing and starting an op takes.
bool is_wait(const WaitPart& part);

/// What a reader would call the same work: its kind, and its name or direction.
struct Work {
  trace::Small kind = trace::kNoSmall;
  Id name_id = kNoId;
  trace::Small direction = 0;  ///< of copies

  auto operator<=>(const Work&) const = default;
};
Work work_of(const Trace& trace, Id op);

/// Waits of one kind of work on one stream for one kind of work on another, or for one call of the
/// host.
struct WaitGroup {
  uint64_t count = 0;
  Ns total_ns = 0;
  WaitPart longest;
  Id event_record = kNoId;  ///< of the longest, where it was for an event
  Id event_wait = kNoId;
  /// What the longest was for, if libcoord made it for a value of a timeline.
  std::optional<TimelineValue> wanted;
};

/// The most costly first.
std::vector<WaitGroup> group_waits(const Trace& trace, const Edges& edges,
                                   const std::vector<WaitPart>& parts);

}  // namespace streamscope::analysis
