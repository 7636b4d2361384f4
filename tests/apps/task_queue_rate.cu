// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks per second of a GPU task queue with nearly empty tasks: tasks that exist at the start, a
// tree in which each task spawns two, and tasks that the host submits meanwhile; compared with one
// queue for all workers.
#include "task_queue.h"

namespace {

using coord::Task;

/// Task n spawns 2n and 2n + 1 while these are below `end`: a binary tree with all numbers from 1.
struct Tree {
  static constexpr std::uint32_t kTasksAtOnce = 32;
  static constexpr std::uint32_t kStaged = 128;
  Task end;
  unsigned long long* sum;  // one for each worker

  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    atomicAdd(&sum[lane.worker()], task);
    for (Task child = 2 * task; child < 2 * task + 2; ++child) {
      if (child < end) lane.spawn(child);
    }
  }
};

/// Takes a task and does nothing else.
struct Flat {
  static constexpr std::uint32_t kTasksAtOnce = 32;
  static constexpr std::uint32_t kStaged = 64;
  unsigned long long* sum;  // one for each worker

  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    atomicAdd(&sum[lane.worker()], task);
  }
};

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const bool quick = counted::flag(argc, argv, "--quick");
  const int rounds = quick ? 1 : 7;
  const std::uint32_t flat_count = quick ? 1u << 16 : 1u << 28;
  const Task tree_end = quick ? 1u << 14 : 1u << 25;
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);

  coord::GpuTaskQueue<Tree> trees;
  coord::GpuTaskQueue<Flat> flats;
  tasks::Array<unsigned long long> sums(std::max(trees.workers(), flats.workers()));
  const auto verify = [&](std::uint64_t end) {
    std::uint64_t sum = 0;
    for (const unsigned long long one : sums.read()) sum += one;
    counted::expect("sum of all tasks", static_cast<long long>(end * (end - 1) / 2),
                    static_cast<long long>(sum));
    sums.clear();
  };

  const double flat_ms = tasks::median(rounds, [&] {
    const double ms = tasks::milliseconds(
        stream, [&] { flats.start(stream, Flat{sums.get()}, {.count = flat_count}); });
    flats.wait();
    verify(flat_count);
    return ms;
  });
  const tasks::Array<Task> root(std::vector<Task>{1});
  coord::GpuTaskMetrics metrics;
  const double tree_ms = tasks::median(rounds, [&] {
    const double ms = tasks::milliseconds(stream, [&] {
      trees.start(stream, Tree{tree_end, sums.get()}, {.tasks = root.get(), .count = 1});
    });
    trees.wait();
    verify(tree_end);
    metrics = trees.metrics();
    return ms;
  });
  counted::expect("tasks", static_cast<long long>(tree_end - 1),
                  static_cast<long long>(metrics.all.tasks));

  double recorded_ms = 0;
  {
    coord::GpuTaskQueue<Tree> recorded({.records = std::size_t{1} << 20});
    recorded_ms = tasks::median(rounds, [&] {
      const double ms = tasks::milliseconds(stream, [&] {
        recorded.start(stream, Tree{tree_end, sums.get()}, {.tasks = root.get(), .count = 1});
      });
      recorded.wait();
      verify(tree_end);
      return ms;
    });
  }

  const double one_tree_ms = tasks::median(rounds, [&] {
    const double ms = tasks::run_on_one_queue(stream, Tree{tree_end, sums.get()}, {1}, tree_end,
                                              trees.blocks(), 256)
                          .ms;
    verify(tree_end);
    return ms;
  });
  std::vector<Task> numbers(quick ? 1u << 16 : 1u << 24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  const double one_flat_ms = tasks::median(rounds, [&] {
    const double ms = tasks::run_on_one_queue(stream, Flat{sums.get()}, numbers, numbers.size(),
                                              flats.blocks(), 256)
                          .ms;
    verify(numbers.size());
    return ms;
  });

  // Submitted while it runs.
  const std::size_t submitted = quick ? 1u << 12 : 1u << 20;
  const double host_ms = tasks::median(rounds, [&] {
    const auto start = std::chrono::steady_clock::now();
    flats.start(stream, Flat{sums.get()}, {.open = true});
    flats.submit(std::span(numbers).first(submitted));
    flats.close();
    flats.wait();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    verify(submitted);
    counted::expect("received", static_cast<long long>(submitted),
                    static_cast<long long>(flats.metrics().all.received));
    return spent.count();
  });

  const auto per_second = [](double count, double ms) { return 1e3 * count / ms; };
  counted::note("workers", trees.workers());
  counted::note("flat_tasks_per_s", per_second(flat_count, flat_ms));
  counted::note("tree_tasks_per_s", per_second(static_cast<double>(tree_end), tree_ms));
  counted::note("tree_recorded_tasks_per_s",
                per_second(static_cast<double>(tree_end), recorded_ms));
  counted::note("tree_stolen", static_cast<double>(metrics.all.stolen));
  counted::note("tree_in_line", static_cast<double>(metrics.all.in_line));
  counted::note("one_queue_flat_tasks_per_s",
                per_second(static_cast<double>(numbers.size()), one_flat_ms));
  counted::note("one_queue_tree_tasks_per_s",
                per_second(static_cast<double>(tree_end), one_tree_ms));
  counted::note("submitted_tasks_per_s", per_second(static_cast<double>(submitted), host_ms));
  counted::report("task_queue_rate");
}
