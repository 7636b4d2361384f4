// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Waits whose event has no record: never recorded, destroyed and created again, or recorded inside
// a capture. The report gives how many waits bind to what.
//   never_recorded [--rounds N]
#include "counted.h"

namespace {

__global__ void add(int* value) { *value += 1; }

}  // namespace

int main(int argc, char** argv) {
  const int rounds = static_cast<int>(counted::option(argc, argv, "--rounds", 10));
  counted::require_device();

  cudaStream_t first, second;
  CALL(cudaStreamCreateWithFlags, &first, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &second, cudaStreamNonBlocking);
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), sizeof(int));
  CALL(cudaMemsetAsync, value, 0, sizeof(int), first);

  int never_recorded = 0, exact = 0, never_recorded_host = 0;
  cudaEvent_t never;
  CALL(cudaEventCreateWithFlags, &never, cudaEventDisableTiming);
  for (int round = 0; round < rounds; ++round) {
    CALL(cudaStreamWaitEvent, second, never, 0);
    never_recorded += 1;

    // A new event, usually at the address of the one destroyed last: its first wait also binds to
    // nothing.
    cudaEvent_t event;
    CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
    CALL(cudaStreamWaitEvent, second, event, 0);
    never_recorded += 1;
    counted::launch(add, 1, 1, first, value);
    CALL(cudaEventRecord, event, first);
    CALL(cudaStreamWaitEvent, second, event, 0);
    exact += 1;
    counted::launch(add, 1, 1, second, value);
    CALL(cudaEventRecord, event, second);
    CALL(cudaStreamWaitEvent, first, event, 0);
    exact += 1;
    CALL(cudaEventDestroy, event);
  }
  counted::expect("cudaEventQuery of a never recorded event", 0, TRY(cudaEventQuery, never));
  CALL(cudaEventSynchronize, never);
  never_recorded_host += 2;

  // Inside a capture record and wait make edges of the graph, and bind nothing outside it.
  cudaEvent_t forked, joined;
  CALL(cudaEventCreateWithFlags, &forked, cudaEventDisableTiming);
  CALL(cudaEventCreateWithFlags, &joined, cudaEventDisableTiming);
  counted::Capture capture(first);
  CALL(cudaEventRecord, forked, first);
  CALL(cudaStreamWaitEvent, second, forked, 0);
  counted::launch(add, 1, 1, second, value);
  CALL(cudaEventRecord, joined, second);
  CALL(cudaStreamWaitEvent, first, joined, 0);
  cudaGraph_t graph = capture.end();
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate, &executable, graph, 0);
  CALL(cudaGraphLaunch, executable, first);

  // Recorded again outside, the same event binds as usual.
  CALL(cudaEventRecord, joined, first);
  CALL(cudaStreamWaitEvent, second, joined, 0);
  exact += 1;

  int host = 0;
  CALL(cudaMemcpyAsync, &host, value, sizeof(int), cudaMemcpyDeviceToHost, second);
  CALL(cudaStreamSynchronize, second);
  counted::expect("additions", 2 * rounds + 1, host);
  CALL(cudaGraphExecDestroy, executable);
  CALL(cudaGraphDestroy, graph);
  counted::note("exact_waits", exact);
  counted::note("never_recorded_waits", never_recorded);
  counted::note("never_recorded_host_syncs", never_recorded_host);
  counted::report("never_recorded");
}
