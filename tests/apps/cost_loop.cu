// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one CUDA call costs: batches of 3000 calls (launch, record, wait on 4 streams), never more
// than 900 operations queued in a stream; draining is outside the timed part. Bare, under a
// collector, or as a client of CUPTI itself, which gives the floor that no collector can go below:
//   cost_loop                             one batch, and what it took
//   cost_loop GO DONE                     whatever is attached from outside
//   cost_loop GO DONE --floor             empty handlers on launch, record and wait
//   cost_loop GO DONE --floor-runtime     the same in the runtime only, not in the driver
//   cost_loop GO DONE --floor-kernel      as --floor, and kernel activity
//   cost_loop GO DONE --kernel-activity   kernel activity, no subscriber
// GO and DONE are named pipes: each line on GO asks for one batch, whose ns per call is the answer
// on DONE; the end of GO ends the program. So several processes take turns within milliseconds,
// all on one processor, and what a neighbor does to the host, it does to all of them.
#include <chrono>
#include <fstream>
#include <string>

#include "counted.h"
#include "cupti_client.h"

namespace {

constexpr int kStreams = 4;
// 250 launches, records and waits each in every stream: 750 operations.
constexpr int kRoundsPerBatch = 1000;
// Before each batch, untimed: the caches belonged to another process.
constexpr int kWarmUpRounds = 100;

__global__ void nothing() {}

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

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
  uint64_t rounds = 0;
  auto batch = [&](int count) {
    cudaError_t error = cudaSuccess;
    for (int round = 0; round < count; ++round) {
      const int here = round % kStreams, next = (round + 1) % kStreams;
      nothing<<<1, 32, 0, streams[here]>>>();
      error = cudaEventRecord(events[here], streams[here]);
      if (error != cudaSuccess) break;
      error = cudaStreamWaitEvent(streams[next], events[here], 0);
      if (error != cudaSuccess) break;
    }
    counted::check(error, "record or wait", __FILE__, __LINE__);
    rounds += count;
  };
  batch(kRoundsPerBatch);
  CALL(cudaDeviceSynchronize);
  counted::pin_this_thread();
  auto turn = [&] {
    batch(kWarmUpRounds);
    CALL(cudaDeviceSynchronize);
    const auto start = std::chrono::steady_clock::now();
    batch(kRoundsPerBatch);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    CALL(cudaDeviceSynchronize);
    return spent.count() / (3.0 * kRoundsPerBatch);
  };
  if (argc < 3) {
    counted::note("ns_per_call", turn());
  } else {
    std::ifstream go(argv[1]);
    std::ofstream done(argv[2]);
    for (std::string line; std::getline(go, line);) done << turn() << std::endl;
  }
  CALL(cudaGetLastError);
  counted::add("cudaLaunchKernel", rounds);
  counted::add("cudaEventRecord", rounds);
  counted::add("cudaStreamWaitEvent", rounds);
  counted::report("cost_loop");
}
