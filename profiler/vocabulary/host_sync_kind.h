// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of calls in which the host waits for the device or queries it.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in host_sync.kind: append only.
enum HostSyncKind : int32_t {
  kDeviceSynchronize = 0,
  kStreamSynchronize,
  kEventSynchronize,
  kStreamQuery,
  kEventQuery,
  kSynchronousCopy,
};

}  // namespace streamscope
