// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stand-in libcuda.so.1: initialization with injection as the real driver does it, and the few
// queries we use.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "fake.h"

#undef cuDeviceGetUuid
#undef cuDeviceTotalMem

namespace {
std::atomic<bool> initialized{false};
std::atomic<unsigned> capture_queries{0};
std::mutex mutex;
std::set<CUstream> capturing;
std::set<const void*> pending;
std::atomic<bool> queries_blocked{false};
}  // namespace

FAKE_API CUresult cuInit(unsigned) {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path != nullptr && *path != '\0') {
      if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
          start();
      }
    }
    initialized = true;
  });
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetCount(int* count) {
  if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
  *count = 1;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(i);
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = size_t{8} << 30;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      *value = 3;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
// Every kernel has the parameters (pointer, float, number, pointer).
FAKE_API CUresult cuFuncGetParamInfo(CUfunction, size_t index, size_t* offset, size_t* size) {
  constexpr size_t kOffsets[] = {0, 8, 16, 24}, kSizes[] = {8, 4, 8, 8};
  if (index >= 4) return CUDA_ERROR_INVALID_VALUE;
  *offset = kOffsets[index];
  *size = kSizes[index];
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuStreamGetFlags(CUstream, unsigned* flags) {
  *flags = CU_STREAM_NON_BLOCKING;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuStreamGetPriority(CUstream, int* priority) {
  *priority = -3;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  ++capture_queries;
  std::lock_guard lock(mutex);
  *status =
      capturing.contains(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamQuery(CUstream stream) {
  while (queries_blocked) pause();
  std::lock_guard lock(mutex);
  return pending.contains(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
FAKE_API CUresult cuEventQuery(CUevent event) {
  std::lock_guard lock(mutex);
  return pending.contains(event) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

FAKE_API void fake_set_pending(const void* stream_or_event, bool on) {
  std::lock_guard lock(mutex);
  if (on) {
    pending.insert(stream_or_event);
  } else {
    pending.erase(stream_or_event);
  }
}
FAKE_API void fake_block_queries(bool blocked) { queries_blocked = blocked; }

namespace {
struct HostFunction {
  void (*function)(void*);
  void* argument;
};
// Not a tail call: the frame is what it is for.
__attribute__((noinline)) void* execute(void* pointer) {
  const HostFunction call = *static_cast<HostFunction*>(pointer);
  delete static_cast<HostFunction*>(pointer);
  call.function(call.argument);
  asm volatile("" ::: "memory");
  return nullptr;
}
}  // namespace

FAKE_API void fake_run_host_function(void (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, nullptr, execute, new HostFunction{function, argument});
  pthread_detach(thread);
}

FAKE_API void fake_set_capturing(CUstream stream, bool on) {
  std::lock_guard lock(mutex);
  if (on) {
    capturing.insert(stream);
  } else {
    capturing.erase(stream);
  }
}
FAKE_API unsigned fake_capture_queries() { return capture_queries; }
