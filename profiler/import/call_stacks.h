// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of an imported file as rows of a trace. Stacks share their outer frames until
// they are written, and equal ones of a process are one row.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "trace/write/writer.h"

namespace streamscope::import {

using trace::Id;
using trace::kNoId;

struct Frame {
  trace::FrameKind kind = trace::kNativeFrame;
  Id symbol = kNoId;
  Id module = kNoId;  ///< of native frames

  auto operator<=>(const Frame&) const = default;
};

/// Thread-compatible.
class CallStacks {
 public:
  explicit CallStacks(trace::Writer& writer) : writer_(writer) {}

  /// A stack whose innermost frame was called from the stack `outer`; kNoId stands for no frames.
  Id push(Id outer, const Frame& frame);
  /// Of frames from the innermost to the outermost; kNoId if there are none.
  Id stack(std::span<const Frame> frames);
  const Frame& innermost(Id stack) const { return nodes_[stack].frame; }
  /// Its row of table `stack`, which is written when it is first requested; kNoId for kNoId.
  Id row(Id process, Id stack);

 private:
  struct Node {
    Id outer;
    Frame frame;
    uint64_t hash;
  };

  trace::Writer& writer_;
  std::vector<Node> nodes_;
  std::map<std::pair<Id, Frame>, Id> known_;
  std::map<std::pair<Id, Id>, Id> rows_;  // by process and stack
};

}  // namespace streamscope::import
