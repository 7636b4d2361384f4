// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>

namespace streamscope::collect {

constinit DriverFunctions cuda{};

namespace {
constinit std::atomic<void*> library{nullptr};
constinit std::mutex finding;
}  // namespace

bool has_cuda() { return library.load(std::memory_order_acquire) != nullptr; }

bool find_cuda() {
  if (has_cuda()) return true;
  std::lock_guard lock(finding);
  if (has_cuda()) return true;
  void* found = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (found == nullptr) return false;
#define STREAMSCOPE_FIND(name, exported, ...) \
  cuda.name = reinterpret_cast<decltype(cuda.name)>(::dlsym(found, exported));
  STREAMSCOPE_DRIVER_FUNCTIONS(STREAMSCOPE_FIND)
#undef STREAMSCOPE_FIND
  if (cuda.cuDeviceGetCount == nullptr) return false;
  library.store(found, std::memory_order_release);
  return true;
}

void* driver_function(const char* name) {
  return ::dlsym(library.load(std::memory_order_acquire), name);
}

void forget_driver_after_fork() { new (&finding) std::mutex; }

bool cuda_in_use() {
  if (!find_cuda()) return false;
  int count = 0;
  return cuda.cuDeviceGetCount(&count) ==
         CUDA_SUCCESS;  // before cuInit: CUDA_ERROR_NOT_INITIALIZED
}

}  // namespace streamscope::collect
