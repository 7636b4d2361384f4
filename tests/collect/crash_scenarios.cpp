// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that end in every way at every stage of a recording: `crash HOW WHEN`. Before the end
// they print how many traced calls have returned: `calls N`.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>

#include "child.h"
#include "collect/cupti/decode.h"
#include "support/endings.h"

namespace child {
namespace {

using endings::End;

const auto kStreamA = handle<cudaStream_t>(0xa00a), kStreamB = handle<cudaStream_t>(0xb00b);
const auto kEvent = handle<cudaEvent_t>(0xe00e);

void say_calls(int count) {
  char line[32];
  const int length = std::snprintf(line, sizeof line, "calls %d\n", count);
  (void)!write(STDOUT_FILENO, line, static_cast<size_t>(length));
}

// After an illegal access of a kernel every call returns this.
void meets_sticky_error() {
  const cudaStreamSynchronize_v3020_params parameters{kStreamA};
  for (int i = 0; i < 3; ++i)
    runtime(RUNTIME_ID(cudaStreamSynchronize_v3020), parameters, {.result = 700});
  std::exit(endings::kAnError);
}
void resets_device() {
  const char none = 0;
  runtime(RUNTIME_ID(cudaDeviceReset_v3020), none);
  std::exit(0);
}

int step() {
  run_kernel(kStreamA, "kernel");
  record(kEvent, kStreamA);
  wait(kStreamB, kEvent);
  return 3;
}

int work() {
  int calls = 0;
  for (int i = 0; i < 100; ++i) calls += step();
  return calls;
}

void before_cuda(End end) {
  say_calls(0);
  end();
}
void started(End end) {
  cuInit(0);
  create_context();
  say_calls(0);
  end();
}
void working(End end) {
  started([] {});
  say_calls(work());
  end();
}
void delivered(End end) {
  started([] {});
  const int calls = work();
  pause_ms(150);  // a regular flush comes in between
  say_calls(calls);
  end();
}
void inside_a_call(End end) {
  started([] {});
  say_calls(work());
  const cudaStreamSynchronize_v3020_params parameters{kStreamA};
  runtime(RUNTIME_ID(cudaStreamSynchronize_v3020), parameters,
          {.inside = [end](const FakeCall&) { end(); }});
}
void while_others_work(End end) {
  started([] {});
  static std::atomic<int> done{0};
  std::thread([] {
    for (;;) {
      step();
      done += 3;
      pause_ms(1);
    }
  }).detach();
  while (done < 60) pause_ms(1);
  say_calls(done);
  end();
}
void with_held_flush(End end) {
  started([] {});
  const int calls = work();
  fake_block_flush(true);
  say_calls(calls);
  end();
}

constexpr endings::Stage kStages[] = {
    {"before-cuda", before_cuda},
    {"started", started},
    {"working", working},
    {"delivered", delivered},
    {"inside-a-call", inside_a_call},
    {"while-others-work", while_others_work},
    {"with-held-flush", with_held_flush},
};

int crash(const Arguments& arguments) {
  return endings::run(arguments, {meets_sticky_error, resets_device}, kStages);
}

constexpr Scenario kScenarios[] = {{"crash", crash}};

}  // namespace
}  // namespace child

std::span<const child::Scenario> crash_scenarios() { return child::kScenarios; }
