// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How evenly a GPU task queue keeps its workers busy, compared with fixed shares and one queue for
// all: all solutions of N queens, tasks whose lengths are skewed, and sequences whose lengths have
// a long tail. With --records N this many tasks of each run are recorded, for a trace of it.
#include <cmath>

#include "task_queue.h"

namespace {

std::size_t record_count = 0;

using coord::GpuTaskMetrics;
using coord::GpuTaskQueue;
using coord::GpuTasks;
using coord::Task;

/// A board with queens in its first rows: bits for columns and both diagonals, 16 of each.
struct Queens {
  static constexpr std::uint32_t kTasksAtOnce = 32;
  static constexpr std::uint32_t kStaged = 192;
  unsigned size, rows_as_tasks;  // boards with more rows are finished by one lane
  unsigned long long* solutions;

  __host__ __device__ static Task pack(unsigned columns, unsigned left, unsigned right) {
    return columns | static_cast<Task>(left) << 16 | static_cast<Task>(right) << 32;
  }
  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    const unsigned all = (1u << size) - 1;
    const unsigned columns = task & 0xffff, left = task >> 16 & 0xffff, right = task >> 32 & 0xffff;
    if (__popc(columns) >= rows_as_tasks) {
      const unsigned long long found = finish(all, columns, left, right);
      if (found != 0) atomicAdd(solutions, found);
      return;
    }
    for (unsigned free = all & ~(columns | left | right); free != 0; free &= free - 1) {
      const unsigned here = free & -free;
      lane.spawn(pack(columns | here, (left | here) << 1 & 0xffff, (right | here) >> 1));
    }
  }
  __device__ static unsigned long long finish(unsigned all, unsigned columns, unsigned left,
                                              unsigned right) {
    struct Row {
      unsigned columns, left, right, free;
    } rows[16];
    unsigned long long found = 0;
    int depth = 0;
    rows[0] = {columns, left, right, all & ~(columns | left | right)};
    while (depth >= 0) {
      Row& row = rows[depth];
      if (row.free == 0) {
        --depth;
        continue;
      }
      const unsigned here = row.free & -row.free;
      row.free &= row.free - 1;
      const unsigned next_columns = row.columns | here;
      if (next_columns == all) {
        ++found;
        continue;
      }
      const unsigned next_left = (row.left | here) << 1 & 0xffff;
      const unsigned next_right = (row.right | here) >> 1;
      rows[++depth] = {next_columns, next_left, next_right,
                       all & ~(next_columns | next_left | next_right)};
    }
    return found;
  }
};

/// All boards with queens in this many rows, as the host finds them.
std::vector<Task> boards(unsigned size, unsigned rows) {
  std::vector<Task> found{0};
  for (unsigned row = 0; row < rows; ++row) {
    std::vector<Task> next;
    for (const Task board : found) {
      const unsigned columns = board & 0xffff, left = board >> 16 & 0xffff, right = board >> 32;
      for (unsigned free = ((1u << size) - 1) & ~(columns | left | right); free; free &= free - 1) {
        const unsigned here = free & -free;
        next.push_back(
            Queens::pack(columns | here, (left | here) << 1 & 0xffff, (right | here) >> 1));
      }
    }
    found = std::move(next);
  }
  return found;
}

/// Tasks of which the first are up to a hundred times as long as the last, which take some 5 us of
/// a warp.
struct Skewed {
  static constexpr std::uint32_t kTasksAtOnce = 32;
  static constexpr std::uint32_t kStaged = 64;
  Task count;
  unsigned long long* sum;

  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    const float place = 1 - static_cast<float>(task) / static_cast<float>(count);
    const float skew = place * place * place * place;
    const auto steps = static_cast<std::uint32_t>(1000 + 100'000 * skew * skew);
    if (tasks::work_for(steps) > 0) atomicAdd(&sum[lane.worker()], task);
  }
};

/// Sequences of very different length; a warp works on one. A task is a part of a sequence: its
/// number, first token and length. Long ones are cut in half where that is asked for.
struct Sequences {
  static constexpr std::uint32_t kTasksAtOnce = 1;
  static constexpr std::uint32_t kStaged = 32;
  std::uint32_t longest;  // part that is worked on at once
  unsigned long long* sum;

  __host__ __device__ static Task pack(Task sequence, Task first, Task length) {
    return sequence << 40 | first << 20 | length;
  }
  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    const Task length = task & 0xfffff, first = task >> 20 & 0xfffff, sequence = task >> 40;
    if (length > longest) {
      lane.spawn(pack(sequence, first, length / 2));
      lane.spawn(pack(sequence, first + length / 2, length - length / 2));
      return;
    }
    unsigned long long mine = 0;
    for (Task token = threadIdx.x % 32; token < length; token += 32) {
      if (tasks::work_for(400) > 0) mine += tasks::mix(sequence << 20 | (first + token)) & 0xffff;
    }
    atomicAdd(&sum[lane.worker()], mine);
  }
};

/// Lengths as of prompts: most are short, some are a hundred times as long.
std::vector<Task> sequences(std::size_t count, unsigned long long* expected) {
  std::vector<Task> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double uniform = (static_cast<double>(tasks::mix(i) >> 11) + 1) / 9007199254740994.0;
    const auto length = static_cast<Task>(std::min(32768.0, 128 / std::pow(uniform, 0.8)));
    all.push_back(Sequences::pack(i, 0, length));
    for (Task token = 0; token < length; ++token)
      *expected += tasks::mix(static_cast<Task>(i) << 20 | token) & 0xffff;
  }
  return all;
}

struct Figures {
  double ms = 0, imbalance = 0;
};

/// Runs it `rounds` times; the run in the middle.
template <typename Work>
Figures measure(int rounds, cudaStream_t stream, GpuTaskQueue<Work>& queue, const Work& work,
                const GpuTasks& given, const std::function<void()>& verify) {
  std::vector<Figures> all;
  for (int i = 0; i <= rounds; ++i) {
    tasks::watchdog().alive("balance");
    Figures figures;
    figures.ms = tasks::milliseconds(stream, [&] { queue.start(stream, work, given); });
    queue.wait();
    figures.imbalance = queue.metrics().imbalance();
    verify();
    if (i > 0) all.push_back(figures);
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.ms < b.ms; });
  return all[all.size() / 2];
}

/// The queue, fixed shares, and one queue for all, with the same tasks.
template <typename Work>
void compare(const char* name, int rounds, cudaStream_t stream, const Work& work,
             const Work& fixed_work, const std::vector<Task>& given, std::uint32_t count,
             std::size_t all_tasks, const std::function<void()>& verify) {
  const tasks::Array<Task> held(given);
  const GpuTasks start{.tasks = given.empty() ? nullptr : held.get(), .count = count};
  const auto note = [&](const char* what, double value) {
    counted::note(std::string(name) + "_" + what, value);
  };
  GpuTaskQueue<Work> queue({.records = record_count, .stack_bytes = 4096, .name = name});
  const Figures ours = measure(rounds, stream, queue, work, start, verify);
  note("ms", ours.ms);
  note("imbalance", ours.imbalance);
  const GpuTaskMetrics metrics = queue.metrics();
  note("tasks", static_cast<double>(metrics.all.tasks));
  note("steals", static_cast<double>(metrics.all.steals));
  note("in_line", static_cast<double>(metrics.all.in_line));
  GpuTaskQueue<Work> fixed({.steal = false,
                            .records = record_count,
                            .stack_bytes = 4096,
                            .name = std::string(name) + ", fixed shares"});
  const Figures shares = measure(rounds, stream, fixed, fixed_work, start, verify);
  note("static_ms", shares.ms);
  note("static_imbalance", shares.imbalance);
  if (all_tasks == 0) return;
  std::vector<Figures> one_queue;
  for (int i = 0; i <= rounds; ++i) {
    tasks::watchdog().alive("one queue");
    std::vector<Task> first = given;
    if (first.empty()) {
      for (Task task = 0; task < count; ++task) first.push_back(task);
    }
    const tasks::OneQueueResult result =
        tasks::run_on_one_queue(stream, work, first, all_tasks, queue.blocks(), 256);
    verify();
    if (i > 0) one_queue.push_back({result.ms, result.imbalance});
  }
  std::sort(one_queue.begin(), one_queue.end(), [](auto& a, auto& b) { return a.ms < b.ms; });
  note("one_queue_ms", one_queue[one_queue.size() / 2].ms);
  note("one_queue_imbalance", one_queue[one_queue.size() / 2].imbalance);
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const bool quick = counted::flag(argc, argv, "--quick");
  const int rounds = quick ? 1 : 5;
  record_count = static_cast<std::size_t>(counted::option(argc, argv, "--records", 0));
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  tasks::Array<unsigned long long> sums(1 << 16);
  const auto sum_is = [&](unsigned long long expected) {
    return [&sums, expected] {
      unsigned long long sum = 0;
      for (const unsigned long long one : sums.read()) sum += one;
      counted::expect("sum over all tasks", static_cast<long long>(expected),
                      static_cast<long long>(sum));
      sums.clear();
    };
  };

  const unsigned size = quick ? 11 : 16;
  const unsigned long long solutions = quick ? 2680 : 14'772'512;
  const Queens queens{size, quick ? 5u : 7u, sums.get()};
  const std::vector<Task> first = boards(size, 3);
  compare("queens", rounds, stream, queens, queens, first, static_cast<std::uint32_t>(first.size()),
          boards(size, quick ? 5 : 7).size() * 3 / 2, sum_is(solutions));

  const std::uint32_t count = quick ? 1u << 16 : 1u << 26;
  const Skewed skewed{count, sums.get()};
  compare("skewed", rounds, stream, skewed, skewed, {}, count, quick ? count : 0,
          sum_is(static_cast<unsigned long long>(count) * (count - 1) / 2));

  unsigned long long expected = 0;
  const std::vector<Task> batch = sequences(quick ? 500 : 60'000, &expected);
  compare("batch", rounds, stream, Sequences{1024, sums.get()}, Sequences{~0u, sums.get()}, batch,
          static_cast<std::uint32_t>(batch.size()), batch.size() * 100, sum_is(expected));
  counted::report("task_queue_balance");
}
