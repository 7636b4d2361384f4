// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which record does a wait take when threads race on one event? The GPU itself shows it. In each
// trial the event has an older record in stream C; one thread records it in A, one in B, and a
// third makes W wait for it. A and C are blocked by kernels that spin on a host flag, B is free. If
// W continues at once, the wait took B's record; if only after A was released, A's; if only after
// C, the older one.
//   pairing_race [--trials N]
// The report's "truth" has one letter per trial; "streams" has the handles. Trial k is the k-th
// record of A, B and C and the k-th wait of W.
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "counted.h"

namespace {

constexpr auto kPatience = std::chrono::microseconds(150);  // a free W continues within some 10 us

/// Spins until `*gate` reaches `trial`; gives up after about two seconds so that a fault cannot
/// hang the GPU.
__global__ void hold(const volatile int* gate, int trial) {
  const long long start = clock64();
  while (*gate < trial && clock64() - start < 4'000'000'000LL) {
  }
}
__global__ void report(volatile int* done, int trial) {
  *done = trial;
  __threadfence_system();
}

volatile int* mapped_flag(int** device) {
  int* host = nullptr;
  CALL(cudaHostAlloc, reinterpret_cast<void**>(&host), sizeof(int), cudaHostAllocMapped);
  CALL(cudaHostGetDevicePointer, reinterpret_cast<void**>(device), host, 0);
  *host = 0;
  return host;
}

void spin_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Race {
  cudaStream_t a, b, c, w;
  cudaEvent_t event;
  std::atomic<int> trial{0};     // raised by main: go
  std::atomic<int> finished{0};  // calls made in all trials
  int trials = 0;
};

/// Thread `who` (0 records in A, 1 in B, 2 makes W wait) makes its one call in each trial, after a
/// random pause.
void racer(Race& race, int who) {
  std::minstd_rand random(17 + who);
  for (int trial = 1; trial <= race.trials; ++trial) {
    while (race.trial.load(std::memory_order_acquire) < trial) {
    }
    constexpr int kSpreadNs[] = {600, 5'000, 30'000};
    const int spread = kSpreadNs[trial % 3];
    spin_for(std::chrono::nanoseconds(random() % spread));
    if (who == 0) CALL(cudaEventRecord, race.event, race.a);
    if (who == 1) CALL(cudaEventRecord, race.event, race.b);
    if (who == 2) CALL(cudaStreamWaitEvent, race.w, race.event, 0);
    race.finished.fetch_add(1, std::memory_order_release);
  }
}

bool reaches(const volatile int* flag, int trial, std::chrono::nanoseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (*flag != trial) {
    if (std::chrono::steady_clock::now() > end) return *flag == trial;
  }
  return true;
}

std::string handle(cudaStream_t stream) {
  return std::to_string(reinterpret_cast<uintptr_t>(stream));
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  Race race;
  race.trials = static_cast<int>(counted::option(argc, argv, "--trials", 10'000));
  for (cudaStream_t* stream : {&race.a, &race.b, &race.c, &race.w}) {
    CALL(cudaStreamCreateWithFlags, stream, cudaStreamNonBlocking);
  }
  CALL(cudaEventCreateWithFlags, &race.event, cudaEventDisableTiming);
  int *device_gate_a = nullptr, *device_gate_c = nullptr, *device_done = nullptr;
  volatile int* gate_a = mapped_flag(&device_gate_a);
  volatile int* gate_c = mapped_flag(&device_gate_c);
  volatile int* done = mapped_flag(&device_done);
  // Load every kernel now: a first launch may wait for the device.
  *gate_a = 1;
  counted::launch(hold, 1, 1, race.a, static_cast<const volatile int*>(device_gate_a), 1);
  counted::launch(report, 1, 1, race.w, static_cast<volatile int*>(device_done), 0);
  CALL(cudaDeviceSynchronize);
  *gate_a = 0;

  std::thread racers[] = {std::thread(racer, std::ref(race), 0),
                          std::thread(racer, std::ref(race), 1),
                          std::thread(racer, std::ref(race), 2)};
  std::string truth;
  for (int trial = 1; trial <= race.trials; ++trial) {
    counted::launch(hold, 1, 1, race.c, static_cast<const volatile int*>(device_gate_c), trial);
    CALL(cudaEventRecord, race.event, race.c);
    counted::launch(hold, 1, 1, race.a, static_cast<const volatile int*>(device_gate_a), trial);
    race.trial.store(trial, std::memory_order_release);
    while (race.finished.load(std::memory_order_acquire) < 3 * trial) {
    }
    counted::launch(report, 1, 1, race.w, static_cast<volatile int*>(device_done), trial);
    char taken = 'B';
    if (!reaches(done, trial, kPatience)) {
      taken = 'A';
      *gate_a = trial;
      if (!reaches(done, trial, kPatience)) {
        taken = 'C';
        *gate_c = trial;
        if (!reaches(done, trial, std::chrono::seconds(5)))
          counted::fail("stream W after all gates opened", trial, *done);
      }
    }
    *gate_a = trial;
    *gate_c = trial;
    truth += taken;
    CALL(cudaStreamSynchronize, race.a);
    CALL(cudaStreamSynchronize, race.c);
    CALL(cudaStreamSynchronize, race.w);
  }
  for (std::thread& thread : racers) thread.join();
  CALL(cudaDeviceSynchronize);
  counted::note("truth", "\"" + truth + "\"");
  counted::note("streams", "{\"A\": " + handle(race.a) + ", \"B\": " + handle(race.b) +
                               ", \"C\": " + handle(race.c) + ", \"W\": " + handle(race.w) + "}");
  counted::report("pairing_race");
}
