// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of CUDA calls, for recording, import, storage, analysis and display.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// The role of a call in stream coordination, independent of its API. Stored in traces, in
/// api_call.kind: append only. The comment says what `stream`, `object` and `value` of a
/// ring::CallRecord of this kind contain, if anything.
enum class CallKind : uint8_t {
  kOther = 0,
  kLaunch,  // stream; object = TextHash of the kernel name (0 if the device record has it)
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
  kStreamQuery,        // stream; result as for kEventQuery
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
  kDeviceReset,       // destroys everything of the process on the device
  kModuleLoad,        // may wait for the device
};

inline constexpr Term kCallKinds[] = {
    {CallKind::kOther, "other"},
    {CallKind::kLaunch, "launch"},
    {CallKind::kMemcpy, "memcpy"},
    {CallKind::kMemcpyAsync, "memcpy_async"},
    {CallKind::kMemset, "memset"},
    {CallKind::kMemsetAsync, "memset_async"},
    {CallKind::kHostFunction, "host_function"},
    {CallKind::kEventCreate, "event_create"},
    {CallKind::kEventDestroy, "event_destroy"},
    {CallKind::kEventRecord, "event_record"},
    {CallKind::kEventQuery, "event_query"},
    {CallKind::kEventSynchronize, "event_synchronize"},
    {CallKind::kEventElapsedTime, "event_elapsed_time"},
    {CallKind::kStreamWait, "stream_wait"},
    {CallKind::kStreamCreate, "stream_create"},
    {CallKind::kStreamDestroy, "stream_destroy"},
    {CallKind::kStreamQuery, "stream_query"},
    {CallKind::kStreamSynchronize, "stream_synchronize"},
    {CallKind::kDeviceSynchronize, "device_synchronize"},
    {CallKind::kContextRecord, "context_record"},
    {CallKind::kContextWait, "context_wait"},
    {CallKind::kMemoryWait, "memory_wait"},
    {CallKind::kMemoryWrite, "memory_write"},
    {CallKind::kMemoryBatch, "memory_batch"},
    {CallKind::kMalloc, "malloc"},
    {CallKind::kFree, "free"},
    {CallKind::kMallocAsync, "malloc_async"},
    {CallKind::kFreeAsync, "free_async"},
    {CallKind::kGraphInstantiate, "graph_instantiate"},
    {CallKind::kGraphLaunch, "graph_launch"},
    {CallKind::kGraphDestroy, "graph_destroy"},
    {CallKind::kCaptureBegin, "capture_begin"},
    {CallKind::kCaptureEnd, "capture_end"},
    {CallKind::kProfilerStart, "profiler_start"},
    {CallKind::kProfilerStop, "profiler_stop"},
    {CallKind::kDeviceReset, "device_reset"},
    {CallKind::kModuleLoad, "module_load"},
};

/// The value of api_call.kind.
constexpr int32_t number_of(CallKind kind) { return static_cast<int32_t>(kind); }
/// Compares with a value of api_call.kind.
constexpr bool operator==(int32_t stored, CallKind kind) {
  return stored == static_cast<int32_t>(kind);
}

// Of a kind of call, or of a value of api_call.kind, which may be unknown.
constexpr bool is_launch(int32_t stored) {
  return stored == CallKind::kLaunch || stored == CallKind::kGraphLaunch;
}
constexpr bool is_launch(CallKind kind) { return is_launch(number_of(kind)); }
/// Allocates or frees memory of the device or the host, stream-ordered or not.
constexpr bool is_allocation(int32_t stored) {
  return stored == CallKind::kMalloc || stored == CallKind::kFree ||
         stored == CallKind::kMallocAsync || stored == CallKind::kFreeAsync;
}
constexpr bool is_allocation(CallKind kind) { return is_allocation(number_of(kind)); }

}  // namespace streamscope
