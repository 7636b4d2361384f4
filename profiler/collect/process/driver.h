// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcuda as found at run time: it is not linked, so the library loads on machines without CUDA.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace streamscope::collect {

// X(member, exported name, parameters...). Types are written out: the toolkit of the build may be
// older or newer than the driver, and the headers' macros turn some names into others.
#define STREAMSCOPE_DRIVER_FUNCTIONS(X)                                                           \
  X(cuDeviceGet, "cuDeviceGet", CUdevice*, int)                                                   \
  X(cuDeviceGetCount, "cuDeviceGetCount", int*)                                                   \
  X(cuDeviceGetName, "cuDeviceGetName", char*, int, CUdevice)                                     \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", int*, CUdevice_attribute, CUdevice)             \
  X(cuDeviceGetUuid, "cuDeviceGetUuid_v2", CUuuid*, CUdevice)                                     \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", size_t*, CUdevice)                                   \
  X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", CUstreamCaptureMode*) \
  X(cuFuncGetParamInfo, "cuFuncGetParamInfo", void*, size_t, size_t*, size_t*)                    \
  X(cuKernelGetParamInfo, "cuKernelGetParamInfo", void*, size_t, size_t*, size_t*)                \
  X(cuStreamGetFlags, "cuStreamGetFlags", CUstream, unsigned*)                                    \
  X(cuStreamGetPriority, "cuStreamGetPriority", CUstream, int*)                                   \
  X(cuStreamQuery, "cuStreamQuery", CUstream)                                                     \
  X(cuEventQuery, "cuEventQuery", CUevent)                                                        \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", CUcontext*)                                               \
  X(cuCtxGetDevice, "cuCtxGetDevice", CUdevice*)                                                  \
  X(cuCtxGetId, "cuCtxGetId", CUcontext, unsigned long long*)                                     \
  X(cuCtxSynchronize, "cuCtxSynchronize", void)                                                   \
  X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", CUdevice, unsigned*, int*)          \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", CUcontext*, CUdevice)                   \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", CUdevice)                          \
  X(cuFuncGetName, "cuFuncGetName", const char**, void*)                                          \
  X(cuKernelGetName, "cuKernelGetName", const char**, void*)                                      \
  X(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2", CUstream, CUstreamCaptureStatus*,        \
    cuuint64_t*, CUgraph*, const CUgraphNode**, size_t*)                                          \
  X(cuGraphGetNodes, "cuGraphGetNodes", CUgraph, CUgraphNode*, size_t*)                           \
  X(cuGraphGetEdges, "cuGraphGetEdges", CUgraph, CUgraphNode*, CUgraphNode*, size_t*)             \
  X(cuGraphNodeGetType, "cuGraphNodeGetType", CUgraphNode, CUgraphNodeType*)                      \
  X(cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2", CUgraphNode,                     \
    CUDA_KERNEL_NODE_PARAMS_v2*)                                                                  \
  X(cuPointerGetAttributes, "cuPointerGetAttributes", unsigned, CUpointer_attribute*, void**,     \
    CUdeviceptr)                                                                                  \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", CUcontext)                                           \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", CUcontext*)                                            \
  X(cuEventCreate, "cuEventCreate", CUevent*, unsigned)                                           \
  X(cuEventRecord, "cuEventRecord", CUevent, CUstream)                                            \
  X(cuStreamCreate, "cuStreamCreate", CUstream*, unsigned)                                        \
  X(cuStreamSynchronize, "cuStreamSynchronize", CUstream)                                         \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", CUstream, CUevent, unsigned)                          \
  X(cuStreamWaitValue32, "cuStreamWaitValue32_v2", CUstream, CUdeviceptr, cuuint32_t, unsigned)   \
  X(cuModuleLoadData, "cuModuleLoadData", CUmodule*, const void*)                                 \
  X(cuModuleGetFunction, "cuModuleGetFunction", CUfunction*, CUmodule, const char*)               \
  X(cuLaunchKernel, "cuLaunchKernel", CUfunction, unsigned, unsigned, unsigned, unsigned,         \
    unsigned, unsigned, unsigned, CUstream, void**, void**)                                       \
  X(cuMemAlloc, "cuMemAlloc_v2", CUdeviceptr*, size_t)                                            \
  X(cuMemHostAlloc, "cuMemHostAlloc", void**, size_t, unsigned)                                   \
  X(cuMemcpyAsync, "cuMemcpyAsync", CUdeviceptr, CUdeviceptr, size_t, CUstream)                   \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", CUdeviceptr, const void*, size_t, CUstream)        \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", void*, CUdeviceptr, size_t, CUstream)              \
  X(cuMemsetD8Async, "cuMemsetD8Async", CUdeviceptr, unsigned char, size_t, CUstream)

#undef cuDeviceGetUuid
#undef cuDeviceTotalMem
#undef cuStreamGetCaptureInfo
#undef cuGraphGetEdges
#undef cuGraphKernelNodeGetParams
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuDevicePrimaryCtxRelease
#undef cuMemAlloc
#undef cuStreamWaitValue32
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemsetD8Async

/// Function pointers into the libcuda of the process; null: not found yet, or not in this version.
/// Only cuDeviceGetCount is always there. They are the driver's own functions, never wrappers.
struct DriverFunctions {
#define STREAMSCOPE_POINTER(name, exported, ...) CUresult(CUDAAPI* name)(__VA_ARGS__);
  STREAMSCOPE_DRIVER_FUNCTIONS(STREAMSCOPE_POINTER)
#undef STREAMSCOPE_POINTER
};
extern constinit DriverFunctions cuda;

/// Looks them up if libcuda is already in the process; never loads it, but keeps it loaded.
/// Thread-safe.
bool find_cuda();
/// find_cuda() has found them: `cuda` no longer changes. Thread-safe.
bool has_cuda();

/// A stream with a handle, not one of the default streams.
inline bool is_created(uint64_t stream) {
  return stream > reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
}

/// The driver's own function of this name, null if there is none. Needs find_cuda(). Thread-safe.
void* driver_function(const char* name);

void forget_driver_after_fork();

/// True if the program has already initialized CUDA.
bool cuda_in_use();

}  // namespace streamscope::collect
