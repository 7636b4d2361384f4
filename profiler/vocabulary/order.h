// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why one op runs after another, and the steps of the critical path.
#pragma once

#include <cstdint>

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

/// Stored in traces, in critical_path.kind: append only.
enum PathStepKind : int32_t {
  kOpStep = 0,
  kHostSyncStep,
  kLaunchStep,
  kGapStep,
};

}  // namespace streamscope
