// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one CUDA call costs: 240,000 calls (launch, record, wait on 4 streams), never more than 900
// operations queued in a stream; draining is outside the timed part. Prints ns per call, the median
// of 80 batches, so that a neighbour's burst on the host does not count. Bare, under a collector,
// or as a client of CUPTI itself, which gives the floor that no collector can go below:
//   cost_loop                     whatever is attached from outside
//   cost_loop --floor             empty handlers on launch, record and wait, runtime and driver
//   cost_loop --floor-runtime     the same, runtime only
//   cost_loop --floor-kernel      as --floor, and kernel activity
//   cost_loop --kernel-activity   kernel activity, no subscriber
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "counted.h"
#include "cupti_client.h"

namespace {

constexpr int kStreams = 4;
constexpr int kRoundsPerBatch =
    1000;  // 250 launches, records and waits each in every stream: 750 operations
constexpr int kBatches = 80;
constexpr int kWarmUpBatches = 4;

__global__ void nothing() {}

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

/// Keeps the measuring thread on one processor; threads that CUDA or a collector started before
/// stay free.
void pin_this_thread() {
  cpu_set_t allowed;
  if (pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  for (int cpu = CPU_SETSIZE - 1; cpu > 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    pthread_setaffinity_np(pthread_self(), sizeof only, &only);
    return;
  }
}

/// How fast this process's processor runs: ns for a fixed chain of integer work.
double calibration_ns() {
  const auto start = std::chrono::steady_clock::now();
  uint64_t value = 1;
  for (int i = 0; i < 10'000'000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  const auto spent = std::chrono::steady_clock::now() - start;
  volatile uint64_t sink = value;
  (void)sink;
  return std::chrono::duration<double, std::nano>(spent).count();
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const bool floor_kernel = counted::flag(argc, argv, "--floor-kernel");
  const bool floor_runtime = counted::flag(argc, argv, "--floor-runtime");
  if (floor_kernel || floor_runtime || counted::flag(argc, argv, "--floor")) {
    CUpti_SubscriberHandle subscriber = cupti_client::subscribe(ignore);
    cupti_client::enable(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, cupti_client::kRuntimeCalls);
    if (!floor_runtime)
      cupti_client::enable(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cupti_client::kDriverCalls);
  }
  if (floor_kernel || counted::flag(argc, argv, "--kernel-activity"))
    cupti_client::enable_kernel_activity();

  cudaStream_t streams[kStreams];
  cudaEvent_t events[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    CALL(cudaStreamCreateWithFlags, &streams[i], cudaStreamNonBlocking);
    CALL(cudaEventCreateWithFlags, &events[i], cudaEventDisableTiming);
  }
  auto batch = [&] {
    cudaError_t error = cudaSuccess;
    for (int round = 0; round < kRoundsPerBatch; ++round) {
      const int here = round % kStreams, next = (round + 1) % kStreams;
      nothing<<<1, 32, 0, streams[here]>>>();
      error = cudaEventRecord(events[here], streams[here]);
      if (error != cudaSuccess) break;
      error = cudaStreamWaitEvent(streams[next], events[here], 0);
      if (error != cudaSuccess) break;
    }
    counted::check(error, "record or wait", __FILE__, __LINE__);
  };
  for (int i = 0; i < kWarmUpBatches; ++i) {
    batch();
    CALL(cudaDeviceSynchronize);
  }
  pin_this_thread();
  std::array<std::chrono::nanoseconds, kBatches> spent;
  for (std::chrono::nanoseconds& time : spent) {
    const auto start = std::chrono::steady_clock::now();
    batch();
    time = std::chrono::steady_clock::now() - start;
    CALL(cudaDeviceSynchronize);
  }
  std::nth_element(spent.begin(), spent.begin() + kBatches / 2, spent.end());
  CALL(cudaGetLastError);
  counted::note("calibration_ns", calibration_ns());
  constexpr uint64_t kRounds = uint64_t{kRoundsPerBatch} * (kBatches + kWarmUpBatches);
  counted::add("cudaLaunchKernel", kRounds);
  counted::add("cudaEventRecord", kRounds);
  counted::add("cudaStreamWaitEvent", kRounds);
  constexpr double kCallsPerBatch = 3.0 * kRoundsPerBatch;
  counted::note("timed_calls", kCallsPerBatch * kBatches);
  counted::note("ns_per_call", static_cast<double>(spent[kBatches / 2].count()) / kCallsPerBatch);
  counted::report("cost_loop");
}
