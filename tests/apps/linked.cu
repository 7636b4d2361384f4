// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program linked with streamscope::collect: recorded without a launcher and without any variable
// set.
#include "counted.h"

namespace {

__global__ void add(int* value) { *value += 1; }

}  // namespace

int main() {
  counted::require_device();
  cudaStream_t first, second;
  CALL(cudaStreamCreateWithFlags, &first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &second, cudaStreamNonBlocking);
  cudaEvent_t event;
  CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), sizeof(int));
  CALL(cudaMemsetAsync, value, 0, sizeof(int), first);
  for (int round = 0; round < 25; ++round) {
    counted::launch(add, 1, 1, first, value);
    CALL(cudaEventRecord, event, first);
    CALL(cudaStreamWaitEvent, second, event, 0);
    counted::launch(add, 1, 1, second, value);
    CALL(cudaEventRecord, event, second);
    CALL(cudaStreamWaitEvent, first, event, 0);
  }
  int host = 0;
  CALL(cudaMemcpyAsync, &host, value, sizeof(int), cudaMemcpyDeviceToHost, first);
  CALL(cudaStreamSynchronize, first);
  counted::expect("additions", 50, host);
  counted::report("linked");
}
