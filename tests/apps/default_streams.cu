// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels in every kind of stream under every name it has: 0, cudaStreamLegacy, cudaStreamPerThread
// (of two threads), a blocking and a non-blocking stream. Built for both meanings of stream 0; the
// report says which kernels belong to which kind.
#include <thread>

#include "counted.h"

namespace {

__global__ void add(int* value, int amount) { atomicAdd(value, amount); }

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
constexpr bool kZeroIsPerThread = true;
#else
constexpr bool kZeroIsPerThread = false;
#endif

constexpr int kRounds = 8;

void use_default_streams(int* value) {
  for (int round = 0; round < kRounds; ++round) {
    counted::launch(add, 1, 1, static_cast<cudaStream_t>(nullptr), value, 1);
    counted::launch(add, 1, 1, cudaStreamPerThread, value, 1);
  }
  CALL(cudaStreamSynchronize, static_cast<cudaStream_t>(nullptr));
  CALL(cudaStreamSynchronize, cudaStreamPerThread);
}

}  // namespace

int main() {
  counted::require_device();
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), sizeof(int));
  CALL(cudaMemsetAsync, value, 0, sizeof(int), cudaStreamLegacy);
  CALL(cudaDeviceSynchronize);

  cudaStream_t blocking, non_blocking;
  CALL(cudaStreamCreate, &blocking);
  CALL(cudaStreamCreateWithFlags, &non_blocking, cudaStreamNonBlocking);
  cudaEvent_t event;
  CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);

  use_default_streams(value);
  std::thread other(use_default_streams, value);
  other.join();
  for (int round = 0; round < kRounds; ++round) {
    counted::launch(add, 1, 1, cudaStreamLegacy, value, 1);
    CALL(cudaEventRecord, event, cudaStreamLegacy);
    CALL(cudaStreamWaitEvent, non_blocking, event, 0);
    counted::launch(add, 1, 1, non_blocking, value, 1);
    counted::launch(add, 1, 1, blocking, value, 1);
    CALL(cudaEventRecord, event, static_cast<cudaStream_t>(nullptr));
    CALL(cudaStreamWaitEvent, blocking, event, 0);
  }
  int host = 0;
  CALL(cudaDeviceSynchronize);
  CALL(cudaMemcpyAsync, &host, value, sizeof(int), cudaMemcpyDeviceToHost, non_blocking);
  CALL(cudaStreamSynchronize, non_blocking);
  counted::expect("additions", 7 * kRounds, host);

  // Kernels, copies and memsets by kind of stream; two threads, so two per-thread default streams.
  const int zero = 2 * kRounds;
  const int legacy = kRounds + 1 + (kZeroIsPerThread ? 0 : zero);
  const int per_thread = 2 * kRounds + (kZeroIsPerThread ? zero : 0);
  counted::note("ops_by_stream_kind",
                "{\"legacy\": " + std::to_string(legacy) + ", \"per-thread\": " +
                    std::to_string(per_thread) + ", \"blocking\": " + std::to_string(kRounds) +
                    ", \"non-blocking\": " + std::to_string(kRounds + 1) + "}");
  counted::note(
      "streams_by_kind",
      std::string("{\"legacy\": 1, \"per-thread\": 2, \"blocking\": 1, \"non-blocking\": 1}"));
  counted::report(kZeroIsPerThread ? "default_streams_ptds" : "default_streams");
}
