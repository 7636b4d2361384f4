// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of a host task, and how evenly work of uneven size is spread over workers.

#include <coord/executor.h>
#include <coord/task_queue.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "bench/budget.h"

namespace {

namespace bench = streamscope::bench;
using coord::TaskPlace;
using coord::TaskPolicy;
using coord::TaskQueue;

constexpr int kRounds = 5;

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// ns per task, of a task that spawns `count` empty ones.
double spawned_ns(std::size_t workers, std::size_t count) {
  TaskQueue queue({.workers = workers, .policy = TaskPolicy::kDynamic});
  const double spent = seconds([&] {
    queue.submit([&](const TaskPlace&) {
      for (std::size_t i = 0; i < count; ++i) queue.submit([](const TaskPlace&) {});
    });
    queue.wait();
  });
  return 1e9 * spent / static_cast<double>(count);
}

/// The same on one queue with a lock.
double locked_ns(std::size_t workers, std::size_t count) {
  double spent = 0;
  spent = seconds([&] {
    coord::Executor executor(workers);
    for (std::size_t i = 0; i < count; ++i) executor.post([] {});
  });
  return 1e9 * spent / static_cast<double>(count);
}

/// Longest busy time over the mean, for tasks a few of which take most of the time.
double imbalance(TaskPolicy policy, std::size_t workers) {
  TaskQueue queue({.workers = workers, .policy = policy});
  const std::size_t tasks = 400;
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto length = std::chrono::microseconds(i < tasks / 8 ? 1000 : 100);
    queue.submit([=](const TaskPlace&) { std::this_thread::sleep_for(length); },
                 {.worker = i * workers / tasks});
  }
  queue.wait();
  return queue.metrics().imbalance();
}

}  // namespace

int main() {
  const std::size_t count = bench::scaled(200'000);
  std::vector<double> tasks, alone, locked;
  for (int i = 0; i < kRounds; ++i) {
    tasks.push_back(spawned_ns(2, count));
    alone.push_back(spawned_ns(1, count));
    locked.push_back(locked_ns(2, count));
  }
  bench::budget("host_task_ns", bench::median(tasks), "ns", 1000, bench::Better::kLess);
  bench::rival("host_task_of_one_worker", bench::median(alone), "ns");
  bench::rival("executor_post", bench::median(locked), "ns");
  bench::budget("host_queue_imbalance", imbalance(TaskPolicy::kHybrid, 4), "x", 1.2,
                bench::Better::kLess);
  bench::rival("static_queues_imbalance", imbalance(TaskPolicy::kStatic, 4), "x");
}
