// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What task_queue.cuh and task_graph.cuh share: the GPU's atomics, device arrays, and the runs of a
// kernel with their counters and records.
#pragma once

#include <cuda/atomic>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coord/error.h"
#include "coord/task_reporter.h"
#include "coord/task_ring.h"

namespace coord {

/// Atomics of one GPU.
struct GpuPlatform {
  template <typename T>
  using Atomic = cuda::atomic<T, cuda::thread_scope_device>;
  static constexpr cuda::std::memory_order kRelaxed = cuda::std::memory_order_relaxed;
  static constexpr cuda::std::memory_order kAcquire = cuda::std::memory_order_acquire;
  static constexpr cuda::std::memory_order kRelease = cuda::std::memory_order_release;
  COORD_HOST_DEVICE static void fence(cuda::std::memory_order order) {
    cuda::atomic_thread_fence(order, cuda::thread_scope_device);
  }
};

inline constexpr unsigned kWarp = 32;

/// What a worker did; written when it ends.
struct TaskWorkerCounts {
  std::uint64_t tasks = 0;
  std::uint64_t in_line = 0;      // of these, run where spawned as queues were full
  std::uint64_t steals = 0;       // batches
  std::uint64_t stolen = 0;       // tasks in them
  std::uint64_t received = 0;     // from the host
  std::uint64_t busy_cycles = 0;  // clock cycles of its multiprocessor spent in tasks
};

/// A recorded task. Times are from the GPU's global timer, in ns, with coarse resolution.
struct TaskRecord {
  Task task = kNoTask;
  std::uint32_t worker = 0, sm = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

inline constexpr std::int64_t kTaskNever = 0x7fffffffffffffff;

/// Words of a log that all workers change.
struct TaskLogState {
  GpuPlatform::Atomic<std::uint64_t> recorded;  // tasks, including those that did not fit
  GpuPlatform::Atomic<std::int64_t> began_ns;   // when the first block began
};

#ifdef __CUDACC__

namespace task_worker {

__device__ inline unsigned lane() { return threadIdx.x % kWarp; }
__device__ inline std::uint32_t sm() {
  std::uint32_t number = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
__device__ inline std::int64_t timer_ns() {
  std::int64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}
template <typename T>
__device__ T from_first(T value) {
  return __shfl_sync(~0u, value, 0);
}

}  // namespace task_worker

#endif

/// The workers' record of finished tasks, on the device. Borrows its arrays.
struct TaskLog {
  TaskRecord* records = nullptr;  // null: nothing is kept
  std::uint64_t capacity = 0;
  TaskLogState* state = nullptr;

  [[nodiscard]] COORD_HOST_DEVICE bool keeps() const { return records != nullptr; }

#ifdef __CUDACC__
  /// Called by one thread, before each run.
  __device__ void reset() const {
    state->recorded.store(0, GpuPlatform::kRelaxed);
    state->began_ns.store(kTaskNever, GpuPlatform::kRelaxed);
  }
  /// Called by one thread of each block, when it begins.
  __device__ void begin() const {
    if (keeps()) state->began_ns.fetch_min(task_worker::timer_ns(), GpuPlatform::kRelaxed);
  }
  /// Called by all lanes of a warp: the first `batch` lanes have run one task each.
  __device__ void write(std::uint32_t batch, const TaskRecord& mine) const {
    std::uint64_t first = 0;
    if (task_worker::lane() == 0) first = state->recorded.fetch_add(batch, GpuPlatform::kRelaxed);
    const std::uint64_t at = task_worker::from_first(first) + task_worker::lane();
    if (task_worker::lane() < batch && at < capacity) records[at] = mine;
  }
#endif
};

/// Throws if a CUDA runtime call failed.
inline void check_cuda(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  ErrorKind kind = ErrorKind::kDeviceFailure;
  if (result == cudaErrorMemoryAllocation) kind = ErrorKind::kOutOfMemory;
  if (result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver)
    kind = ErrorKind::kNoDevice;
  if (result == cudaErrorInvalidValue || result == cudaErrorCooperativeLaunchTooLarge ||
      result == cudaErrorInvalidConfiguration)
    kind = ErrorKind::kInvalidArgument;
  throw Error(kind, result, cudaGetErrorName(result), call, cudaGetErrorString(result));
}

/// Throws for an invalid request.
[[noreturn]] inline void refuse_task(const char* call, const std::string& why,
                                     ErrorKind kind = ErrorKind::kInvalidArgument) {
  throw Error(kind, cudaErrorInvalidValue, cudaGetErrorName(cudaErrorInvalidValue), call, why);
}

/// How many blocks of a kernel can be resident on the current device.
struct PersistentBlocks {
  std::uint32_t most = 0, multiprocessors = 0;

  /// Throws kInvalidArgument if `blocks` do not fit.
  void check(const char* call, std::uint32_t blocks) const {
    if (most != 0 && blocks <= most) return;
    refuse_task(call, std::to_string(blocks) + " blocks are requested, but only " +
                          std::to_string(most) + " fit on the device at a time");
  }
};

/// For a kernel whose blocks wait for each other. Throws kInvalidArgument unless `threads` are full
/// warps, kNotSupported if the device has no cooperative launch.
inline PersistentBlocks persistent_blocks(const char* call, const void* kernel,
                                          std::uint32_t threads, std::size_t shared_bytes = 0) {
  if (threads == 0 || threads % kWarp != 0) refuse_task(call, "a block must consist of full warps");
  int device = 0, cooperative = 0, multiprocessors = 0, fit = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device),
             "cudaDeviceGetAttribute");
  if (cooperative == 0)
    refuse_task(call, "the device has no cooperative launch", ErrorKind::kNotSupported);
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  if (shared_bytes != 0) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)),
               "cudaFuncSetAttribute");
  }
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads),
                                                           shared_bytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return {static_cast<std::uint32_t>(fit * multiprocessors),
          static_cast<std::uint32_t>(multiprocessors)};
}

/// Owns a device array.
template <typename T>
class GpuArray {
 public:
  explicit GpuArray(std::size_t count) {
    if (count != 0) check_cuda(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
  }
  explicit GpuArray(const std::vector<T>& values) : GpuArray(values.size()) {
    check_cuda(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }
  ~GpuArray() { cudaFree(data_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  [[nodiscard]] T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Owns an array of page-locked memory that the device accesses at the same address.
template <typename T>
class PageLocked {
 public:
  explicit PageLocked(std::size_t count) {
    check_cuda(
        cudaHostAlloc(&data_, count * sizeof(T), cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  }
  ~PageLocked() { cudaFreeHost(data_); }
  PageLocked(const PageLocked&) = delete;
  PageLocked& operator=(const PageLocked&) = delete;
  [[nodiscard]] T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Metrics of one run.
struct GpuTaskMetrics {
  TaskWorkerCounts all{};
  std::vector<TaskWorkerCounts> workers;
  /// Longest busy time of a worker over the mean; 1 is balanced, 0 if nothing ran.
  [[nodiscard]] double imbalance() const {
    std::uint64_t most = 0;
    for (const TaskWorkerCounts& one : workers) most = std::max(most, one.busy_cycles);
    if (all.busy_cycles == 0) return 0;
    return static_cast<double>(most) * static_cast<double>(workers.size()) /
           static_cast<double>(all.busy_cycles);
  }
};

/// Counters of the workers in the last run, which has ended. Throws the device's error.
inline GpuTaskMetrics read_metrics(const GpuArray<TaskWorkerCounts>& counts,
                                   std::uint32_t workers) {
  GpuTaskMetrics metrics;
  metrics.workers.resize(workers);
  check_cuda(cudaMemcpy(metrics.workers.data(), counts.get(), workers * sizeof(TaskWorkerCounts),
                        cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  for (const TaskWorkerCounts& one : metrics.workers) {
    metrics.all.tasks += one.tasks;
    metrics.all.in_line += one.in_line;
    metrics.all.steals += one.steals;
    metrics.all.stolen += one.stolen;
    metrics.all.received += one.received;
    metrics.all.busy_cycles += one.busy_cycles;
  }
  return metrics;
}

/// Owns a log, and reports its contents to the profiler, if any. Thread-compatible.
class GpuTaskLog {
 public:
  GpuTaskLog(std::size_t capacity, std::uint32_t workers, const std::string& name)
      : capacity_(capacity),
        records_(capacity),
        state_(1),
        reporter_(TaskReporter::Workers::kWarps, workers, name) {
    TaskReporter::listen();
  }

  [[nodiscard]] TaskLog device() const { return {records_.get(), capacity_, state_.get()}; }
  /// The workers have just been launched.
  void begin_run() { run_ = reporter_.begin_run(); }
  /// The workers have ended; `counts` holds how many tasks they ran.
  void end_run(const GpuArray<TaskWorkerCounts>& counts, std::uint32_t workers) {
    if (capacity_ == 0 || !reporter_.is_heard()) return;
    std::int64_t began_ns = 0;
    check_cuda(
        cudaMemcpy(&began_ns, &state_.get()->began_ns, sizeof began_ns, cudaMemcpyDeviceToHost),
        "cudaMemcpy");
    const std::vector<TaskRecord> recorded = records();
    std::vector<TaskReporter::Ran> ran;
    ran.reserve(recorded.size());
    for (const TaskRecord& one : recorded)
      ran.push_back({one.task, one.worker, one.sm, one.start_ns - began_ns, one.end_ns - began_ns});
    reporter_.end_run(run_, ran, read_metrics(counts, workers).all.tasks - ran.size());
  }

  /// In the order in which they ended, up to the capacity.
  [[nodiscard]] std::vector<TaskRecord> records() const {
    std::uint64_t count = 0;
    if (capacity_ != 0) {
      check_cuda(cudaMemcpy(&count, &state_.get()->recorded, sizeof count, cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
    }
    std::vector<TaskRecord> records(std::min<std::size_t>(count, capacity_));
    check_cuda(cudaMemcpy(records.data(), records_.get(), records.size() * sizeof(TaskRecord),
                          cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return records;
  }

 private:
  const std::size_t capacity_;
  GpuArray<TaskRecord> records_;
  GpuArray<TaskLogState> state_;
  TaskReporter reporter_;
  std::uint32_t run_ = 0;  // its number, for the profiler
};

/// The runs of a persistent kernel, one at a time: the workers, their counters and records, and the
/// event behind the run. Thread-compatible; ended() is thread-safe.
class GpuTaskRuns {
 public:
  /// From the options of a queue or a graph, whose number of blocks is known.
  template <typename Options>
  explicit GpuTaskRuns(const Options& options)
      : blocks_(options.blocks),
        threads_(options.threads),
        counts_(workers()),
        log_(options.records, workers(), options.name) {
    check_cuda(cudaEventCreateWithFlags(&ended_, cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
  }
  ~GpuTaskRuns() { cudaEventDestroy(ended_); }
  GpuTaskRuns(const GpuTaskRuns&) = delete;
  GpuTaskRuns& operator=(const GpuTaskRuns&) = delete;

  /// Throws kNotPermitted if wait() was not called for the last run.
  void check_idle(const char* call) const {
    if (running_)
      refuse_task(call, "wait() was not called for the last run", ErrorKind::kNotPermitted);
  }
  /// Launches all blocks of the kernel at the same time, or throws without running any.
  template <typename World, typename Work>
  void launch(cudaStream_t stream, void (*kernel)(World, Work), World world, Work work,
              std::size_t shared_bytes = 0) {
    void* arguments[] = {&world, &work};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks_),
                                           dim3(threads_), arguments, shared_bytes, stream),
               "cudaLaunchCooperativeKernel");
    log_.begin_run();
    running_ = true;
    check_cuda(cudaEventRecord(ended_, stream), "cudaEventRecord");
  }
  /// Whether the run has ended. Throws the device's error if it failed.
  [[nodiscard]] bool ended(const char* call) const {
    const cudaError_t state = cudaEventQuery(ended_);
    if (state == cudaErrorNotReady) return false;
    check_cuda(state, call);
    return true;
  }
  /// Blocks until the run has ended and a profiler, if any, has received its tasks. Throws the
  /// device's error if it failed.
  void wait(const char* call) {
    if (!running_) return;
    check_cuda(cudaEventSynchronize(ended_), call);
    running_ = false;
    log_.end_run(counts_, workers());
  }
  /// For destructors: blocks until the run has ended, and ignores errors.
  void end() const noexcept {
    if (running_) cudaEventSynchronize(ended_);
  }

  /// For the kernel, one per worker.
  [[nodiscard]] TaskWorkerCounts* counts() const { return counts_.get(); }
  [[nodiscard]] TaskLog log() const { return log_.device(); }
  /// Of the last run, after wait().
  [[nodiscard]] GpuTaskMetrics metrics() const { return read_metrics(counts_, workers()); }
  [[nodiscard]] std::vector<TaskRecord> records() const { return log_.records(); }
  [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t workers() const { return blocks_ * (threads_ / kWarp); }

 private:
  const std::uint32_t blocks_, threads_;
  GpuArray<TaskWorkerCounts> counts_;
  GpuTaskLog log_;
  cudaEvent_t ended_ = nullptr;  // recorded behind the run
  bool running_ = false;
};

}  // namespace coord
