// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ends in every way at every stage of its work with a GPU:
//   crash HOW WHEN  and prints {"launches": N, "records": N, "waits": N} before it
//   crash --list    prints all HOW WHEN
// What it printed had returned by then, so it must be in the recording.
#include <cuda_runtime.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "counted.h"
#include "support/endings.h"

namespace {

using endings::End;

__global__ void tick(int* value) { atomicAdd(value, 1); }
__global__ void spin(long long clocks) {
  for (const long long begin = clock64(); clock64() - begin < clocks;) {
  }
}
__global__ void write_to_nowhere() { *reinterpret_cast<volatile int*>(8) = 1; }

constexpr int kStreams = 3;
cudaStream_t streams[kStreams];
cudaEvent_t events[kStreams];
int* value = nullptr;
std::atomic<long long> rounds{0};

void say() {
  char line[96];
  const long long seen = rounds;
  const int length =
      std::snprintf(line, sizeof line, "{\"launches\": %lld, \"records\": %lld, \"waits\": %lld}\n",
                    seen, seen, seen);
  if (write(STDOUT_FILENO, line, static_cast<size_t>(length)) != length) _exit(1);
}

void expect(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
  _exit(3);
}

void start() {
  counted::require_device();
  for (int i = 0; i < kStreams; ++i) {
    expect(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    expect(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
  }
  expect(cudaMalloc(reinterpret_cast<void**>(&value), sizeof(int)));
  expect(cudaMemset(value, 0, sizeof(int)));
}

/// False once CUDA returns an error.
bool step() {
  const int here = static_cast<int>(rounds % kStreams), next = (here + 1) % kStreams;
  tick<<<1, 1, 0, streams[here]>>>(value);
  if (cudaGetLastError() != cudaSuccess ||
      cudaEventRecord(events[here], streams[here]) != cudaSuccess ||
      cudaStreamWaitEvent(streams[next], events[here], 0) != cudaSuccess)
    return false;
  ++rounds;
  return true;
}

void work(int count) {
  for (int i = 0; i < count; ++i) {
    if (!step()) _exit(3);
  }
}

void keep_busy(int ms) { spin<<<1, 1, 0, streams[0]>>>(ms * 1'800'000LL); }

// How it ends, if CUDA is involved.
void meets_sticky_error() {
  write_to_nowhere<<<1, 1>>>();
  for (int i = 0; i < 3; ++i) {
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) _exit(3);
  }
  std::exit(endings::kAnError);
}
void resets_device() {
  expect(cudaDeviceReset());
  std::exit(0);
}

// At which stage.
void before_cuda(End end) {
  say();
  end();
}
void started(End end) {
  start();
  say();
  end();
}
void working(End end) {
  start();
  work(300);
  say();
  end();
}
void delivered(End end) {
  start();
  work(300);
  expect(cudaDeviceSynchronize());
  usleep(250'000);
  say();
  end();
}
void while_the_gpu_works(End end) {
  start();
  work(100);
  keep_busy(300);
  work(100);
  say();
  end();
}
void inside_a_call(End end) {
  start();
  work(100);
  keep_busy(600);
  std::thread([end] {
    usleep(100'000);
    say();
    end();
  }).detach();
  (void)cudaStreamSynchronize(streams[0]);  // an error, if the thread above makes one
  endings::linger();
}
void while_others_work(End end) {
  start();
  std::thread([] {
    while (step()) {
    }
  }).detach();
  while (rounds < 3000) usleep(100);
  say();
  end();
}
void replaying_a_graph(End end) {
  start();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  expect(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 20; ++i) tick<<<1, 1, 0, streams[0]>>>(value);
  expect(cudaStreamEndCapture(streams[0], &graph));
  expect(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 50; ++i) {
    expect(cudaGraphLaunch(executable, streams[0]));
    work(1);
  }
  say();
  end();
}

constexpr endings::Stage kStages[] = {
    {"before-cuda", before_cuda},
    {"started", started},
    {"working", working},
    {"delivered", delivered},
    {"while-the-gpu-works", while_the_gpu_works},
    {"inside-a-call", inside_a_call},
    {"while-others-work", while_others_work},
    {"replaying-a-graph", replaying_a_graph},
};

}  // namespace

int main(int argc, char** argv) {
  return endings::run({argv + 1, argv + argc}, {meets_sticky_error, resets_device}, kStages);
}
