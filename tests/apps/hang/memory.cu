// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that wait for words of memory.
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "hang.h"

namespace hang {
namespace {

void lost_signal() {
  const cudaStream_t stream = make_stream();
  volatile uint32_t* flags = make_flags();
  wait_value(stream, flags, 1);
  launch_delay(stream, 1e-6);
  wait_for_stream(stream);
}

void crossed_signals() {
  const cudaStream_t left = make_stream(), right = make_stream();
  volatile uint32_t* flags = make_flags();
  wait_value(left, flags + 1, 1);
  write_value(left, flags, 1);
  wait_value(right, flags, 1);
  write_value(right, flags + 1, 1);
  wait_for_stream(left);
}

std::mutex hungry;
std::condition_variable never_notified;

__attribute__((noinline)) void waits_for_food() {
  std::unique_lock hold(hungry);
  never_notified.wait(hold);
}

// The thread that made the releasing writes so far makes no more.
void host_not_feeding() {
  const cudaStream_t consumer = make_stream(), producer = make_stream();
  volatile uint32_t* flags = make_flags();
  std::thread feeder([&] {
    for (uint32_t step = 1; step <= 5; ++step) write_value(producer, flags, step);
    waits_for_food();
  });
  usleep(100'000);
  for (uint32_t step = 1; step <= 6; ++step) {
    wait_value(consumer, flags, step);
    launch_delay(consumer, 1e-6);
  }
  wait_for_stream(consumer);
  feeder.join();
}

// A stream takes about 1,000 operations; the thread that would release the first is stuck behind.
void full_queue() {
  const cudaStream_t stream = make_stream();
  volatile uint32_t* flags = make_flags();
  wait_value(stream, flags, 1);
  for (int i = 0; i < 2000; ++i) launch_delay(stream, 1e-6);
  flags[0] = 1;
}

// A graph waits, from outside, for a record that is behind a blocked stream.
void graph_behind_record() {
  const cudaStream_t blocked = make_stream(), capturing = make_stream();
  const cudaEvent_t done = make_event();
  volatile uint32_t* flags = make_flags();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
  CHECK(cudaStreamWaitEvent(capturing, done, cudaEventWaitExternal));
  launch_delay(capturing, 1e-6);
  CHECK(cudaStreamEndCapture(capturing, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  wait_value(blocked, flags, 1);
  CHECK(cudaEventRecord(done, blocked));
  CHECK(cudaGraphLaunch(executable, capturing));
  wait_for_stream(capturing);
}

void endless_poll() {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t done = make_event();
  volatile uint32_t* flags = make_flags();
  wait_value(stream, flags, 1);
  CHECK(cudaEventRecord(done, stream));
  while (cudaEventQuery(done) == cudaErrorNotReady) usleep(1000);
}

constexpr Program kPrograms[] = {
    {"lost-signal", "lost-signal", "waits for a value that is never written", lost_signal},
    {"crossed-signals", "deadlock", "wait for each other", crossed_signals},
    {"host-not-feeding", "host-not-feeding", "waits_for_food", host_not_feeding},
    {"full-queue", "launch-queue-full", "the queue of stream .* is full", full_queue},
    {"graph-behind-record", "lost-signal", "waits for a value that is never written",
     graph_behind_record},
    {"endless-poll", "lost-signal", "in cu(da)?EventQuery", endless_poll},
};

}  // namespace

std::span<const Program> memory_programs() { return kPrograms; }

}  // namespace hang
