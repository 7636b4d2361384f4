// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The calls that are traced, as both sides of a ring know them: a number, a name and a kind.
//
// calls.def is the one list. `profiler/collect` expands it with the toolkit's headers into callback
// ids and parameter access; here it is only names, so that the writer needs no CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "record.h"

namespace streamscope::ring {

/// What a call means for stream coordination, whatever API it belongs to. Stored in traces: append
/// only. The comment says what `stream`, `object` and `value` of its CallRecord hold, where they
/// hold anything.
enum class CallKind : uint8_t {
  kOther = 0,
  kLaunch,  // stream; object = TextHash of the kernel name (0 if the device record brings it)
  kMemcpy,  // stream; object = copy kind (CUDA's cudaMemcpyKind); value = bytes; blocks the host
  kMemcpyAsync,        // the same; may return before the copy ended
  kMemset,             // stream; object = address; value = bytes
  kMemsetAsync,        // the same
  kHostFunction,       // stream; object = function address
  kEventCreate,        // object = event returned; value = creation flags
  kEventDestroy,       // object = event
  kEventRecord,        // stream; object = event; value = record flags
  kEventQuery,         // object = event; result kNotReady: counted, see kPolls
  kEventSynchronize,   // object = event
  kEventElapsedTime,   // object = start event; value = end event
  kStreamWait,         // stream; object = event; value = wait flags
  kStreamCreate,       // stream = returned; value = flags | uint32(priority) << 32
  kStreamDestroy,      // stream
  kStreamQuery,        // stream; as kEventQuery
  kStreamSynchronize,  // stream
  kDeviceSynchronize,  // all streams of the context
  kContextRecord,      // object = event; all streams of the context
  kContextWait,        // object = event; all streams of the context
  kMemoryWait,         // stream; object = address; value = value waited for
  kMemoryWrite,        // stream; object = address; value = value written
  kMemoryBatch,        // stream; value = operation count
  kMalloc,       // object = address; value = bytes; host or device, not stream-ordered, also mapped
  kFree,         // object = address; value = bytes unmapped; may wait for the device
  kMallocAsync,  // stream; object = address returned; value = bytes
  kFreeAsync,    // stream; object = address
  kGraphInstantiate,  // object = executable graph returned; value = graph
  kGraphLaunch,       // stream; object = executable graph
  kGraphDestroy,      // object = executable graph
  kCaptureBegin,      // stream
  kCaptureEnd,        // stream; object = graph returned
  kProfilerStart,     // cudaProfilerStart
  kProfilerStop,      // cudaProfilerStop
  kDeviceReset,       // everything of the process on the device is gone
  kModuleLoad,        // may wait for the device
};

struct CallInfo {
  std::string_view name;  // as the program wrote it, e.g. "cudaEventRecord"
  CallKind kind;
};

/// Facts of a call; `id` must be below call_count(). Thread-safe.
const CallInfo& call_info(CallId id);

/// Number of calls in the table; ids are 0 .. call_count() - 1.
CallId call_count();

/// Id of the call with this name. Linear; for tests and set-up.
std::optional<CallId> find_call(std::string_view name);

/// True for calls that make, end or rebind the identity of an event or stream; the writer orders
/// these exactly across threads.
bool changes_identity(CallKind kind);

/// True for calls whose purpose is that the host waits: their call stack is worth its cost.
constexpr bool blocks_host(CallKind kind) {
  return kind == CallKind::kMemcpy || kind == CallKind::kEventSynchronize ||
         kind == CallKind::kStreamSynchronize || kind == CallKind::kDeviceSynchronize;
}

/// True for calls that ask whether work is done and return at once.
constexpr bool is_query(CallKind kind) {
  return kind == CallKind::kEventQuery || kind == CallKind::kStreamQuery;
}
/// CUDA's result code of a query of work that is not done.
inline constexpr int32_t kNotReady = 600;

/// True for calls that put something into a stream of which a device tells times.
constexpr bool issues_work(CallKind kind) {
  return kind == CallKind::kLaunch || kind == CallKind::kMemcpy || kind == CallKind::kMemcpyAsync ||
         kind == CallKind::kMemset || kind == CallKind::kMemsetAsync ||
         kind == CallKind::kGraphLaunch || kind == CallKind::kEventRecord;
}

}  // namespace streamscope::ring
