// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the diagnosis of a hang consists of.
#pragma once

#include <cstdint>

#include "term.h"

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

inline constexpr Term kHangNodeKinds[] = {
    {kHangThread, "thread"},
    {kHangStream, "stream"},
    {kHangOp, "op"},
    {kHangEventRecord, "event_record"},
    {kHangEventWait, "event_wait"},
    {kHangHostSync, "host_sync"},
    {kHangOperation, "operation"},
    {kHangOutside, "outside", "lock, other process, network"},
};

/// Stored in traces, in hang_edge.kind: append only.
enum HangEdgeKind : int32_t {
  kNeedsAll = 0,
  kNeedsAny,
};

inline constexpr Term kHangEdgeKinds[] = {
    {kNeedsAll, "all", "needs every such edge"},
    {kNeedsAny, "any", "one such edge suffices"},
};

/// Stored in traces, in probe.kind: append only.
enum ProbeKind : int32_t {
  kEventProbe = 0,
  kStreamProbe,
  kWordProbe,
  kFlushProbe,
};

inline constexpr Term kProbeKinds[] = {
    {kEventProbe, "event query"},
    {kStreamProbe, "stream query"},
    {kWordProbe, "word", "of a memory wait"},
    {kFlushProbe, "forced flush"},
};

}  // namespace streamscope
