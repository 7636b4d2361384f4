// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "stack_frames.h"

#include <algorithm>
#include <functional>

namespace streamscope::analysis {

FramesOfStacks::FramesOfStacks(const trace::Trace& trace) : frames_(trace.stack.size()) {
  const auto& frames = trace.stack_frame;
  for (trace::Id frame = 0; frame < frames.size(); ++frame) {
    if (frames.stack_id[frame] < frames_.size()) frames_[frames.stack_id[frame]].push_back(frame);
  }
  for (std::vector<trace::Id>& stack : frames_) {
    std::ranges::stable_sort(stack, std::greater{}, [&](trace::Id id) { return frames.depth[id]; });
  }
}

}  // namespace streamscope::analysis
