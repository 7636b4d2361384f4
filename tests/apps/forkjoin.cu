// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Forks one stream to n and joins them again, round after round, by events that never take times.
//   forkjoin [--rounds N] [--branches N]
#include <vector>

#include "counted.h"

namespace {

__global__ void produce(int* value) { *value += 1; }
__global__ void work(const int* value, int* result) { *result += *value; }

}  // namespace

int main(int argc, char** argv) {
  const int rounds = static_cast<int>(counted::option(argc, argv, "--rounds", 50));
  const int branches = static_cast<int>(counted::option(argc, argv, "--branches", 4));
  counted::require_device();

  cudaStream_t trunk;
  CALL(cudaStreamCreateWithFlags, &trunk, cudaStreamNonBlocking);
  std::vector<cudaStream_t> streams(branches);
  for (cudaStream_t& stream : streams)
    CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  cudaEvent_t forked;
  CALL(cudaEventCreateWithFlags, &forked, cudaEventDisableTiming);
  std::vector<cudaEvent_t> joined(branches);
  for (cudaEvent_t& event : joined) CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);

  int* device = nullptr;  // [0] is the trunk's value, [1 + b] the sum of branch b
  const size_t bytes = (1 + branches) * sizeof(int);
  CALL(cudaMalloc, reinterpret_cast<void**>(&device), bytes);
  CALL(cudaMemsetAsync, device, 0, bytes, trunk);
  for (int round = 0; round < rounds; ++round) {
    counted::launch(produce, 1, 1, trunk, device);
    CALL(cudaEventRecord, forked, trunk);
    for (int b = 0; b < branches; ++b) {
      CALL(cudaStreamWaitEvent, streams[b], forked, 0);
      counted::launch(work, 1, 1, streams[b], static_cast<const int*>(device), device + 1 + b);
      CALL(cudaEventRecord, joined[b], streams[b]);
      CALL(cudaStreamWaitEvent, trunk, joined[b], 0);
    }
  }
  std::vector<int> host(1 + branches);
  CALL(cudaMemcpyAsync, host.data(), device, bytes, cudaMemcpyDeviceToHost, trunk);
  CALL(cudaStreamSynchronize, trunk);
  counted::expect("value of the trunk", rounds, host[0]);
  for (int b = 0; b < branches; ++b) {
    counted::expect("sum of a branch", static_cast<long long>(rounds) * (rounds + 1) / 2,
                    host[1 + b]);
  }
  counted::report("forkjoin");
}
