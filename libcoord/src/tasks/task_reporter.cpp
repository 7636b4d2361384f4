// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/task_reporter.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "observer.h"

namespace coord {

namespace {

constexpr std::size_t kBatch = 256;
constexpr auto kPause = std::chrono::milliseconds(1);
constexpr int kMostPauses = 1000;  // a second

std::uint32_t next_number() {
  static std::atomic<std::uint32_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

TaskReporter::TaskReporter(Workers kind, std::size_t count, std::string name)
    : kind_(kind), count_(count), name_(std::move(name)), number_(next_number()) {}

bool TaskReporter::is_heard() const noexcept { return observer().tasks != nullptr; }

void TaskReporter::listen() { find_observer(); }

TaskReporter::Stamp TaskReporter::stamp() noexcept {
  Stamp stamp;
  if (observer().task_stamp != nullptr) stamp.value = observer().task_stamp(&stamp.clock);
  return stamp;
}

// The profiler may have attached after the queue was created.
void TaskReporter::notify_queue() noexcept {
  if (told_.load(std::memory_order_relaxed) || told_.exchange(true, std::memory_order_relaxed))
    return;
  const coord_task_queue_facts facts{.queue = number_,
                                     .workers = static_cast<std::uint32_t>(count_),
                                     .on_device = kind_ == Workers::kWarps ? 1u : 0u,
                                     .name = name_.c_str()};
  observer().task_queue(&facts);
}

void TaskReporter::notify(std::uint64_t task, std::size_t worker, std::uint32_t type,
                          Stamp begin) noexcept {
  if (!is_heard()) return;
  const Stamp end = stamp();
  if (begin.clock != end.clock) return;  // a profiler attached, or a device was opened, in between
  notify_queue();
  const coord_task one{task,       begin.value, end.value, static_cast<std::uint32_t>(worker),
                       COORD_NONE, type,        0};
  const coord_tasks_facts facts{
      .queue = number_, .run = COORD_NONE, .clock = end.clock, .count = 1, .tasks = &one};
  observer().tasks(&facts);  // the profiler counts what it cannot store
}

std::uint32_t TaskReporter::begin_run() noexcept {
  const std::uint32_t run = runs_.fetch_add(1, std::memory_order_relaxed);
  if (is_heard()) {
    notify_queue();
    observer().task_run(number_, run);
  }
  return run;
}

void TaskReporter::end_run(std::uint32_t run, std::span<const Ran> ran,
                           std::uint64_t left_out) noexcept {
  if (!is_heard()) return;
  std::array<coord_task, kBatch> batch;
  coord_tasks_facts facts{.queue = number_, .run = run, .tasks = batch.data()};
  for (int pauses = 0; !ran.empty() && pauses < kMostPauses;) {
    facts.count = static_cast<std::uint32_t>(std::min(ran.size(), kBatch));
    for (std::size_t i = 0; i < facts.count; ++i) {
      const Ran& one = ran[i];
      batch[i] = {one.task,
                  static_cast<std::uint64_t>(one.start_ns),
                  static_cast<std::uint64_t>(one.end_ns),
                  one.worker,
                  one.sm,
                  COORD_NONE,
                  0};
    }
    const std::uint32_t taken = observer().tasks(&facts);
    ran = ran.subspan(taken);
    pauses = taken != 0 ? 0 : pauses + 1;
    if (taken == 0) std::this_thread::sleep_for(kPause);
  }
  facts.count = 0;
  facts.last = 1;
  facts.left_out = left_out + ran.size();
  observer().tasks(&facts);
}

}  // namespace coord
