// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks that depend on each other, in many short levels: as a graph of tasks, and by a queue in
// which the last dependency of a task spawns it; compared with one launch for each level, and a
// CUDA graph of these launches. With --records N this many tasks of each run of a graph are
// recorded, for a trace of it.
#include <coord/task_graph.cuh>

#include <cmath>

#include "task_queue.h"

namespace {

std::size_t record_count = 0;  // --records

using coord::GpuPlatform;
using coord::Task;

/// Tasks in levels; each follows three of the level before.
struct Levels {
  std::uint32_t count = 0, width = 0;
  std::vector<std::uint32_t> before;  // three for each task; of the first level: none
  std::vector<std::uint32_t> offsets, successors, in_degrees;
  std::vector<std::uint32_t> cycles;  // that each takes

  [[nodiscard]] coord::TaskDependencies dependencies() const {
    coord::TaskDependencies result;
    for (std::uint32_t task = 0; task <= count * width; ++task)
      result.offsets.push_back(task < width ? 0 : 3 * (task - width));
    result.before.assign(before.begin() + 3 * width, before.end());
    return result;
  }
};

Levels make_levels(std::uint32_t count, std::uint32_t width, bool uneven, std::uint32_t mean) {
  Levels levels;
  levels.count = count;
  levels.width = width;
  const std::uint32_t all = count * width;
  levels.before.resize(3 * all);
  levels.in_degrees.resize(all);
  levels.cycles.resize(all);
  std::vector<std::vector<std::uint32_t>> after(all);
  for (std::uint32_t task = 0; task < all; ++task) {
    const double uniform = (static_cast<double>(tasks::mix(task) >> 11) + 1) / 9007199254740994.0;
    levels.cycles[task] = uneven ? static_cast<std::uint32_t>(-std::log(uniform) * mean) : mean;
    const std::uint32_t level = task / width, place = task % width;
    if (level == 0) continue;
    levels.in_degrees[task] = 3;
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t by = k == 0 ? 0 : tasks::mix(3ull * task + k) % 64;
      const std::uint32_t one = (level - 1) * width + (place + by) % width;
      levels.before[3 * task + k] = one;
      after[one].push_back(task);
    }
  }
  levels.offsets.push_back(0);
  for (const auto& successors : after) {
    levels.successors.insert(levels.successors.end(), successors.begin(), successors.end());
    levels.offsets.push_back(static_cast<std::uint32_t>(levels.successors.size()));
  }
  return levels;
}

/// The work of a task, however it is run: by a whole warp.
struct Step {
  std::uint32_t width;
  const std::uint32_t* before;
  const std::uint32_t* cycles;
  unsigned long long* values;

  __host__ __device__ static unsigned long long value(std::uint32_t task, unsigned long long a,
                                                      unsigned long long b, unsigned long long c) {
    return tasks::mix(a + 2 * b + 3 * c + task);
  }
  /// The input of a task that it can read before its dependencies have ended.
  struct Inputs {
    std::uint32_t before[3], cycles;
  };
  __device__ Inputs prepare(std::uint32_t task) const {
    Inputs inputs{.cycles = cycles[task]};
    if (task >= width && threadIdx.x % 32 == 0) {
      for (std::uint32_t k = 0; k < 3; ++k) inputs.before[k] = before[3 * task + k];
    }
    return inputs;
  }
  __device__ void operator()(std::uint32_t task, const Inputs& inputs) const {
    run(task, inputs, clock64());
  }
  /// If nothing can be read before: reading takes part of its time.
  __device__ void operator()(std::uint32_t task) const {
    const long long start = clock64();
    run(task, prepare(task), start);
  }
  __device__ void run(std::uint32_t task, const Inputs& inputs, long long start) const {
    if (threadIdx.x % 32 == 0) {
      unsigned long long result = task;
      if (task >= width) {
        result = value(task, values[inputs.before[0]], values[inputs.before[1]],
                       values[inputs.before[2]]);
      }
      values[task] = result;
    }
    while (clock64() - start < inputs.cycles) {
    }
    __syncwarp();
  }
};

struct Dag {
  static constexpr std::uint32_t kTasksAtOnce = 1;
  static constexpr std::uint32_t kStaged = 32;
  Step step;
  coord::TaskEdges<GpuPlatform> edges;

  template <typename Lane>
  __device__ void operator()(Task task, Lane& lane) const {
    const auto after = lane.successors(edges, task);
    step(static_cast<std::uint32_t>(task));
    lane.end(after);
  }
};

__global__ void run_level(Step step, std::uint32_t level) {
  const std::uint32_t place = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (place < step.width) step(level * step.width + place);
}

void compare(const char* name, int rounds, cudaStream_t stream, const Levels& levels) {
  const std::uint32_t all = levels.count * levels.width;
  const tasks::Array<std::uint32_t> before(levels.before), offsets(levels.offsets),
      successors(levels.successors), in_degrees(levels.in_degrees), cycles(levels.cycles);
  static_assert(sizeof(coord::TaskEdges<GpuPlatform>::Pending) == sizeof(std::uint32_t));
  const tasks::Array<std::uint32_t> pending(levels.in_degrees);
  tasks::Array<unsigned long long> values(all);
  const Step step{levels.width, before.get(), cycles.get(), values.get()};
  std::vector<unsigned long long> expected(all);
  for (std::uint32_t task = 0; task < all; ++task) {
    const std::uint32_t* from = &levels.before[3 * task];
    expected[task] = task < levels.width ? task
                                         : Step::value(task, expected[from[0]], expected[from[1]],
                                                       expected[from[2]]);
  }
  const auto verify = [&] {
    if (values.read() != expected) {
      std::fprintf(stderr, "FAIL %s: a task ran before one that it depends on\n", name);
      std::exit(1);
    }
    values.clear();
  };

  coord::GpuTaskQueue<Dag> queue({.threads = 512, .stack_bytes = 4096});
  const Dag dag{step,
                {offsets.get(), successors.get(), in_degrees.get(),
                 reinterpret_cast<coord::TaskEdges<GpuPlatform>::Pending*>(pending.get())}};
  const double by_queue = tasks::median(rounds, [&] {
    const double ms =
        tasks::milliseconds(stream, [&] { queue.start(stream, dag, {.count = levels.width}); });
    queue.wait();
    verify();
    return ms;
  });
  counted::expect("tasks", all, static_cast<long long>(queue.metrics().all.tasks));

  coord::GpuTaskGraph<Step> task_graph(levels.dependencies(),
                                       {.records = record_count, .name = name});
  const double by_graph = tasks::median(rounds, [&] {
    const double ms = tasks::milliseconds(stream, [&] { task_graph.start(stream, step); });
    task_graph.wait();
    verify();
    return ms;
  });
  counted::expect("tasks", all, static_cast<long long>(task_graph.metrics().all.tasks));
  const auto launch_all = [&] {
    for (std::uint32_t level = 0; level < levels.count; ++level)
      run_level<<<(levels.width + 7) / 8, 256, 0, stream>>>(step, level);
    CALL(cudaGetLastError);
  };
  const double launches = tasks::median(rounds, [&] {
    const double ms = tasks::milliseconds(stream, launch_all);
    verify();
    return ms;
  });
  cudaGraph_t graph;
  cudaGraphExec_t launchable;
  CALL(cudaStreamBeginCapture, stream, cudaStreamCaptureModeThreadLocal);
  launch_all();
  CALL(cudaStreamEndCapture, stream, &graph);
  CALL(cudaGraphInstantiate, &launchable, graph, 0);
  const double in_graph = tasks::median(rounds, [&] {
    const double ms =
        tasks::milliseconds(stream, [&] { CALL(cudaGraphLaunch, launchable, stream); });
    verify();
    return ms;
  });
  CALL(cudaGraphExecDestroy, launchable);
  CALL(cudaGraphDestroy, graph);

  const auto note = [&](const char* what, double ms) {
    counted::note(std::string(name) + "_" + what + "_us_per_level", 1e3 * ms / levels.count);
  };
  note("task_graph", by_graph);
  note("queue", by_queue);
  note("launches", launches);
  note("cuda_graph", in_graph);
  counted::note(std::string(name) + "_gain", launches / by_graph);
  counted::note(std::string(name) + "_gain_over_cuda_graph", in_graph / by_graph);
  counted::note(std::string(name) + "_queue_gain", launches / by_queue);
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const bool quick = counted::flag(argc, argv, "--quick");
  record_count = static_cast<std::size_t>(counted::option(argc, argv, "--records", 0));
  const int rounds = quick ? 1 : 7;
  const std::uint32_t count = quick ? 20 : 1000;
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  compare("short", rounds, stream, make_levels(count, 16, false, 500));
  compare("even", rounds, stream, make_levels(count, 1024, false, 1000));
  compare("uneven", rounds, stream, make_levels(count, 1024, true, 3000));
  compare("narrow", rounds, stream, make_levels(count, 128, true, 3000));
  counted::report("task_queue_dag");
}
