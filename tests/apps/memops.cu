// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that signal each other through memory: cuStreamWriteValue32 in one, cuStreamWaitValue32
// in the other.
//   memops [--rounds N]
#include <cuda.h>

#include "counted.h"

namespace {

__global__ void add(int* value, int amount) { *value = *value * 2 + amount; }

template <class Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) counted::fail(name, 0, found);
  return reinterpret_cast<Function>(function);
}

struct Driver {
  decltype(&::cuStreamWaitValue32) cuStreamWaitValue32 =
      driver_function<decltype(&::cuStreamWaitValue32)>("cuStreamWaitValue32");
  decltype(&::cuStreamWriteValue32) cuStreamWriteValue32 =
      driver_function<decltype(&::cuStreamWriteValue32)>("cuStreamWriteValue32");
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = static_cast<int>(counted::option(argc, argv, "--rounds", 12));
  counted::require_device();
  cudaStream_t first, second;
  CALL(cudaStreamCreateWithFlags, &first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &second, cudaStreamNonBlocking);
  Driver driver;
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), 3 * sizeof(int));
  CALL(cudaMemsetAsync, value, 0, 3 * sizeof(int), first);
  // Load the kernel now: a first launch may wait for the device, and below the device waits for us.
  counted::launch(add, 1, 1, first, value, 0);
  CALL(cudaStreamSynchronize, first);
  const auto there = reinterpret_cast<CUdeviceptr>(value + 1);
  const auto back = reinterpret_cast<CUdeviceptr>(value + 2);

  unsigned expected = 0;
  for (int round = 1; round <= rounds; ++round) {
    CALL_ON(driver., cuStreamWaitValue32, second, there, round, CU_STREAM_WAIT_VALUE_GEQ);
    counted::launch(add, 1, 1, second, value, 2);
    CALL_ON(driver., cuStreamWriteValue32, second, back, round, CU_STREAM_WRITE_VALUE_DEFAULT);
    counted::launch(add, 1, 1, first, value, 1);
    CALL_ON(driver., cuStreamWriteValue32, first, there, round, CU_STREAM_WRITE_VALUE_DEFAULT);
    CALL_ON(driver., cuStreamWaitValue32, first, back, round, CU_STREAM_WAIT_VALUE_GEQ);
    expected = (expected * 2 + 1) * 2 + 2;
  }
  int host = 0;
  CALL(cudaMemcpyAsync, &host, value, sizeof(int), cudaMemcpyDeviceToHost, first);
  CALL(cudaStreamSynchronize, first);
  CALL(cudaStreamSynchronize, second);
  counted::expect("value after the rounds", static_cast<int>(expected), host);
  counted::report("memops");
}
