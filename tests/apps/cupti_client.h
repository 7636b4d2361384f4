// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A CUPTI client as small as possible, inside the program itself: the minimum that any collector
// costs. libcupti is loaded at run time.
#pragma once

#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "counted.h"

namespace cupti_client {

#define CUPTI_CLIENT_FUNCTIONS(FUNCTION)   \
  FUNCTION(cuptiSubscribe)                 \
  FUNCTION(cuptiEnableCallback)            \
  FUNCTION(cuptiActivityEnable)            \
  FUNCTION(cuptiActivityRegisterCallbacks) \
  FUNCTION(cuptiActivityFlushAll)          \
  FUNCTION(cuptiActivityGetNumDroppedRecords)

struct Functions {
#define CUPTI_CLIENT_MEMBER(name) decltype(&::name) name = nullptr;
  CUPTI_CLIENT_FUNCTIONS(CUPTI_CLIENT_MEMBER)
#undef CUPTI_CLIENT_MEMBER
};

inline const Functions& functions() {
  static const Functions loaded = [] {
    void* library = nullptr;
    std::string home = std::getenv("CUDA_HOME") ? std::getenv("CUDA_HOME") : "/usr/local/cuda";
    for (const std::string& name :
         {std::string("libcupti.so.13"), home + "/targets/x86_64-linux/lib/libcupti.so.13",
          home + "/extras/CUPTI/lib64/libcupti.so.13", std::string("libcupti.so.12")}) {
      library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library) break;
    }
    if (!library) {
      std::fprintf(stderr, "FAIL libcupti: not found (%s)\n", dlerror());
      std::exit(1);
    }
    Functions result;
#define CUPTI_CLIENT_LOAD(name)                                             \
  result.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (!result.name) counted::fail("libcupti lacks " #name, 1, 0);
    CUPTI_CLIENT_FUNCTIONS(CUPTI_CLIENT_LOAD)
#undef CUPTI_CLIENT_LOAD
    return result;
  }();
  return loaded;
}

/// The callback ids of launches, records and waits, which a collector of stream structure needs.
inline constexpr CUpti_CallbackId kRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_ptsz_v7000,
};
inline constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
    CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz,
};

inline CUpti_SubscriberHandle subscribe(CUpti_CallbackFunc handler) {
  CUpti_SubscriberHandle subscriber = nullptr;
  counted::check(functions().cuptiSubscribe(&subscriber, handler, nullptr), "cuptiSubscribe",
                 __FILE__, __LINE__);
  return subscriber;
}

template <size_t N>
void enable(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
            const CUpti_CallbackId (&calls)[N]) {
  for (CUpti_CallbackId call : calls) {
    counted::check(functions().cuptiEnableCallback(1, subscriber, domain, call),
                   "cuptiEnableCallback", __FILE__, __LINE__);
  }
}

/// Buffers that are recycled without being read.
inline std::mutex buffer_mutex;
inline std::vector<uint8_t*> spare_buffers;
inline constexpr size_t kBufferBytes = 4 << 20;

inline void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  std::lock_guard lock(buffer_mutex);
  if (spare_buffers.empty()) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, kBufferBytes));
  } else {
    *buffer = spare_buffers.back();
    spare_buffers.pop_back();
  }
  *size = kBufferBytes;
  *max_records = 0;
}

inline void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) {
  std::lock_guard lock(buffer_mutex);
  spare_buffers.push_back(buffer);
}

/// Requests the times of kernels, and discards them.
inline void enable_kernel_activity() {
  counted::check(functions().cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
                 "cuptiActivityRegisterCallbacks", __FILE__, __LINE__);
  counted::check(functions().cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
                 "cuptiActivityEnable", __FILE__, __LINE__);
}

}  // namespace cupti_client
