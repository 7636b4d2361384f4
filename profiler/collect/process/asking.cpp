// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/asking.h"

#include <time.h>

#include <atomic>

#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

constexpr int64_t kMostWaitNs = 1'000'000'000;
constexpr size_t kSlots = 4096;

// A query first raises `questions` and then reads the times below; a call that ends a handle first
// writes the time and then reads `questions`. All of it is sequentially consistent, so one of the
// two sees the other.
constinit std::atomic<uint32_t> questions{0};  // in progress
// When a call that ends a handle with this hash last began, in ticks.
constinit std::atomic<uint64_t> ended[kSlots] = {};
constinit std::atomic<uint64_t> all_ended{0};
// False: a question hangs. Until it is answered, no one waits for it and nothing more is asked.
constinit std::atomic<bool> patient{true};

std::atomic<uint64_t>& slot_of(uint64_t handle) {
  return ended[handle * 0x9e3779b97f4a7c15ull >> 52];
}
static_assert(kSlots == size_t{1} << (64 - 52));

void raise(std::atomic<uint64_t>& time, uint64_t now) {
  uint64_t seen = time.load();
  while (seen < now && !time.compare_exchange_weak(seen, now)) {
  }
}

void let_questions_finish() {
  if (questions.load() == 0 || !patient.load(std::memory_order_relaxed)) return;
  const int64_t until = monotonic_ns() + kMostWaitNs;
  while (questions.load() != 0) {
    if (monotonic_ns() > until) {
      patient.store(false);
      if (questions.load() == 0) patient.store(true);  // answered just now
      return;
    }
    timespec pause{0, 20'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

void about_to_end(uint64_t handle) {
  raise(handle == kAllHandles ? all_ended : slot_of(handle), ticks());
  let_questions_finish();
}

void about_to_capture() { let_questions_finish(); }

Asking::Asking(uint64_t handle, uint64_t since) {
  questions.fetch_add(1);
  allowed_ = patient.load(std::memory_order_relaxed) && all_ended.load() < since &&
             (handle == kAllHandles || slot_of(handle).load() < since);
}

Asking::~Asking() {
  if (questions.fetch_sub(1) == 1) patient.store(true);
}

void forget_questions_after_fork() {
  questions.store(0);
  patient.store(true, std::memory_order_relaxed);
}

}  // namespace streamscope::collect
