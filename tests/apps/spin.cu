// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Works until it is killed, and prints now and then how many calls had returned by then, with the
// time on CLOCK_MONOTONIC. What it printed must be in the recording.
//   spin [--seconds N]
#include <time.h>
#include <unistd.h>

#include "counted.h"

namespace {

__global__ void tick(int* value) { atomicAdd(value, 1); }

long long monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  const long long seconds = counted::option(argc, argv, "--seconds", 30);
  counted::require_device();
  constexpr int kStreams = 3;
  cudaStream_t streams[kStreams];
  cudaEvent_t events[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    CALL(cudaStreamCreateWithFlags, &streams[i], cudaStreamNonBlocking);
    CALL(cudaEventCreateWithFlags, &events[i], cudaEventDisableTiming);
  }
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), sizeof(int));
  CALL(cudaMemsetAsync, value, 0, sizeof(int), streams[0]);
  CALL(cudaStreamSynchronize, streams[0]);

  const long long end = monotonic_ns() + seconds * 1'000'000'000LL;
  long long rounds = 0;
  while (monotonic_ns() < end) {
    for (int i = 0; i < 10; ++i, ++rounds) {
      const int here = static_cast<int>(rounds % kStreams), next = (here + 1) % kStreams;
      counted::launch(tick, 1, 1, streams[here], value);
      CALL(cudaEventRecord, events[here], streams[here]);
      CALL(cudaStreamWaitEvent, streams[next], events[here], 0);
    }
    if (rounds % 200 == 0) CALL(cudaStreamSynchronize, streams[rounds % kStreams]);
    char line[128];
    const int length =
        std::snprintf(line, sizeof line, "{\"pid\": %d, \"rounds\": %lld}\n", getpid(), rounds);
    if (write(STDOUT_FILENO, line, length) != length) return 1;
    usleep(300);
  }
  CALL(cudaDeviceSynchronize);
  counted::report("spin");
}
