// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that hang on a GPU, each for one reason, and programs that are merely slow. A program
// that hangs must be killed. tests/gpu/hangs.py records them all.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace hang {

struct Program {
  const char* name;
  const char* verdict;  // of analysis/hang/hang.h; "" for a slow one
  const char* culprit;  // a regular expression that must match the explanation
  void (*run)();
};

std::span<const Program> memory_programs();
std::span<const Program> host_programs();
std::span<const Program> device_programs();
std::span<const Program> late_programs();
std::span<const Program> slow_programs();

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "hang: %s: %s\n", what, cudaGetErrorString(error));
  std::_Exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}
#define CHECK(call) ::hang::check(call, #call)

template <class Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) check(cudaErrorNotSupported, name);
  return reinterpret_cast<Function>(function);
}

inline cudaStream_t make_stream() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}
inline cudaEvent_t make_event() {
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}
/// Words of pinned host memory, all 0.
inline volatile uint32_t* make_flags() {
  uint32_t* flags;
  CHECK(
      cudaHostAlloc(reinterpret_cast<void**>(&flags), 64 * sizeof(uint32_t), cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) flags[i] = 0;
  return flags;
}
inline void wait_value(cudaStream_t stream, volatile uint32_t* flag, uint32_t value) {
  static const auto call = driver_function<decltype(&::cuStreamWaitValue32)>("cuStreamWaitValue32");
  if (call(stream, reinterpret_cast<CUdeviceptr>(flag), value, CU_STREAM_WAIT_VALUE_GEQ) != 0)
    check(cudaErrorUnknown, "cuStreamWaitValue32");
}
inline void write_value(cudaStream_t stream, volatile uint32_t* flag, uint32_t value) {
  static const auto call =
      driver_function<decltype(&::cuStreamWriteValue32)>("cuStreamWriteValue32");
  if (call(stream, reinterpret_cast<CUdeviceptr>(flag), value, 0) != 0)
    check(cudaErrorUnknown, "cuStreamWriteValue32");
}

/// Spins until the flag is not 0.
void launch_spin(cudaStream_t stream, volatile uint32_t* flag);
/// Runs for this long.
void launch_delay(cudaStream_t stream, double seconds);

/// The calls that the threads of these programs are in, by name in their stacks.
__attribute__((noinline)) void wait_for_stream(cudaStream_t stream);

}  // namespace hang
