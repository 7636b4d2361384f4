// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the diagnosis of a hang consists of.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in hang_node.kind: append only.
enum HangNodeKind : int32_t {
  kHangThread = 0,
  kHangStream,
  kHangOp,
  kHangEventRecord,
  kHangEventWait,
  kHangHostSync,
  kHangOperation,
  kHangOutside,
};

/// Stored in traces, in hang_edge.kind: append only.
enum HangEdgeKind : int32_t {
  kNeedsAll = 0,
  kNeedsAny,
};

/// Stored in traces, in probe.kind: append only.
enum ProbeKind : int32_t {
  kEventProbe = 0,
  kStreamProbe,
  kWordProbe,
  kFlushProbe,
};

}  // namespace streamscope
