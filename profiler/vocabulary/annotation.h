// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of NVTX ranges and of frames of call stacks.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in range.kind: append only.
enum RangeKind : int32_t {
  kPushPop = 0,
  kStartEnd,
};

inline constexpr Term kRangeKinds[] = {
    {kPushPop, "push_pop", "nested on its thread"},
    {kStartEnd, "start_end", "may end on another thread"},
};

/// Stored in traces, in stack_frame.kind: append only.
enum FrameKind : int32_t {
  kNativeFrame = 0,
  kPythonFrame,
  kCallSiteFrame,
  kRangeFrame,
};

inline constexpr Term kFrameKinds[] = {
    {kNativeFrame, "native"},
    {kPythonFrame, "python"},
    {kCallSiteFrame, "call_site", "std::source_location"},
    {kRangeFrame, "range",
     "a range that was open: an operator, an annotation, a built-in function"},
};

}  // namespace streamscope
