// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that uses the CUDA runtime as a shared library: calls each wrapped function once and
// prints it; with an argument, each that it looks up.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

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

// Looked up, or as the program links it. Names that begin with "__" are not for lookups.
template <class Function>
Function* reach(bool looks_up, const char* name, Function* linked) {
  if (!looks_up || name[0] == '_') return linked;
  static void* const library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

int main(int count, char**) {
  const bool looks_up = count > 1;
  constexpr fake::Witness kRuntime{fake_runtime_calls, fake_runtime_arguments,
                                   fake_set_runtime_result};
  cuInit(0);
  int32_t result = 0;
#define WRAPPED_RUNTIME(exported, name, cbid)                                               \
  std::printf("%s %d\n", #name, result);                                                    \
  fake::call(kRuntime, #exported, reach(looks_up, #exported, &::reach_##exported), result); \
  result = result == 0 ? cudaErrorInvalidValue : 0;
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
  return 0;
}
