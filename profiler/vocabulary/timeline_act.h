// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What happens to a libcoord timeline.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// The values of coord_timeline_act. Stored in traces, in timeline_point.act: append only.
enum TimelineAct : int32_t {
  kTimelineSignal = 0,
  kTimelineWait,
  kTimelineRelease,
  kTimelineGiveUp,
  kTimelineReach,
  kTimelineFail,
};

inline constexpr Term kTimelineActs[] = {
    {kTimelineSignal, "signal", "by the host, or promised by a stream"},
    {kTimelineWait, "wait", "begins"},
    {kTimelineRelease, "release",
     "the wait ended because the value was reached; of a stream only if there was nothing to wait "
     "for"},
    {kTimelineGiveUp, "give_up", "the wait ended without the value"},
    {kTimelineReach, "reach", "the host knows that the value was reached"},
    {kTimelineFail, "fail"},
};

}  // namespace streamscope
