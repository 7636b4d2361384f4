// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that uses the CUDA runtime as a shared library: calls each wrapped function once and
// prints it.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "fake/calls_of_every_type.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" {
cudaError_t __cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaThreadSynchronize();
#define WRAPPED_RUNTIME(exported, name, cbid) decltype(name) reach_##exported __asm__(#exported);
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
uint64_t fake_runtime_calls();
uint64_t fake_runtime_arguments();
void fake_set_runtime_result(int32_t result);
}

int main() {
  constexpr fake::Witness kRuntime{fake_runtime_calls, fake_runtime_arguments,
                                   fake_set_runtime_result};
  cuInit(0);
  int32_t result = 0;
#define WRAPPED_RUNTIME(exported, name, cbid)                   \
  std::printf("%s %d\n", #name, result);                        \
  fake::call(kRuntime, #exported, &::reach_##exported, result); \
  result = result == 0 ? cudaErrorInvalidValue : 0;
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
  return 0;
}
