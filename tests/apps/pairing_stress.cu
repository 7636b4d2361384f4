// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Very many waits on few events that are continually recorded again, destroyed and created, from
// two threads that never call at the same moment: every wait has exactly one possible record.
//   pairing_stress [--waits N]
#include <atomic>
#include <random>
#include <thread>

#include "counted.h"

namespace {

constexpr int kStreams = 4;
constexpr int kEvents = 6;

__global__ void nothing() {}

struct Shared {
  std::atomic<int> turn{0};  // the thread that may call
  cudaStream_t streams[kStreams];
  cudaEvent_t events[kEvents];
  bool recorded[kEvents] = {};
  long long waits_left = 0;
  long long exact = 0;
  long long never_recorded = 0;
};

/// One call, or two to replace an event.
void step(Shared& shared, std::minstd_rand& random) {
  auto pick = [&](int count) { return static_cast<int>(random() % count); };
  const int event = pick(kEvents);
  const int what = pick(1000);
  if (what < 2) {
    CALL(cudaEventDestroy, shared.events[event]);
    CALL(cudaEventCreateWithFlags, &shared.events[event], cudaEventDisableTiming);
    shared.recorded[event] = false;
  } else if (what < 10) {
    counted::launch(nothing, 1, 1, shared.streams[pick(kStreams)]);
  } else if (what < 500) {
    if (what % 2 == 0) {
      CALL(cudaEventRecord, shared.events[event], shared.streams[pick(kStreams)]);
    } else {
      CALL(cudaEventRecordWithFlags, shared.events[event], shared.streams[pick(kStreams)],
           cudaEventRecordDefault);
    }
    shared.recorded[event] = true;
  } else {
    CALL(cudaStreamWaitEvent, shared.streams[pick(kStreams)], shared.events[event], 0);
    (shared.recorded[event] ? shared.exact : shared.never_recorded) += 1;
    shared.waits_left -= 1;
    if (shared.waits_left % 4096 == 0) CALL(cudaDeviceSynchronize);
  }
}

/// Thread `me` of two: some calls, then the other's turn.
void hammer(Shared& shared, int me) {
  std::minstd_rand random(me + 1);
  for (bool more = true; more;) {
    while (shared.turn.load(std::memory_order_acquire) != me) {
    }
    for (unsigned calls = 1 + random() % 4; calls > 0 && shared.waits_left > 0; --calls)
      step(shared, random);
    more = shared.waits_left > 0;
    shared.turn.store(1 - me, std::memory_order_release);
  }
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  Shared shared;
  shared.waits_left = counted::option(argc, argv, "--waits", 110'000);
  for (cudaStream_t& stream : shared.streams)
    CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  for (cudaEvent_t& event : shared.events)
    CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
  std::thread other(hammer, std::ref(shared), 1);
  hammer(shared, 0);
  other.join();
  CALL(cudaDeviceSynchronize);
  counted::note("exact_waits", static_cast<double>(shared.exact));
  counted::note("never_recorded_waits", static_cast<double>(shared.never_recorded));
  counted::report("pairing_stress");
}
