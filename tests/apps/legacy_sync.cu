// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which streams does synchronizing with a stream wait for besides that stream: with a kernel on the
// legacy default stream that runs until the host releases it, are other streams done?
//   legacy_sync
// One JSON line per case: how long the call took, and whether the kernel had been released by then.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "counted.h"

namespace {

constexpr int kHeldMs = 200;

__global__ void wait_until_set(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void nothing() {}

struct Case {
  const char* name;
  cudaStream_t gate;           // where the kernel runs
  std::function<void()> then;  // issued behind it
  std::function<cudaError_t()> ask;
};

}  // namespace

int main() {
  counted::require_device();
  volatile int* flag = nullptr;
  void* memory = nullptr;
  CALL(cudaHostAlloc, &memory, sizeof(int), cudaHostAllocMapped);
  flag = static_cast<volatile int*>(memory);
  cudaStream_t used, fresh, free_one;
  CALL(cudaStreamCreate, &used);
  CALL(cudaStreamCreate, &fresh);
  CALL(cudaStreamCreateWithFlags, &free_one, cudaStreamNonBlocking);
  cudaEvent_t event;
  CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
  // Load the kernels: a first launch may wait for the device.
  *flag = 1;
  counted::launch(wait_until_set, 1, 1, used, flag);
  counted::launch(nothing, 1, 1, cudaStreamPerThread);
  CALL(cudaDeviceSynchronize);

  const auto none = [] {};
  const auto synchronize = [](cudaStream_t stream) {
    return [=] { return TRY(cudaStreamSynchronize, stream); };
  };
  const auto query = [](cudaStream_t stream) {
    return [=] { return TRY(cudaStreamQuery, stream); };
  };
  const Case cases[] = {
      {"blocking, idle", cudaStreamLegacy, none, synchronize(used)},
      {"blocking, never used", cudaStreamLegacy, none, synchronize(fresh)},
      {"per-thread, idle", cudaStreamLegacy, none, synchronize(cudaStreamPerThread)},
      {"blocking, idle, query", cudaStreamLegacy, none, query(used)},
      {"non-blocking, idle", cudaStreamLegacy, none, synchronize(free_one)},
      {"blocking, record behind", cudaStreamLegacy, [&] { CALL(cudaEventRecord, event, used); },
       synchronize(used)},
      {"blocking, kernel behind", cudaStreamLegacy, [&] { counted::launch(nothing, 1, 1, used); },
       synchronize(used)},
      {"legacy, kernel on blocking", used, none, synchronize(cudaStreamLegacy)},
  };
  for (const Case& c : cases) {
    *flag = 0;
    std::atomic<bool> released{false};
    counted::launch(wait_until_set, 1, 1, c.gate, flag);
    c.then();
    std::thread releaser([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(kHeldMs));
      released = true;
      *flag = 1;
    });
    const auto begin = std::chrono::steady_clock::now();
    const cudaError_t answer = c.ask();
    const bool waited = released;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    releaser.join();
    CALL(cudaDeviceSynchronize);
    std::printf("{\"case\": \"%s\", \"answer\": %d, \"waited\": %s, \"ms\": %.3f}\n", c.name,
                answer, waited ? "true" : "false", took.count());
  }
  counted::report("legacy_sync");
}
