// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Progress of a libcoord operation.
#pragma once

#include <cstdint>

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

}  // namespace streamscope
