// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of NVTX ranges and of frames of call stacks.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in range.kind: append only.
enum RangeKind : int32_t {
  kPushPop = 0,
  kStartEnd,
};

/// Stored in traces, in stack_frame.kind: append only.
enum FrameKind : int32_t {
  kNativeFrame = 0,
  kPythonFrame,
  kCallSiteFrame,
};

}  // namespace streamscope
