// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why one op runs after another, and the steps of the critical path.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in edge.kind: append only.
enum EdgeKind : int32_t {
  kFifoEdge = 0,
  kEventEdge,
  kHostEdge,
  kLegacyEdge,
  kGraphEdgeKind,
  kOperationEdge,
  kMemoryEdge,
};

inline constexpr Term kEdgeKinds[] = {
    {kFifoEdge, "fifo", "only in v_edge"},
    {kEventEdge, "event"},
    {kHostEdge, "host"},
    {kLegacyEdge, "legacy"},
    {kGraphEdgeKind, "graph"},
    {kOperationEdge, "operation"},
    {kMemoryEdge, "memory", "a memory write that a memory wait needed"},
};
constexpr std::string_view to_string(EdgeKind kind) { return name_of(kEdgeKinds, kind); }

/// Stored in traces, in critical_path.kind: append only.
enum PathStepKind : int32_t {
  kOpStep = 0,
  kHostSyncStep,
  kLaunchStep,
  kGapStep,
};

inline constexpr Term kPathStepKinds[] = {
    {kOpStep, "op"},
    {kHostSyncStep, "host_sync"},
    {kLaunchStep, "launch", "host work until the next op"},
    {kGapStep, "gap"},
};

}  // namespace streamscope
