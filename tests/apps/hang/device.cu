// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that do not end, what gets stuck behind them, and the slow programs.
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <thread>

#include "hang.h"

namespace hang {

namespace {

__global__ void spin(volatile uint32_t* flag) {
  while (*flag == 0) {
  }
}
__global__ void delay(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
// All blocks must be resident at once: each waits until as many have arrived.
__global__ void persistent(uint32_t* arrived, uint32_t blocks) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < blocks) {
    }
  }
  __syncthreads();
}

}  // namespace

void launch_spin(cudaStream_t stream, volatile uint32_t* flag) {
  spin<<<1, 1, 0, stream>>>(flag);
  CHECK(cudaGetLastError());
}
void launch_delay(cudaStream_t stream, double seconds) {
  static const long long khz = [] {
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    return static_cast<long long>(value);
  }();
  delay<<<1, 1, 0, stream>>>(static_cast<long long>(seconds * 1e3 * static_cast<double>(khz)));
  CHECK(cudaGetLastError());
}
void wait_for_stream(cudaStream_t stream) { CHECK(cudaStreamSynchronize(stream)); }

namespace {

// Spins that ended, so that one that does not can be distinguished.
void spin_forever(cudaStream_t stream, volatile uint32_t* flags) {
  flags[1] = 1;
  for (int i = 0; i < 5; ++i) launch_spin(stream, flags + 1);
  CHECK(cudaStreamSynchronize(stream));
  launch_spin(stream, flags);
}

void stuck_kernel() {
  const cudaStream_t stream = make_stream();
  spin_forever(stream, make_flags());
  launch_delay(stream, 1e-6);
  wait_for_stream(stream);
}

void free_under_spin() {
  void* memory;
  CHECK(cudaMalloc(&memory, 1 << 20));
  const cudaStream_t stream = make_stream(), other = make_stream();
  launch_delay(other, 1e-6);
  spin_forever(stream, make_flags());
  std::thread thread([&] {
    usleep(100'000);
    launch_delay(other, 1e-6);
  });
  CHECK(cudaFree(memory));
  thread.join();
}

// Two grids of more blocks than fit: each holds part of the device and waits for the rest of its
// own blocks.
void persistent_kernels() {
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  uint32_t* arrived;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&arrived), 2 * sizeof *arrived));
  CHECK(cudaMemset(arrived, 0, 2 * sizeof *arrived));
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, persistent, 1024, 0));
  const auto blocks = static_cast<uint32_t>(processors * resident * 3 / 2);
  const cudaStream_t left = make_stream(), right = make_stream();
  persistent<<<blocks, 1024, 0, left>>>(arrived, blocks);
  persistent<<<blocks, 1024, 0, right>>>(arrived + 1, blocks);
  CHECK(cudaGetLastError());
  wait_for_stream(left);
}

void wait_behind_event() {
  const cudaStream_t stream = make_stream(), other = make_stream();
  const cudaEvent_t done = make_event();
  spin_forever(stream, make_flags());
  CHECK(cudaEventRecord(done, stream));
  CHECK(cudaStreamWaitEvent(other, done, 0));
  launch_delay(other, 1e-6);
  CHECK(cudaEventSynchronize(done));
}

constexpr Program kPrograms[] = {
    {"stuck-kernel", "stuck-kernel", "spin on stream .* does not end", stuck_kernel},
    {"free-under-spin", "implicit-sync", "cu(da|Mem)Free.* waits for all work", free_under_spin},
    {"persistent-kernels", "stuck-kernel", "persistent on stream .* does not end",
     persistent_kernels},
    {"wait-behind-event", "stuck-kernel", "spin on stream .* does not end", wait_behind_event},
};

// The slow ones: killed after some seconds, and not reported.

void long_kernels() {
  const cudaStream_t stream = make_stream();
  for (;;) {
    launch_delay(stream, 2.5);
    CHECK(cudaStreamSynchronize(stream));
  }
}

void many_queued() {
  const cudaStream_t stream = make_stream();
  for (;;) {
    for (int i = 0; i < 500; ++i) launch_delay(stream, 5e-3);
    CHECK(cudaStreamSynchronize(stream));
  }
}

void long_host_work() {
  const cudaStream_t stream = make_stream();
  launch_delay(stream, 1e-3);
  CHECK(cudaStreamSynchronize(stream));
  volatile double sum = 0;
  for (;;) sum = sum + 1;
}

void busy_producer() {
  const cudaStream_t consumer = make_stream(), producer = make_stream();
  volatile uint32_t* flags = make_flags();
  std::thread thread([&] {
    for (uint32_t step = 1; step <= 5; ++step) write_value(producer, flags, step);
    volatile double sum = 0;
    for (;;) sum = sum + 1;
  });
  usleep(100'000);
  for (uint32_t step = 1; step <= 6; ++step) wait_value(consumer, flags, step);
  wait_for_stream(consumer);
}

void idle_server() {
  const cudaStream_t stream = make_stream();
  launch_delay(stream, 1e-3);
  CHECK(cudaStreamSynchronize(stream));
  const int set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event;
  for (;;) (void)!epoll_wait(set, &event, 1, 60'000);
}

void unsynchronized_idle() {
  launch_delay(make_stream(), 0.5);
  for (;;) pause();
}

void stopped_by_debugger() {
  const cudaStream_t stream = make_stream();
  launch_delay(stream, 0.5);
  raise(SIGSTOP);
}

void poll_with_progress() {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t done = make_event();
  for (;;) {
    launch_delay(stream, 0.3);
    CHECK(cudaEventRecord(done, stream));
    while (cudaEventQuery(done) == cudaErrorNotReady) usleep(1000);
  }
}

constexpr Program kSlow[] = {
    {"long-kernels", "", "", long_kernels},
    {"many-queued", "", "", many_queued},
    {"long-host-work", "", "", long_host_work},
    {"busy-producer", "", "", busy_producer},
    {"idle-server", "", "", idle_server},
    {"unsynchronized-idle", "", "", unsynchronized_idle},
    {"stopped-by-debugger", "", "", stopped_by_debugger},
    {"poll-with-progress", "", "", poll_with_progress},
};

}  // namespace

std::span<const Program> device_programs() { return kPrograms; }
std::span<const Program> slow_programs() { return kSlow; }

}  // namespace hang
