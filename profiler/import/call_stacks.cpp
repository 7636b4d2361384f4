// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "call_stacks.h"

#include <ranges>

#include "vocabulary/fnv1a.h"

namespace streamscope::import {

Id CallStacks::push(Id outer, const Frame& frame) {
  const auto [known, is_new] = known_.try_emplace({outer, frame}, static_cast<Id>(nodes_.size()));
  if (is_new) {
    uint64_t hash = outer == kNoId ? kFnv1aStart : nodes_[outer].hash;
    for (const uint64_t part :
         {static_cast<uint64_t>(frame.kind), uint64_t{frame.symbol}, uint64_t{frame.module}})
      hash = fnv1a_step(part, hash);
    nodes_.push_back({outer, frame, hash});
  }
  return known->second;
}

Id CallStacks::stack(std::span<const Frame> frames) {
  Id stack = kNoId;
  for (const Frame& frame : frames | std::views::reverse) stack = push(stack, frame);
  return stack;
}

Id CallStacks::row(Id process, Id stack) {
  constexpr trace::Small kMostFrames = 64;  // the innermost, as of a recorded stack
  if (stack == kNoId) return kNoId;
  const auto [known, is_new] = rows_.try_emplace({process, stack}, kNoId);
  if (!is_new) return known->second;
  trace::Small count = 0;
  for (Id id = stack; id != kNoId && count < kMostFrames; id = nodes_[id].outer) ++count;
  const Id row = writer_.append(trace::Stack{.process_id = process,
                                             .hash = static_cast<trace::Int>(nodes_[stack].hash),
                                             .frame_count = count});
  Id id = stack;
  for (trace::Small depth = 0; depth < count; ++depth, id = nodes_[id].outer) {
    const Frame& frame = nodes_[id].frame;
    writer_.append(trace::StackFrame{.stack_id = row,
                                     .depth = depth,
                                     .kind = frame.kind,
                                     .symbol_id = frame.symbol,
                                     .module_id = frame.module});
  }
  return known->second = row;
}

}  // namespace streamscope::import
