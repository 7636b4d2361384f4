// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>

#include "collect/process/symbols.h"

namespace streamscope::collect {

constinit DriverFunctions cuda{};

namespace {
constinit std::atomic<bool> found{false};
constinit Symbols library{};  // valid if `found`
constinit std::mutex finding;
}  // namespace

bool has_cuda() { return found.load(std::memory_order_acquire); }

bool find_cuda() {
  if (has_cuda()) return true;
  std::lock_guard lock(finding);
  if (has_cuda()) return true;
  // For the reference alone: a tool may answer with a library of its own.
  ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  library = symbols_of_file("libcuda.so");
#define STREAMSCOPE_FIND(name, exported, ...) \
  cuda.name = reinterpret_cast<decltype(cuda.name)>(find_symbol(library, exported));
  STREAMSCOPE_DRIVER_FUNCTIONS(STREAMSCOPE_FIND)
#undef STREAMSCOPE_FIND
  if (cuda.cuDeviceGetCount == nullptr) return false;
  found.store(true, std::memory_order_release);
  return true;
}

void* driver_function(const char* name) {
  return has_cuda() ? find_symbol(library, name) : nullptr;
}

void forget_driver_after_fork() { new (&finding) std::mutex; }

bool cuda_in_use() {
  if (!find_cuda()) return false;
  int count = 0;
  return cuda.cuDeviceGetCount(&count) ==
         CUDA_SUCCESS;  // before cuInit: CUDA_ERROR_NOT_INITIALIZED
}

}  // namespace streamscope::collect
