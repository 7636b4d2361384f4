// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of calls in which the host waits for the device or queries it.
#pragma once

#include <cstdint>

#include "call_kind.h"
#include "term.h"

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

inline constexpr Term kHostSyncKinds[] = {
    {kDeviceSynchronize, "device", "waits for all streams"},
    {kStreamSynchronize, "stream", "waits for one"},
    {kEventSynchronize, "event", "waits for a record"},
    {kStreamQuery, "stream query", "does not block"},
    {kEventQuery, "event query", "does not block"},
    {kSynchronousCopy, "synchronous copy", "blocks"},
};
constexpr std::string_view to_string(HostSyncKind kind) { return name_of(kHostSyncKinds, kind); }

/// The kinds of these calls.
inline constexpr Term kHostSyncCalls[] = {
    {kDeviceSynchronize, name_of(kCallKinds, CallKind::kDeviceSynchronize)},
    {kStreamSynchronize, name_of(kCallKinds, CallKind::kStreamSynchronize)},
    {kEventSynchronize, name_of(kCallKinds, CallKind::kEventSynchronize)},
    {kStreamQuery, name_of(kCallKinds, CallKind::kStreamQuery)},
    {kEventQuery, name_of(kCallKinds, CallKind::kEventQuery)},
    {kSynchronousCopy, name_of(kCallKinds, CallKind::kMemcpy)},
};

}  // namespace streamscope
