// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The frames of call stacks, for what goes through many of them.
#pragma once

#include <span>
#include <vector>

#include "stream_ops.h"

namespace streamscope::analysis {

/// Immutable, thread-safe.
class FramesOfStacks {
 public:
  explicit FramesOfStacks(const trace::Trace& trace);

  size_t size() const { return frames_.size(); }
  /// Rows of stack_frame, outermost first; none of an unknown stack.
  std::span<const trace::Id> of(trace::Id stack) const {
    return stack < frames_.size() ? std::span(frames_[stack]) : std::span<const trace::Id>();
  }

 private:
  std::vector<std::vector<trace::Id>> frames_;
};

}  // namespace streamscope::analysis
