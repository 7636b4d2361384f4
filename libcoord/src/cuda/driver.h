// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The functions of the CUDA driver that libcoord calls, looked up in libcuda at run time.
//
// This way, a program with libcoord starts on a machine without CUDA. Nothing else in libcoord
// touches a CUresult.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace coord::cuda {

// Member of Driver, function of cuda.h (whose macros select the version for the header).
#define COORD_DRIVER_FUNCTIONS(FUNCTION)                             \
  FUNCTION(init, cuInit)                                             \
  FUNCTION(get_error_name, cuGetErrorName)                           \
  FUNCTION(get_error_string, cuGetErrorString)                       \
  FUNCTION(device_get_count, cuDeviceGetCount)                       \
  FUNCTION(device_get, cuDeviceGet)                                  \
  FUNCTION(device_get_name, cuDeviceGetName)                         \
  FUNCTION(device_get_uuid, cuDeviceGetUuid)                         \
  FUNCTION(device_get_attribute, cuDeviceGetAttribute)               \
  FUNCTION(device_total_mem, cuDeviceTotalMem)                       \
  FUNCTION(primary_context_retain, cuDevicePrimaryCtxRetain)         \
  FUNCTION(primary_context_release, cuDevicePrimaryCtxRelease)       \
  FUNCTION(context_get_current, cuCtxGetCurrent)                     \
  FUNCTION(context_push, cuCtxPushCurrent)                           \
  FUNCTION(context_pop, cuCtxPopCurrent)                             \
  FUNCTION(context_get_id, cuCtxGetId)                               \
  FUNCTION(context_synchronize, cuCtxSynchronize)                    \
  FUNCTION(context_stream_priorities, cuCtxGetStreamPriorityRange)   \
  FUNCTION(module_load, cuModuleLoadData)                            \
  FUNCTION(module_unload, cuModuleUnload)                            \
  FUNCTION(module_get_function, cuModuleGetFunction)                 \
  FUNCTION(stream_create, cuStreamCreateWithPriority)                \
  FUNCTION(stream_destroy, cuStreamDestroy)                          \
  FUNCTION(stream_query, cuStreamQuery)                              \
  FUNCTION(stream_synchronize, cuStreamSynchronize)                  \
  FUNCTION(stream_wait_event, cuStreamWaitEvent)                     \
  FUNCTION(stream_wait_value, cuStreamWaitValue64)                   \
  FUNCTION(stream_write_value, cuStreamWriteValue64)                 \
  FUNCTION(event_create, cuEventCreate)                              \
  FUNCTION(event_destroy, cuEventDestroy)                            \
  FUNCTION(event_record, cuEventRecord)                              \
  FUNCTION(event_query, cuEventQuery)                                \
  FUNCTION(event_synchronize, cuEventSynchronize)                    \
  FUNCTION(memory_allocate, cuMemAlloc)                              \
  FUNCTION(memory_free, cuMemFree)                                   \
  FUNCTION(managed_memory_allocate, cuMemAllocManaged)               \
  FUNCTION(pointer_get_attribute, cuPointerGetAttribute)             \
  FUNCTION(host_memory_allocate, cuMemHostAlloc)                     \
  FUNCTION(host_memory_free, cuMemFreeHost)                          \
  FUNCTION(copy_to_device, cuMemcpyHtoDAsync)                        \
  FUNCTION(copy_to_host, cuMemcpyDtoHAsync)                          \
  FUNCTION(copy_in_device, cuMemcpyDtoDAsync)                        \
  FUNCTION(memset, cuMemsetD8Async)                                  \
  FUNCTION(launch_kernel, cuLaunchKernel)                            \
  FUNCTION(launch_host_function, cuLaunchHostFunc)                   \
  FUNCTION(context_get_device, cuCtxGetDevice)                       \
  FUNCTION(function_set_attribute, cuFuncSetAttribute)               \
  FUNCTION(memory_allocate_async, cuMemAllocAsync)                   \
  FUNCTION(memory_free_async, cuMemFreeAsync)                        \
  FUNCTION(copy_peer, cuMemcpyPeerAsync)                             \
  FUNCTION(capture_begin, cuStreamBeginCapture)                      \
  FUNCTION(capture_end, cuStreamEndCapture)                          \
  FUNCTION(capture_status, cuStreamIsCapturing)                      \
  FUNCTION(capture_exchange_mode, cuThreadExchangeStreamCaptureMode) \
  FUNCTION(user_object_create, cuUserObjectCreate)                   \
  FUNCTION(user_object_release, cuUserObjectRelease)                 \
  FUNCTION(graph_retain_user_object, cuGraphRetainUserObject)        \
  FUNCTION(graph_get_nodes, cuGraphGetNodes)                         \
  FUNCTION(graph_destroy, cuGraphDestroy)                            \
  FUNCTION(graph_instantiate, cuGraphInstantiateWithFlags)           \
  FUNCTION(graph_launch, cuGraphLaunch)                              \
  FUNCTION(graph_exec_destroy, cuGraphExecDestroy)

/// Throws the Error for a driver's code, unless it is success.
void check(CUresult result, const char* call);

/// A function of the driver. Calling it throws the Error for its code, unless that is success.
template <typename Function>
struct DriverFunction {
  Function* raw = nullptr;  // returns the code
  const char* name;

  template <typename... Arguments>
  void operator()(Arguments... arguments) const {
    check(raw(arguments...), name);
  }
};

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define COORD_MEMBER(member, function) \
  DriverFunction<decltype(::function)> member{nullptr, #function};
  COORD_DRIVER_FUNCTIONS(COORD_MEMBER)
#undef COORD_MEMBER
  // The versions of this function differ only in name; the first is in every driver.
  DriverFunction<CUresult(float*, CUevent, CUevent)> event_elapsed_time{nullptr,
                                                                        "cuEventElapsedTime"};
  // These have a different signature in newer headers; the versions named here are in every driver.
  DriverFunction<CUresult(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                          const CUgraphNode**, std::size_t*)>
      capture_info{nullptr, "cuStreamGetCaptureInfo"};
  DriverFunction<CUresult(CUdeviceptr, std::size_t, CUdevice, CUstream)> memory_prefetch{
      nullptr, "cuMemPrefetchAsync"};
  DriverFunction<CUresult(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*)> graph_get_edges{
      nullptr, "cuGraphGetEdges"};

  /// Why there is no usable driver; empty if it is loaded and initialized.
  std::string why_not;
};

/// The driver; loaded and initialized on first use, and never unloaded, so that objects with static
/// storage can still release what they own. Thread-safe.
const Driver& driver();

/// True in a child process of fork() whose parent had loaded the driver: the child cannot use it.
[[nodiscard]] bool forked() noexcept;

/// As check(), for a query: false if the result is "not ready".
[[nodiscard]] bool check_ready(CUresult result, const char* call);

}  // namespace coord::cuda
