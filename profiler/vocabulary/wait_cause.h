// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why work on a device started late.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "term.h"

namespace streamscope {

/// Stored in traces, in wait_cause.cause: append only.
enum class WaitCause : int32_t {
  kLaunch = 0,     ///< the host was in the call that issues the op
  kEvent,          ///< an event that the stream waited for
  kStart,          ///< nothing delayed it: the time a device needs to start work
  kLegacyStream,   ///< the implicit barrier of the legacy default stream
  kMemoryWait,     ///< a memory wait on the stream
  kHostFunction,   ///< host functions, which run one after another
  kCopyEngine,     ///< another copy of the same direction was running
  kSmFull,         ///< other kernels filled the device
  kQueueAliasing,  ///< an unrelated op was ahead of it in the hardware queue
  kProfiler,       ///< the profiler delayed the issuing thread
  kUnknown,
  kHostSync,     ///< the issuing thread was blocked in a synchronization or in a synchronous copy
  kGraph,        ///< another node of the graph
  kHostCall,     ///< the issuing thread was in another CUDA call
  kCodeLoading,  ///< the issuing thread loaded code
  kHostLock,     ///< the issuing thread waited for another thread's call
  kHost,         ///< the issuing thread was outside CUDA
};

/// In views of a trace, JSON and budgets.
inline constexpr Term kWaitCauses[] = {
    {WaitCause::kLaunch, "launch"},
    {WaitCause::kEvent, "event_wait"},
    {WaitCause::kStart, "start_latency"},
    {WaitCause::kLegacyStream, "legacy_stream"},
    {WaitCause::kMemoryWait, "memory_wait"},
    {WaitCause::kHostFunction, "host_function"},
    {WaitCause::kCopyEngine, "copy_engine"},
    {WaitCause::kSmFull, "sm_full"},
    {WaitCause::kQueueAliasing, "queue_aliasing"},
    {WaitCause::kProfiler, "profiler"},
    {WaitCause::kUnknown, "unknown"},
    {WaitCause::kHostSync, "host_sync"},
    {WaitCause::kGraph, "graph"},
    {WaitCause::kHostCall, "host_call"},
    {WaitCause::kCodeLoading, "code_loading"},
    {WaitCause::kHostLock, "host_lock"},
    {WaitCause::kHost, "host", "outside CUDA"},
};
/// In reports and the viewer.
inline constexpr Term kShownWaitCauses[] = {
    {WaitCause::kLaunch, "launch"},
    {WaitCause::kEvent, "event"},
    {WaitCause::kStart, "start"},
    {WaitCause::kLegacyStream, "legacy"},
    {WaitCause::kMemoryWait, "memory-wait"},
    {WaitCause::kHostFunction, "host-function"},
    {WaitCause::kCopyEngine, "copy-engine"},
    {WaitCause::kSmFull, "device-full"},
    {WaitCause::kQueueAliasing, "queue"},
    {WaitCause::kProfiler, "profiler"},
    {WaitCause::kUnknown, "unknown"},
    {WaitCause::kHostSync, "host-sync"},
    {WaitCause::kGraph, "graph"},
    {WaitCause::kHostCall, "host-call"},
    {WaitCause::kCodeLoading, "code-loading"},
    {WaitCause::kHostLock, "host-lock"},
    {WaitCause::kHost, "host"},
};

constexpr std::string_view stored_name(WaitCause cause) { return name_of(kWaitCauses, cause); }
constexpr std::string_view to_string(WaitCause cause) { return name_of(kShownWaitCauses, cause); }
/// By its stored name.
constexpr std::optional<WaitCause> wait_cause_named(std::string_view stored) {
  const auto number = number_named(kWaitCauses, stored);
  return number ? std::optional(static_cast<WaitCause>(*number)) : std::nullopt;
}

}  // namespace streamscope
