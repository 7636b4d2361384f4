// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Host functions between kernels of two streams; the second stream continues only after the first
// one's function.
//   host_function [--rounds N]
#include "counted.h"

namespace {

__global__ void store(volatile int* flag, int value) { *flag = value; }

struct Shared {
  volatile int* flag = nullptr;  // pinned, written by the device
  int calls = 0;
  int wrong = 0;
  int next = 1;
};

void look(void* data) {
  auto* shared = static_cast<Shared*>(data);
  shared->calls += 1;
  if (*shared->flag != shared->next) shared->wrong += 1;
  shared->next += 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = static_cast<int>(counted::option(argc, argv, "--rounds", 20));
  counted::require_device();

  cudaStream_t first, second;
  CALL(cudaStreamCreateWithFlags, &first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &second, cudaStreamNonBlocking);
  cudaEvent_t looked, stored;
  CALL(cudaEventCreateWithFlags, &looked, cudaEventDisableTiming);
  CALL(cudaEventCreateWithFlags, &stored, cudaEventDisableTiming);
  Shared shared;
  CALL(cudaHostAlloc, reinterpret_cast<void**>(const_cast<int**>(&shared.flag)), sizeof(int),
       cudaHostAllocMapped);
  *shared.flag = 0;
  int* flag = nullptr;
  CALL(cudaHostGetDevicePointer, reinterpret_cast<void**>(&flag), const_cast<int*>(shared.flag), 0);

  for (int round = 0; round < rounds;
       ++round) {  // the value counts 1, 2, 3, ... only if the streams take turns
    counted::launch(store, 1, 1, first, static_cast<volatile int*>(flag), 2 * round + 1);
    CALL(cudaLaunchHostFunc, first, look, &shared);
    CALL(cudaEventRecord, looked, first);
    CALL(cudaStreamWaitEvent, second, looked, 0);
    counted::launch(store, 1, 1, second, static_cast<volatile int*>(flag), 2 * round + 2);
    CALL(cudaLaunchHostFunc, second, look, &shared);
    CALL(cudaEventRecord, stored, second);
    CALL(cudaStreamWaitEvent, first, stored, 0);
  }
  CALL(cudaDeviceSynchronize);
  counted::expect("host function calls", 2 * rounds, shared.calls);
  counted::expect("host functions that saw a wrong value", 0, shared.wrong);
  counted::report("host_function");
}
