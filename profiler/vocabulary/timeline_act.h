// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What happens to a libcoord timeline.
#pragma once

#include <cstdint>

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

}  // namespace streamscope
