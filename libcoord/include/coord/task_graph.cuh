// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks for warps of a GPU with dependencies known in advance: one kernel runs them all, each as
// soon as its dependencies have ended. For graphs of short tasks, whose levels take less time than
// a launch; for tasks that spawn others, see task_queue.cuh. Needs nvcc.
//
//   struct Sum {                                    // copied to the device; a warp runs a task
//     const std::uint32_t *offsets, *before;
//     double* values;
//     __device__ void operator()(std::uint32_t task) const { ... }
//   };
//   // Task 2 waits for 0 and 1, task 3 for 2.
//   coord::GpuTaskGraph<Sum> graph({.offsets = {0, 0, 0, 2, 3}, .before = {0, 1, 2}});
//   graph.start(stream, Sum{...});
//   graph.wait();
//
// A task that first reads data no task of the graph writes, such as its own description, can do so
// while it waits: in prepare(), whose return value is passed to the task.
//
//     __device__ Inputs prepare(std::uint32_t task) const { ... }
//     __device__ void operator()(std::uint32_t task, const Inputs& inputs) const { ... }
//
// Each warp runs its tasks in order, and before each one waits for its dependencies: a task that
// ends writes one word, which its dependents read. Nothing is counted down, enqueued or claimed, so
// a dependency costs one round trip through the device's cache (docs/performance.md).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coord/error.h"
#include "coord/task_gpu.cuh"
#include "coord/task_order.h"

namespace coord {

/// Task t waits for before[k] for k in [offsets[t], offsets[t + 1]), all less than t.
struct TaskDependencies {
  std::vector<std::uint32_t> offsets;  // one more than the number of tasks
  std::vector<std::uint32_t> before;
};

struct GpuTaskGraphOptions {
  std::uint32_t blocks = 0;     // 0: one per multiprocessor, limited by the number of tasks
  std::uint32_t threads = 512;  // in a block; full warps
  /// Maximum recorded tasks of a run, as GpuTaskQueueOptions::records.
  std::size_t records = 0;
  std::string name{};  // in the trace
};

/// Data that the warps share: a kernel parameter. Borrows device memory.
struct TaskGraphWorld {
  TaskOrder<GpuPlatform> order;
  TaskWorkerCounts* counts = nullptr;  // one per worker
  TaskLog log{};
};

#ifdef __CUDACC__

namespace task_worker {

/// Waits until all its dependencies have ended. Each lane polls a different one. Each acquire load
/// invalidates the L1 cache, so acquire polling begins only when one of the tasks has ended: the
/// others usually end soon after, and one poll instead of two then sees the last one.
__device__ inline void wait_for_those_before(const TaskOrder<GpuPlatform>& order,
                                             std::uint32_t task) {
  const std::uint32_t end = order.offsets[task + 1];
  for (std::uint32_t first = order.offsets[task]; first < end; first += kWarp) {
    const bool looks = first + lane() < end;
    const std::uint32_t one = looks ? order.before[first + lane()] : 0;
    while (!__any_sync(~0u, looks && order.seems_ended(one))) {
    }
    while (!__all_sync(~0u, !looks || order.has_ended(one))) {
    }
  }
  __syncwarp();  // the tasks' work happens before what any lane does now
}

/// Waits for the task's dependencies and runs it. Returns the clock value when it began to run.
template <typename Work>
__device__ long long run_after_those_before(const TaskOrder<GpuPlatform>& order, const Work& work,
                                            std::uint32_t task, std::int64_t* start_ns) {
  const auto begin = [&] {
    wait_for_those_before(order, task);
    if (start_ns != nullptr) *start_ns = timer_ns();
    return clock64();
  };
  if constexpr (requires { work.prepare(task); }) {
    const auto prepared = work.prepare(task);
    const long long start = begin();
    work(task, prepared);
    return start;
  } else {
    const long long start = begin();
    work(task);
    return start;
  }
}

static __global__ void reset_log(TaskLog log) { log.reset(); }

}  // namespace task_worker

template <typename Work>
__global__ void run_task_graph(const __grid_constant__ TaskGraphWorld world,
                               const __grid_constant__ Work work) {
  const TaskOrder<GpuPlatform>& order = world.order;
  const std::uint32_t worker = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const std::uint32_t workers = gridDim.x * (blockDim.x / kWarp);
  if (threadIdx.x == 0) world.log.begin();
  TaskWorkerCounts counts;
  for (std::uint32_t task = worker; task < order.count; task += workers) {
    std::int64_t start_ns = 0;
    const long long start = task_worker::run_after_those_before(
        order, work, task, world.log.keeps() ? &start_ns : nullptr);
    __syncwarp();  // the work of all lanes happens before
    if (task_worker::lane() == 0) order.end(task);
    counts.busy_cycles += static_cast<std::uint64_t>(clock64() - start);
    ++counts.tasks;
    if (world.log.keeps()) {
      world.log.write(1, {task, worker, task_worker::sm(), start_ns, task_worker::timer_ns()});
    }
  }
  if (task_worker::lane() == 0) world.counts[worker] = counts;
}

#endif  // __CUDACC__

/// A graph of tasks on the device that is current when it is created. Can be run any number of
/// times, one run at a time. Thread-compatible. `Work` must be trivially copyable.
///
/// All blocks are on the device at the same time, as with a GpuTaskQueue. A task that takes much
/// longer than others delays later tasks of its warp (every W-th task, for W warps): independent
/// tasks of uneven length are better in a queue.
template <typename Work>
class GpuTaskGraph {
 public:
  /// Copies the dependencies to the device. Throws kInvalidArgument if a task waits for one with no
  /// lower number, the offsets do not ascend from 0 to the end of `before`, or the blocks do not
  /// fit on the device; kNotSupported if the device has no cooperative launch.
  explicit GpuTaskGraph(const TaskDependencies& dependencies,
                        const GpuTaskGraphOptions& options = {});
  /// Waits for the run; ignores errors.
  ~GpuTaskGraph() { runs_.end(); }
  GpuTaskGraph(const GpuTaskGraph&) = delete;
  GpuTaskGraph& operator=(const GpuTaskGraph&) = delete;

  /// Enqueues a run on the stream; returns at once. Throws kNotPermitted if wait() was not called
  /// for the last run.
  void start(cudaStream_t stream, const Work& work);
  /// Blocks until the run has ended and a profiler, if any, has received its tasks. Throws the
  /// device's error if it failed.
  void wait() { runs_.wait("GpuTaskGraph::wait"); }

  /// Of the last run, after wait(): tasks and busy cycles.
  [[nodiscard]] GpuTaskMetrics metrics() const { return runs_.metrics(); }
  /// In the order in which they ended, up to `records`.
  [[nodiscard]] std::vector<TaskRecord> records() const { return runs_.records(); }

  [[nodiscard]] std::uint32_t workers() const { return runs_.workers(); }
  [[nodiscard]] std::uint32_t blocks() const { return runs_.blocks(); }

 private:
  static const TaskDependencies& checked(const TaskDependencies& dependencies);
  static GpuTaskGraphOptions checked(GpuTaskGraphOptions options, std::size_t tasks);

  GpuTaskRuns runs_;
  GpuArray<std::uint32_t> offsets_, before_;
  GpuArray<TaskOrder<GpuPlatform>::Word> words_;  // one per task
  TaskGraphWorld world_{};
};

template <typename Work>
const TaskDependencies& GpuTaskGraph<Work>::checked(const TaskDependencies& dependencies) {
  const auto& [offsets, before] = dependencies;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != before.size())
    refuse_task("GpuTaskGraph", "offsets must ascend from 0 to the number of dependencies");
  for (std::size_t task = 0; task + 1 < offsets.size(); ++task) {
    if (offsets[task] > offsets[task + 1])
      refuse_task("GpuTaskGraph", "the offsets of task " + std::to_string(task) + " descend");
  }
  for (std::size_t task = 0; task + 1 < offsets.size(); ++task) {
    for (std::uint32_t k = offsets[task]; k < offsets[task + 1]; ++k) {
      if (before[k] < task) continue;
      refuse_task("GpuTaskGraph",
                  "task " + std::to_string(task) + " waits for task " + std::to_string(before[k]) +
                      ": give each task a higher number than the tasks it waits for");
    }
  }
  return dependencies;
}

template <typename Work>
GpuTaskGraphOptions GpuTaskGraph<Work>::checked(GpuTaskGraphOptions options, std::size_t tasks) {
  static_assert(std::is_trivially_copyable_v<Work>);
  const PersistentBlocks most = persistent_blocks(
      "GpuTaskGraph", reinterpret_cast<const void*>(run_task_graph<Work>), options.threads);
  const std::size_t warps = options.threads / kWarp;
  if (options.blocks == 0) {
    options.blocks = static_cast<std::uint32_t>(
        std::clamp<std::size_t>((tasks + warps - 1) / warps, 1, most.multiprocessors));
  }
  most.check("GpuTaskGraph", options.blocks);
  return options;
}

template <typename Work>
GpuTaskGraph<Work>::GpuTaskGraph(const TaskDependencies& dependencies,
                                 const GpuTaskGraphOptions& options)
    : runs_(checked(options, checked(dependencies).offsets.size() - 1)),
      offsets_(dependencies.offsets),
      before_(dependencies.before),
      words_(dependencies.offsets.size() - 1) {
  TaskOrder<GpuPlatform>& order = world_.order;
  order.offsets = offsets_.get();
  order.before = before_.get();
  order.ended = words_.get();
  order.count = static_cast<std::uint32_t>(dependencies.offsets.size() - 1);
  world_.counts = runs_.counts();
  world_.log = runs_.log();
  check_cuda(cudaMemset(words_.get(), 0, order.count * sizeof(std::uint32_t)), "cudaMemset");
  // A run may be on a stream that does not wait for the default stream, where this and the copies
  // of the dependencies are still under way.
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

template <typename Work>
void GpuTaskGraph<Work>::start(cudaStream_t stream, const Work& work) {
  runs_.check_idle("GpuTaskGraph::start");
  if (world_.log.keeps()) {
    task_worker::reset_log<<<1, 1, 0, stream>>>(world_.log);
    check_cuda(cudaGetLastError(), "reset_log");
  }
  ++world_.order.run;
  runs_.launch(stream, run_task_graph<Work>, world_, work);
}

}  // namespace coord
