// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered allocation: memory allocated in one stream, used in a second after an event, freed
// in the second.
//   alloc_async [--rounds N]
#include "counted.h"

namespace {

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }
__global__ void sum(const int* data, int* total) { atomicAdd(total, data[threadIdx.x]); }

}  // namespace

int main(int argc, char** argv) {
  const int rounds = static_cast<int>(counted::option(argc, argv, "--rounds", 30));
  counted::require_device();
  cudaStream_t first, second;
  CALL(cudaStreamCreateWithFlags, &first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &second, cudaStreamNonBlocking);
  cudaEvent_t filled;
  CALL(cudaEventCreateWithFlags, &filled, cudaEventDisableTiming);
  int* total = nullptr;
  CALL(cudaMallocAsync, reinterpret_cast<void**>(&total), sizeof(int), second);
  CALL(cudaMemsetAsync, total, 0, sizeof(int), second);
  for (int round = 0; round < rounds; ++round) {
    int* data = nullptr;
    CALL(cudaMallocAsync, reinterpret_cast<void**>(&data), 64 * sizeof(int), first);
    counted::launch(fill, 1, 64, first, data, round);
    CALL(cudaEventRecord, filled, first);
    CALL(cudaStreamWaitEvent, second, filled, 0);
    counted::launch(sum, 1, 64, second, static_cast<const int*>(data), total);
    CALL(cudaFreeAsync, data, second);
  }
  int host = 0;
  CALL(cudaMemcpyAsync, &host, total, sizeof(int), cudaMemcpyDeviceToHost, second);
  CALL(cudaFreeAsync, total, second);
  CALL(cudaStreamSynchronize, second);
  counted::expect("total", 64LL * rounds * (rounds - 1) / 2, host);
  counted::report("alloc_async");
}
