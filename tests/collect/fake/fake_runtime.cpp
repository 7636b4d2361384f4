// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stand-in libcudart.so.13: every wrapped function under its exported name. Each notes its
// arguments and, as the runtime does, calls a function of the driver that it looked up.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>

#include "calls_of_every_type.h"

#define FAKE_API extern "C" __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" {
cudaError_t __cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaThreadSynchronize();
}

namespace {

std::atomic<uint64_t> runtime_calls{0}, runtime_arguments{0};
std::atomic<int32_t> runtime_result{0};

void call_driver() {
  using Record = CUresult(CUevent, CUstream);
  static auto* const record =
      reinterpret_cast<Record*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuEventRecord"));
  record(reinterpret_cast<CUevent>(uintptr_t{0xe00e}), nullptr);
}

template <class Function>
struct FakeRuntime;
template <class... Args>
struct FakeRuntime<cudaError_t(Args...)> {
  static cudaError_t call(Args... args) {
    call_driver();
    ++runtime_calls;
    runtime_arguments = fake::sum_of(args...);
    return static_cast<cudaError_t>(runtime_result.exchange(0));
  }
};

}  // namespace

extern "C" void* const fake_runtime_functions[] = {
#define WRAPPED_RUNTIME(exported, name, cbid) \
  reinterpret_cast<void*>(&FakeRuntime<decltype(::name)>::call),
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
};

#if defined(__x86_64__)
#define CALL_STUB(name, offset)
#define RUNTIME_STUB(name, offset)                                  \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
      ":\n endbr64\n leaq fake_runtime_functions(%rip), %r11\n jmp *((" #offset "-8)/2)(%r11)\n");
#include "call_stubs.inc"
#endif

FAKE_API uint64_t fake_runtime_calls() { return runtime_calls; }
FAKE_API uint64_t fake_runtime_arguments() { return runtime_arguments; }
FAKE_API void fake_set_runtime_result(int32_t result) { runtime_result = result; }
