// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The CUDA driver loaded at run time, and a small program for it, for test programs that are plain
// C++.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include "counted.h"

namespace driver {

#define DRIVER_FUNCTIONS(FUNCTION)    \
  FUNCTION(cuInit)                    \
  FUNCTION(cuDeviceGet)               \
  FUNCTION(cuDeviceGetCount)          \
  FUNCTION(cuDevicePrimaryCtxRetain)  \
  FUNCTION(cuDevicePrimaryCtxRelease) \
  FUNCTION(cuCtxSetCurrent)           \
  FUNCTION(cuCtxSynchronize)          \
  FUNCTION(cuModuleLoadData)          \
  FUNCTION(cuModuleGetFunction)       \
  FUNCTION(cuModuleUnload)            \
  FUNCTION(cuLaunchKernel)            \
  FUNCTION(cuMemAlloc)                \
  FUNCTION(cuMemFree)                 \
  FUNCTION(cuMemAllocHost)            \
  FUNCTION(cuMemFreeHost)             \
  FUNCTION(cuMemcpyHtoDAsync)         \
  FUNCTION(cuMemcpyDtoHAsync)         \
  FUNCTION(cuMemsetD32Async)          \
  FUNCTION(cuStreamCreate)            \
  FUNCTION(cuStreamDestroy)           \
  FUNCTION(cuStreamSynchronize)       \
  FUNCTION(cuStreamQuery)             \
  FUNCTION(cuStreamWaitEvent)         \
  FUNCTION(cuEventCreate)             \
  FUNCTION(cuEventDestroy)            \
  FUNCTION(cuEventRecord)             \
  FUNCTION(cuEventQuery)              \
  FUNCTION(cuEventSynchronize)

#define DRIVER_TEXT_(text) #text
#define DRIVER_TEXT(name) DRIVER_TEXT_(name)  // expands cuMemAlloc to "cuMemAlloc_v2", the symbol

struct Functions {
#define DRIVER_MEMBER(name) decltype(&::name) name = nullptr;
  DRIVER_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};

/// Loads libcuda; ends the program as skipped if libcuda or a device is missing.
inline Functions load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) counted::skip(dlerror());
  Functions functions;
#define DRIVER_LOAD(name)                                                                  \
  functions.name = reinterpret_cast<decltype(&::name)>(dlsym(library, DRIVER_TEXT(name))); \
  if (!functions.name) counted::skip("libcuda.so.1 lacks " DRIVER_TEXT(name));
  DRIVER_FUNCTIONS(DRIVER_LOAD)
#undef DRIVER_LOAD
  int count = 0;
  if (functions.cuInit(0) != CUDA_SUCCESS || functions.cuDeviceGetCount(&count) != CUDA_SUCCESS ||
      count == 0) {
    counted::skip("no CUDA device");
  }
  return functions;
}

/// Adds `amount` to an integer.
inline constexpr char kAddKernel[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 address, .param .u32 amount)
{
  .reg .u64 %address;
  .reg .u32 %amount;
  .reg .u32 %value;
  ld.param.u64 %address, [address];
  ld.param.u32 %amount, [amount];
  cvta.to.global.u64 %address, %address;
  ld.global.u32 %value, [%address];
  add.u32 %value, %value, %amount;
  st.global.u32 [%address], %value;
  ret;
}
)";

/// Makes the device's context current in this thread, and loads the kernel above into it.
struct Add {
  CUmodule module;
  CUfunction function;
};
inline Add load_add(const Functions& driver) {
  CUdevice device;
  CUcontext context;
  Add add;
  CALL_ON(driver., cuDeviceGet, &device, 0);
  CALL_ON(driver., cuDevicePrimaryCtxRetain, &context, device);
  CALL_ON(driver., cuCtxSetCurrent, context);
  CALL_ON(driver., cuModuleLoadData, &add.module, kAddKernel);
  CALL_ON(driver., cuModuleGetFunction, &add.function, add.module, "add");
  return add;
}

/// Two streams take turns in adding to one integer, ordered by two events; every result is
/// verified.
inline void take_turns(const Functions& driver, int rounds) {
  const auto [module, add] = load_add(driver);
  CUstream streams[2];
  CUevent events[2];
  for (int i = 0; i < 2; ++i) {
    CALL_ON(driver., cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
    CALL_ON(driver., cuEventCreate, &events[i], CU_EVENT_DISABLE_TIMING);
  }
  CUdeviceptr value;
  int* host = nullptr;
  CALL_ON(driver., cuMemAlloc, &value, sizeof(int));
  CALL_ON(driver., cuMemAllocHost, reinterpret_cast<void**>(&host), sizeof(int));
  *host = 7;
  CALL_ON(driver., cuMemsetD32Async, value, 0, 1, streams[0]);
  CALL_ON(driver., cuMemcpyHtoDAsync, value, host, sizeof(int), streams[0]);
  unsigned amount = 1;
  void* arguments[] = {&value, &amount};
  for (int round = 0; round < rounds; ++round) {
    const int here = round % 2;
    CALL_ON(driver., cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, streams[here], arguments, nullptr);
    CALL_ON(driver., cuEventRecord, events[here], streams[here]);
    CALL_ON(driver., cuStreamWaitEvent, streams[1 - here], events[here], 0);
  }
  CALL_ON(driver., cuMemcpyDtoHAsync, host, value, sizeof(int), streams[rounds % 2]);
  CALL_ON(driver., cuStreamSynchronize, streams[rounds % 2]);
  CALL_ON(driver., cuEventSynchronize, events[0]);
  CALL_ON(driver., cuCtxSynchronize, );
  counted::expect("cuEventQuery of a finished event", 0, TRY_ON(driver., cuEventQuery, events[0]));
  counted::expect("cuStreamQuery of an idle stream", 0, TRY_ON(driver., cuStreamQuery, streams[0]));
  counted::expect("value after the turns", 7 + rounds, *host);
  for (int i = 0; i < 2; ++i) {
    CALL_ON(driver., cuEventDestroy, events[i]);
    CALL_ON(driver., cuStreamDestroy, streams[i]);
  }
  CALL_ON(driver., cuMemFreeHost, host);
  CALL_ON(driver., cuMemFree, value);
  CALL_ON(driver., cuModuleUnload, module);
}

}  // namespace driver
