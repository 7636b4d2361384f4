// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks for warps of a GPU that depend on each other and spawn others: one persistent kernel whose
// warps run until no task is left. For work in pieces too uneven, too small or too interdependent
// for one kernel launch each. Needs nvcc; for host threads, see task_queue.h.
//
//   struct Count {                                   // copied to the device
//     static constexpr std::uint32_t kTasksAtOnce = 32;  // a warp runs 32 tasks, or 1 in all lanes
//     static constexpr std::uint32_t kStaged = 128;      // tasks a warp keeps outside its ring
//     unsigned long long* sum;
//     __device__ void operator()(coord::Task task, coord::TaskLane<Count>& lane) const {
//       atomicAdd(sum, 1ull);
//       if (task > 1) lane.spawn(task / 2);
//     }
//   };
//   coord::GpuTaskQueue<Count> queue;
//   queue.start(stream, Count{sum}, {.count = 1000});   // tasks 0 to 999
//   queue.wait();
//
// A task that depends on others is spawned by the last of them: TaskEdges (task_ring.h) counts
// them. If all dependencies are known in advance, a task graph is faster: task_graph.cuh.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "coord/error.h"
#include "coord/task_gpu.cuh"
#include "coord/task_ring.h"
#include "coord/task_worker.cuh"

namespace coord {

struct GpuTaskQueueOptions {
  std::uint32_t blocks = 0;     // 0: as many as fit on the device at a time
  std::uint32_t threads = 256;  // in a block; full warps
  std::uint32_t ring = 256;     // tasks of a worker that others may steal; a power of two
  std::uint32_t inbox = 4096;   // tasks from the host not yet fetched by a worker; a power of two
  bool steal = true;            // false: each worker runs its initial share of the tasks
  /// Maximum recorded tasks of a run, the first to end: 40 bytes of device memory each. wait()
  /// reports them to a listening profiler.
  std::size_t records = 0;
  /// Minimum stack size of each thread of the context: for nested tasks that run where they are
  /// spawned.
  std::size_t stack_bytes = 0;
  std::string name{};  // in the trace
};

/// The tasks at the start of a run.
struct GpuTasks {
  const Task* tasks = nullptr;  // device memory, borrowed until the run ends; null: 0, 1, ...
  std::uint32_t count = 0;
  bool open = false;  // the host will submit more, until it calls close()
};

namespace task_worker {

/// Once per queue: initializes empty rings.
static __global__ void prepare(TaskWorld world, TaskRing<GpuPlatform>::Slot* slots,
                               std::uint32_t capacity) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint64_t all = std::uint64_t{world.workers} * capacity;
  for (std::uint64_t i = first; i < all; i += step)
    new (&slots[i]) TaskRing<GpuPlatform>::Slot(kNoTask);
  for (std::uint32_t i = first; i < world.workers; i += step) {
    new (&world.rings[i]) TaskRing<GpuPlatform>();
    world.rings[i].bind(slots + std::uint64_t{i} * capacity, capacity);
    new (&world.shares[i]) TaskSpan<GpuPlatform>();
  }
  if (first == 0) new (world.sums) TaskSums();
}

/// Before each run: distributes the initial tasks to the workers.
static __global__ void deal(TaskWorld world, std::uint32_t count, bool open) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::uint32_t i = first; i < world.workers; i += step) {
    const std::uint64_t begin = std::uint64_t{count} * i / world.workers;
    const std::uint64_t end = std::uint64_t{count} * (i + 1) / world.workers;
    world.shares[i].reset(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
    world.counts[i] = {};
  }
  if (first != 0) return;
  world.sums->count.reset(std::uint64_t{count} + (open ? 1 : 0));
  world.sums->receiving.store(0, GpuPlatform::kRelaxed);
  if (world.log.keeps()) world.log.reset();
  world.sums->received = 0;
  world.sums->open = open ? 1 : 0;
}

}  // namespace task_worker

/// A persistent kernel and its queues, on the device that is current when it is created. One run at
/// a time; try_submit, submit and close are thread-safe, the other functions thread-compatible.
///
/// All blocks are on the device at the same time: the number is checked against the occupancy, and
/// the launch is cooperative, so it fails if not all blocks fit. `Work` must be trivially copyable.
/// Tasks must not wait for each other: dependencies are counted, and the last one to end spawns the
/// task.
template <typename Work>
class GpuTaskQueue {
 public:
  /// Allocates rings and inbox. Throws kInvalidArgument if the blocks do not fit or a size is not a
  /// power of two, kNotSupported if the device has no cooperative launch.
  explicit GpuTaskQueue(const GpuTaskQueueOptions& options = {});
  /// Closes the run and waits for it; ignores errors.
  ~GpuTaskQueue();
  GpuTaskQueue(const GpuTaskQueue&) = delete;
  GpuTaskQueue& operator=(const GpuTaskQueue&) = delete;

  /// Enqueues a run on the stream; returns at once. Throws kNotPermitted if wait() was not called
  /// for the last run.
  void start(cudaStream_t stream, const Work& work, const GpuTasks& tasks);

  /// Submits tasks to the run. Returns how many fit. Never blocks. Throws kNotPermitted unless the
  /// run is open.
  [[nodiscard]] std::size_t try_submit(std::span<const Task> tasks);
  /// The same for all of them; blocks while the inbox is full. Throws the device's error if it
  /// failed.
  void submit(std::span<const Task> tasks);
  /// No more tasks: the run ends once all its tasks have ended.
  void close();

  /// Blocks until the run has ended and a profiler, if any, has received its tasks. Throws the
  /// device's error if it failed.
  void wait() { runs_.wait("GpuTaskQueue::wait"); }

  /// Of the last run, after wait().
  [[nodiscard]] GpuTaskMetrics metrics() const { return runs_.metrics(); }
  /// In the order in which they ended, up to `records`; without those that ran where they were
  /// spawned.
  [[nodiscard]] std::vector<TaskRecord> records() const { return runs_.records(); }

  [[nodiscard]] std::uint32_t workers() const { return runs_.workers(); }
  [[nodiscard]] std::uint32_t blocks() const { return runs_.blocks(); }

 private:
  using Slot = TaskRing<GpuPlatform>::Slot;
  static constexpr unsigned kDealBlocks = 32, kDealThreads = 256;

  static GpuTaskQueueOptions checked(GpuTaskQueueOptions options);
  static std::size_t stage_bytes(std::uint32_t threads) {
    return threads / kWarp * sizeof(TaskStage<Work::kStaged, Work::kTasksAtOnce>);
  }

  const GpuTaskQueueOptions options_;
  GpuTaskRuns runs_;
  GpuArray<TaskRing<GpuPlatform>> rings_;
  GpuArray<Slot> slots_;
  GpuArray<TaskSpan<GpuPlatform>> shares_;
  GpuArray<TaskSums> sums_;
  PageLocked<TaskInbox> inbox_;
  PageLocked<Task> inbox_slots_;
  TaskWorld world_{};

  std::mutex mutex_;  // for submissions
  bool open_ = false;
  std::uint64_t submitted_ = 0;
};

template <typename Work>
GpuTaskQueueOptions GpuTaskQueue<Work>::checked(GpuTaskQueueOptions options) {
  static_assert(std::is_trivially_copyable_v<Work>);
  const auto power = [](std::uint32_t size) { return size != 0 && (size & (size - 1)) == 0; };
  if (!power(options.ring) || !power(options.inbox))
    refuse_task("GpuTaskQueue", "ring and inbox must be powers of two");
  const PersistentBlocks fit =
      persistent_blocks("GpuTaskQueue", reinterpret_cast<const void*>(run_task_workers<Work>),
                        options.threads, stage_bytes(options.threads));
  if (options.blocks == 0) options.blocks = fit.most;
  fit.check("GpuTaskQueue", options.blocks);
  if (options.stack_bytes != 0) {
    std::size_t now = 0;
    check_cuda(cudaDeviceGetLimit(&now, cudaLimitStackSize), "cudaDeviceGetLimit");
    if (now < options.stack_bytes)
      check_cuda(cudaDeviceSetLimit(cudaLimitStackSize, options.stack_bytes), "cudaDeviceSetLimit");
  }
  return options;
}

template <typename Work>
GpuTaskQueue<Work>::GpuTaskQueue(const GpuTaskQueueOptions& options)
    : options_(checked(options)),
      runs_(options_),
      rings_(workers()),
      slots_(std::size_t{workers()} * options_.ring),
      shares_(workers()),
      sums_(1),
      inbox_(1),
      inbox_slots_(options_.inbox) {
  world_.rings = rings_.get();
  world_.shares = shares_.get();
  world_.counts = runs_.counts();
  world_.sums = sums_.get();
  world_.workers = workers();
  world_.steal = options_.steal;
  world_.inbox_slots = inbox_slots_.get();
  world_.inbox_mask = options_.inbox - 1;
  world_.log = runs_.log();
  for (std::uint32_t i = 0; i < options_.inbox; ++i) inbox_slots_.get()[i] = kNoTask;
  task_worker::prepare<<<kDealBlocks, kDealThreads>>>(world_, slots_.get(), options_.ring);
  check_cuda(cudaGetLastError(), "prepare");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

template <typename Work>
GpuTaskQueue<Work>::~GpuTaskQueue() {
  close();
  runs_.end();
}

template <typename Work>
void GpuTaskQueue<Work>::start(cudaStream_t stream, const Work& work, const GpuTasks& tasks) {
  runs_.check_idle("GpuTaskQueue::start");
  const std::lock_guard lock(mutex_);
  world_.given = tasks.tasks;
  world_.inbox = tasks.open ? inbox_.get() : nullptr;
  *inbox_.get() = {};
  submitted_ = 0;
  task_worker::deal<<<kDealBlocks, kDealThreads, 0, stream>>>(world_, tasks.count, tasks.open);
  check_cuda(cudaGetLastError(), "deal");
  runs_.launch(stream, run_task_workers<Work>, world_, work, stage_bytes(options_.threads));
  open_ = tasks.open;
}

template <typename Work>
std::size_t GpuTaskQueue<Work>::try_submit(std::span<const Task> tasks) {
  const std::lock_guard lock(mutex_);
  if (!open_)
    refuse_task("GpuTaskQueue::try_submit", "the run is not open", ErrorKind::kNotPermitted);
  std::size_t count = 0;
  for (; count < tasks.size(); ++count) {
    const std::atomic_ref<Task> slot(inbox_slots_.get()[(submitted_ + count) & world_.inbox_mask]);
    if (slot.load(std::memory_order_acquire) != kNoTask) break;
    slot.store(tasks[count], std::memory_order_relaxed);
  }
  submitted_ += count;
  std::atomic_ref(inbox_.get()->tail).store(submitted_, std::memory_order_release);
  return count;
}

template <typename Work>
void GpuTaskQueue<Work>::submit(std::span<const Task> tasks) {
  while (!tasks.empty()) {
    const std::size_t count = try_submit(tasks);
    tasks = tasks.subspan(count);
    if (count != 0) continue;
    (void)runs_.ended("GpuTaskQueue::submit");  // throws if the device has failed
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

template <typename Work>
void GpuTaskQueue<Work>::close() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(open_, false)) return;
  std::atomic_ref(inbox_.get()->closed).store(1, std::memory_order_release);
}

}  // namespace coord
