// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work before, inside and after a part that is marked in two ways: by cudaProfilerStart and
// cudaProfilerStop, and by the NVTX range "inside". The report counts the marked part only.
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include "counted.h"

namespace {

__global__ void add(int* value) { *value += 1; }

struct Pair {
  cudaStream_t first, second;
  cudaEvent_t event;
  int* value;

  void take_turns(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      counted::launch(add, 1, 1, first, value);
      CALL(cudaEventRecord, event, first);
      CALL(cudaStreamWaitEvent, second, event, 0);
      counted::launch(add, 1, 1, second, value);
      CALL(cudaEventRecord, event, second);
      CALL(cudaStreamWaitEvent, first, event, 0);
    }
    CALL(cudaDeviceSynchronize);
  }
};

}  // namespace

int main() {
  counted::require_device();
  Pair pair{};
  CALL(cudaStreamCreateWithFlags, &pair.first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &pair.second, cudaStreamNonBlocking);
  CALL(cudaEventCreateWithFlags, &pair.event, cudaEventDisableTiming);
  CALL(cudaMalloc, reinterpret_cast<void**>(&pair.value), sizeof(int));
  CALL(cudaMemsetAsync, pair.value, 0, sizeof(int), pair.first);
  pair.take_turns(10);

  cudaProfilerStart();
  nvtxRangePushA("inside");
  counted::reset();
  pair.take_turns(20);
  counted::report("ranges");
  nvtxRangePop();
  cudaProfilerStop();

  pair.take_turns(15);
  int host = 0;
  CALL(cudaMemcpyAsync, &host, pair.value, sizeof(int), cudaMemcpyDeviceToHost, pair.first);
  CALL(cudaStreamSynchronize, pair.first);
  counted::expect("additions", 2 * 45, host);
}
