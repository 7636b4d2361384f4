// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Many short runs of GPU task queues of random sizes: tiny rings and inboxes, few or many workers,
// random trees that exist at the start or come from the host meanwhile; and of task graphs. Each
// task must run exactly once, after its dependencies, and every run must end.
//   task_queue_stress [--runs N] [--seed S] [--patience SECONDS]
#include <coord/task_graph.cuh>

#include <random>

#include "task_queue.h"

namespace {

using coord::Task;

/// Cuts a range of numbers into up to four, and those again; in the end marks each number.
template <std::uint32_t kAtOnce, std::uint32_t kRoom>
struct Ranges {
  static constexpr std::uint32_t kTasksAtOnce = kAtOnce;
  static constexpr std::uint32_t kStaged = kRoom;
  std::uint32_t leaf, seed;
  unsigned* marks;

  static Task pack(std::uint32_t begin, std::uint32_t end) {
    return static_cast<Task>(end) << 32 | begin;
  }
  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    const auto begin = static_cast<std::uint32_t>(task);
    const auto end = static_cast<std::uint32_t>(task >> 32);
    if (end - begin <= leaf) {
      const bool marks_all = kAtOnce == coord::kWarp || threadIdx.x % 32 == 0;
      for (std::uint32_t i = begin; marks_all && i < end; ++i) atomicAdd(&marks[i], 1u);
      return;
    }
    const std::uint32_t parts = 2 + tasks::mix(task + seed) % 3;
    for (std::uint32_t i = 0; i < parts; ++i) {
      const std::uint64_t all = end - begin;
      const auto from = static_cast<std::uint32_t>(begin + all * i / parts);
      const auto to = static_cast<std::uint32_t>(begin + all * (i + 1) / parts);
      if (from != to) lane.spawn(static_cast<Task>(to) << 32 | from);
    }
  }
};

struct Seen {
  std::uint64_t runs = 0, tasks = 0, in_line = 0, stolen = 0, received = 0, records = 0,
                in_graphs = 0;
};

/// One queue, and a few runs of it.
template <typename Work>
void run_some(std::mt19937& random, cudaStream_t stream, Seen& seen) {
  const auto one_of = [&](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random() % values.size()];
  };
  coord::GpuTaskQueueOptions options;
  options.threads = one_of({32, 64, 128, 256, 512});
  options.blocks = one_of({0, 1, 2, 7, 100});
  options.ring = one_of({1, 2, 8, 64, 256});
  options.inbox = one_of({1, 4, 64, 4096});
  options.steal = random() % 4 != 0;
  options.records = random() % 2 == 0 ? 0 : 1 << 16;
  options.stack_bytes = 8192;
  coord::GpuTaskQueue<Work> queue(options);
  for (int run = 0; run < 5; ++run) {
    const std::uint32_t numbers = 1 + random() % 60'000;
    const std::uint32_t given_count = random() % one_of({2, 10, 500});
    const std::uint32_t sent_count = random() % one_of({2, 10, 500});
    tasks::watchdog().alive(
        "run " + std::to_string(seen.runs) + ": threads " + std::to_string(options.threads) +
        " blocks " + std::to_string(options.blocks) + " ring " + std::to_string(options.ring) +
        " inbox " + std::to_string(options.inbox));
    const std::uint32_t all = std::max(given_count + sent_count, 1u);
    std::vector<Task> ranges;
    for (std::uint64_t i = 0; i < all; ++i) {
      ranges.push_back(Work::pack(static_cast<std::uint32_t>(numbers * i / all),
                                  static_cast<std::uint32_t>(numbers * (i + 1) / all)));
    }
    const std::size_t first = given_count == 0 && sent_count == 0 ? 1 : given_count;
    const tasks::Array<Task> given(std::vector<Task>(ranges.begin(), ranges.begin() + first));
    const tasks::Array<unsigned> marks(numbers);
    const Work work{1 + static_cast<std::uint32_t>(random() % 8),
                    static_cast<std::uint32_t>(random()), marks.get()};
    const bool open = first < ranges.size();
    queue.start(stream, work,
                {.tasks = given.get(), .count = static_cast<std::uint32_t>(first), .open = open});
    if (open) {
      const std::span<const Task> sent = std::span(ranges).subspan(first);
      const std::size_t half = random() % (sent.size() + 1);
      queue.submit(sent.first(half));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      queue.submit(sent.subspan(half));
      queue.close();
    }
    queue.wait();
    for (const unsigned mark : marks.read())
      counted::expect("times that a number was marked", 1, mark);
    const coord::GpuTaskMetrics metrics = queue.metrics();
    if (options.records != 0) {
      const std::vector<coord::TaskRecord> records = queue.records();
      counted::expect("records",
                      std::min<long long>(options.records, metrics.all.tasks - metrics.all.in_line),
                      static_cast<long long>(records.size()));
      for (const coord::TaskRecord& record : records) {
        if (record.task == coord::kNoTask || record.worker >= queue.workers() ||
            record.start_ns == 0 || record.end_ns < record.start_ns)
          counted::fail("a record makes sense", 1, 0);
      }
      seen.records += records.size();
    }
    counted::expect("received", static_cast<long long>(ranges.size() - first),
                    static_cast<long long>(metrics.all.received));
    ++seen.runs;
    seen.tasks += metrics.all.tasks;
    seen.in_line += metrics.all.in_line;
    seen.stolen += metrics.all.stolen;
    seen.received += metrics.all.received;
  }
}

/// Adds one to the largest value among its dependencies: all lanes read, and each writes its part.
struct Depth {
  const std::uint32_t *offsets, *before;
  std::uint32_t* values;  // 32 for each task

  __device__ void operator()(std::uint32_t task) const {
    std::uint32_t most = 0;
    for (std::uint32_t k = offsets[task]; k < offsets[task + 1]; ++k)
      most = max(most, values[32 * before[k] + (threadIdx.x + k) % 32]);
    values[32 * task + threadIdx.x % 32] += most + 1;
  }
};

/// One graph, and a few runs of it.
void run_some_graphs(std::mt19937& random, cudaStream_t stream, Seen& seen) {
  const auto one_of = [&](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random() % values.size()];
  };
  const std::uint32_t count = random() % one_of({2, 40, 3000, 20'000});
  const std::uint32_t most_before = one_of({1, 3, 5, 80});
  const std::uint32_t reach = one_of({1, 2, 50, 100'000});
  coord::TaskDependencies dependencies{.offsets = {0}, .before = {}};
  std::vector<std::uint32_t> depths;
  for (std::uint32_t task = 0; task < count; ++task) {
    std::uint32_t depth = 0;
    for (std::uint32_t k = task == 0 ? 0 : random() % (most_before + 1); k != 0; --k) {
      dependencies.before.push_back(task - 1 - random() % std::min(task, reach));
      depth = std::max(depth, depths[dependencies.before.back()]);
    }
    dependencies.offsets.push_back(static_cast<std::uint32_t>(dependencies.before.size()));
    depths.push_back(depth + 1);
  }
  coord::GpuTaskGraphOptions options;
  options.threads = one_of({32, 64, 128, 256, 512});
  options.blocks = one_of({0, 1, 2, 7, 100});
  options.records = one_of({0, 7, 1 << 16});
  coord::GpuTaskGraph<Depth> graph(dependencies, options);
  const tasks::Array<std::uint32_t> offsets(dependencies.offsets), before(dependencies.before);
  tasks::Array<std::uint32_t> values(32 * count);
  for (int run = 0; run < 5; ++run) {
    tasks::watchdog().alive("run " + std::to_string(seen.runs) + ": a graph of " +
                            std::to_string(count) + " tasks");
    values.clear();
    graph.start(stream, {offsets.get(), before.get(), values.get()});
    graph.wait();
    const std::vector<std::uint32_t> got = values.read();
    for (std::uint32_t i = 0; i < 32 * count; ++i)
      counted::expect("depth of a task", depths[i / 32], got[i]);
    counted::expect("tasks", count, static_cast<long long>(graph.metrics().all.tasks));
    counted::expect("records", std::min<long long>(count, options.records),
                    static_cast<long long>(graph.records().size()));
    ++seen.runs;
    seen.tasks += count;
    seen.in_graphs += count;
  }
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const auto runs = static_cast<std::uint64_t>(
      counted::option(argc, argv, "--runs", counted::flag(argc, argv, "--quick") ? 20 : 1000));
  tasks::patience_s = static_cast<double>(counted::option(argc, argv, "--patience", 30));
  std::mt19937 random(static_cast<unsigned>(counted::option(argc, argv, "--seed", 1)));
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  Seen seen;
  while (seen.runs < runs) {
    run_some<Ranges<32, 64>>(random, stream, seen);
    run_some<Ranges<32, 160>>(random, stream, seen);
    run_some<Ranges<1, 2>>(random, stream, seen);
    run_some<Ranges<1, 32>>(random, stream, seen);
    run_some_graphs(random, stream, seen);
  }
  counted::note("runs", static_cast<double>(seen.runs));
  counted::note("tasks", static_cast<double>(seen.tasks));
  counted::note("in_line", static_cast<double>(seen.in_line));
  counted::note("stolen", static_cast<double>(seen.stolen));
  counted::note("received", static_cast<double>(seen.received));
  counted::note("in_graphs", static_cast<double>(seen.in_graphs));
  counted::note("records", static_cast<double>(seen.records));
  counted::report("task_queue_stress");
}
