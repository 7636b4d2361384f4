// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stand-in libcuda.so.1: initialization with injection as the real driver does it, and the few
// queries we use.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "fake.h"

#undef cuDeviceGetUuid
#undef cuDeviceTotalMem

namespace {
std::atomic<bool> initialized{false};
std::atomic<unsigned> relaxed_threads{0}, queries{0};
std::mutex mutex;
std::set<const void*> pending, dead;
std::atomic<bool> queries_blocked{false};
using Layout = std::vector<std::pair<size_t, size_t>>;  // offset and size of each parameter
std::map<CUfunction, Layout> layouts;
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
// By default a kernel has the parameters (pointer, float, number, pointer).
FAKE_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset,
                                     size_t* size) {
  fake_expect_alive(function, "cuFuncGetParamInfo");
  static const Layout kUsual = {{0, 8}, {8, 4}, {16, 8}, {24, 8}};
  std::lock_guard lock(mutex);
  const auto known = layouts.find(function);
  const Layout& layout = known != layouts.end() ? known->second : kUsual;
  if (index >= layout.size()) return CUDA_ERROR_INVALID_VALUE;
  std::tie(*offset, *size) = layout[index];
  return CUDA_SUCCESS;
}
FAKE_API void fake_set_parameters(CUfunction function, const size_t (*offset_and_size)[2],
                                  size_t count) {
  std::lock_guard lock(mutex);
  layouts[function].clear();
  for (size_t i = 0; i < count; ++i)
    layouts[function].emplace_back(offset_and_size[i][0], offset_and_size[i][1]);
}
// 0x1000 is the program's own memory, 0x2000 that of a device, and 0x5000 managed.
FAKE_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                         void** values, CUdeviceptr address) {
  for (unsigned i = 0; i < count; ++i) {
    auto& value = *static_cast<unsigned*>(values[i]);
    if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      value = address == 0x1000 ? 0u : unsigned{CU_MEMORYTYPE_DEVICE};
    else
      value = address == 0x5000;
  }
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  fake_expect_alive(stream, "cuStreamGetFlags");
  *flags = CU_STREAM_NON_BLOCKING;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  fake_expect_alive(stream, "cuStreamGetPriority");
  *priority = -3;
  return CUDA_SUCCESS;
}
// Captures are followed from the calls: nobody may query.
FAKE_API CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus*) {
  std::fputs("asked whether a stream is capturing\n", stderr);
  std::abort();
}
FAKE_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  relaxed_threads += *mode == CU_STREAM_CAPTURE_MODE_RELAXED;
  *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamQuery(CUstream stream) {
  fake_expect_alive(stream, "cuStreamQuery");
  ++queries;
  while (queries_blocked) usleep(1000);
  fake_expect_alive(stream, "cuStreamQuery");
  --queries;
  std::lock_guard lock(mutex);
  return pending.contains(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
FAKE_API CUresult cuEventQuery(CUevent event) {
  fake_expect_alive(event, "cuEventQuery");
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
// Not a tail call: the frame is needed.
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

FAKE_API void fake_set_dead(const void* handle, bool on) {
  std::lock_guard lock(mutex);
  if (on) {
    dead.insert(handle);
  } else {
    dead.erase(handle);
  }
}
FAKE_API void fake_expect_alive(const void* handle, const char* question) {
  std::lock_guard lock(mutex);
  if (!dead.contains(handle)) return;
  std::fprintf(stderr, "%s was asked about the dead handle %p\n", question, handle);
  std::abort();
}
FAKE_API unsigned fake_queries_under_way() { return queries; }
FAKE_API unsigned fake_relaxed_threads() { return relaxed_threads; }
