// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What is stored of a libcoord operation.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// The values of coord_operation_state, and 0 for before. Stored in traces, in operation.state:
/// append only.
enum OperationState : int32_t {
  kOperationRegistered = 0,
  kOperationBegun,
  kOperationSubmitted,
  kOperationCompleted,
  kOperationFailed,
  kOperationCancelled,
};

inline constexpr Term kOperationStates[] = {
    {kOperationRegistered, "registered"}, {kOperationBegun, "begun"},
    {kOperationSubmitted, "submitted"},   {kOperationCompleted, "completed"},
    {kOperationFailed, "failed"},         {kOperationCancelled, "cancelled"},
};

/// The values of coord_operation_type. Stored in traces, in operation.type: append only.
inline constexpr Term kOperationTypes[] = {
    {0, "kernel"},    {1, "memory_transfer"}, {2, "synchronization"}, {3, "reduction"},
    {4, "broadcast"}, {5, "all_reduce"},      {6, "barrier"},
};

/// The values of coord_operation_priority. Stored in traces, in operation.priority: append only.
inline constexpr Term kOperationPriorities[] = {
    {0, "critical"}, {1, "high"}, {2, "normal"}, {3, "low"}, {4, "cleanup"},
};

/// Why a stream need not wait for a dependency: values of coord_elision less one. Stored in traces,
/// in operation_dependency.elided_because: append only.
inline constexpr Term kElisions[] = {
    {1, "same_stream", "the stream's own order"},
    {2, "earlier_wait", "an earlier wait of the stream"},
    {3, "other_dependency", "covered by another dependency"},
    {4, "ended", "already completed"},
};

}  // namespace streamscope
