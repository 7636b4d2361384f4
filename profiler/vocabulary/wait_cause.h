// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why work on a device started late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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

struct WaitCauseNames {
  std::string_view stored;  ///< in views of a trace, JSON and budgets
  std::string_view shown;   ///< in reports and the viewer
};
/// By number.
inline constexpr std::array<WaitCauseNames, 17> kWaitCauses = {{
    {"launch", "launch"},
    {"event_wait", "event"},
    {"start_latency", "start"},
    {"legacy_stream", "legacy"},
    {"memory_wait", "memory-wait"},
    {"host_function", "host-function"},
    {"copy_engine", "copy-engine"},
    {"sm_full", "device-full"},
    {"queue_aliasing", "queue"},
    {"profiler", "profiler"},
    {"unknown", "unknown"},
    {"host_sync", "host-sync"},
    {"graph", "graph"},
    {"host_call", "host-call"},
    {"code_loading", "code-loading"},
    {"host_lock", "host-lock"},
    {"host", "host"},
}};

constexpr const WaitCauseNames& names_of(WaitCause cause) {
  const auto number = static_cast<size_t>(cause);
  return kWaitCauses[number < kWaitCauses.size() ? number
                                                 : static_cast<size_t>(WaitCause::kUnknown)];
}
constexpr std::string_view stored_name(WaitCause cause) { return names_of(cause).stored; }
constexpr std::string_view to_string(WaitCause cause) { return names_of(cause).shown; }
/// By its stored name.
constexpr std::optional<WaitCause> wait_cause_named(std::string_view stored) {
  for (size_t i = 0; i < kWaitCauses.size(); ++i) {
    if (kWaitCauses[i].stored == stored) return static_cast<WaitCause>(i);
  }
  return std::nullopt;
}

}  // namespace streamscope
