// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the programs that measure task queues on a GPU share: timing, a baseline with one queue for
// all, and a watchdog.
#pragma once

#include <coord/task_queue.cuh>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "counted.h"

namespace tasks {

using coord::GpuPlatform;
using coord::kNoTask;
using coord::Task;

/// Ends the program if nothing is reported for this long: a hung kernel cannot be ended otherwise.
class Watchdog {
 public:
  explicit Watchdog(double seconds) : limit_(seconds) {
    std::thread([this] { watch(); }).detach();
  }
  void alive(const std::string& what) {
    std::lock_guard lock(mutex_);
    what_ = what;
    last_ = std::chrono::steady_clock::now();
  }

 private:
  void watch() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::lock_guard lock(mutex_);
      const std::chrono::duration<double> silent = std::chrono::steady_clock::now() - last_;
      if (silent.count() < limit_) continue;
      std::fprintf(stderr, "FAIL it hangs: %s, for %.0f s\n", what_.c_str(), silent.count());
      _exit(1);
    }
  }

  const double limit_;
  std::mutex mutex_;
  std::string what_ = "start";
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

inline double patience_s = 30;  // to be changed before the watchdog is first used

/// The watchdog of the program; never ends before it.
inline Watchdog& watchdog() {
  static Watchdog* only = new Watchdog(patience_s);
  return *only;
}

/// An array of the device that starts with `values`.
template <typename T>
class Array {
 public:
  explicit Array(std::size_t count) : count_(count) {
    CALL(cudaMalloc, &data_, std::max<std::size_t>(count, 1) * sizeof(T));
    clear();
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    CALL(cudaMemcpy, data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
    CALL(cudaStreamSynchronize, nullptr);
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  [[nodiscard]] T* get() const { return data_; }
  /// Also for streams that do not wait for the default stream.
  void clear() {
    CALL(cudaMemset, data_, 0, count_ * sizeof(T));
    CALL(cudaStreamSynchronize, nullptr);
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    CALL(cudaMemcpy, values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Milliseconds on the device from before `enqueue` to after it.
inline double milliseconds(cudaStream_t stream, const std::function<void()>& enqueue) {
  cudaEvent_t start, end;
  CALL(cudaEventCreate, &start);
  CALL(cudaEventCreate, &end);
  CALL(cudaEventRecord, start, stream);
  enqueue();
  CALL(cudaEventRecord, end, stream);
  CALL(cudaEventSynchronize, end);
  float spent = 0;
  CALL(cudaEventElapsedTime, &spent, start, end);
  CALL(cudaEventDestroy, start);
  CALL(cudaEventDestroy, end);
  return spent;
}

/// The middle of `rounds` results; the first round only warms up.
inline double median(int rounds, const std::function<double()>& measure) {
  std::vector<double> values;
  for (int i = 0; i <= rounds; ++i) {
    watchdog().alive("round " + std::to_string(i));
    const double value = measure();
    if (i > 0) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Longest over mean of the workers' busy cycles.
inline double imbalance(const std::vector<std::uint64_t>& busy) {
  std::uint64_t most = 0, sum = 0;
  for (const std::uint64_t one : busy) {
    most = std::max(most, one);
    sum += one;
  }
  return sum == 0 ? 0 : static_cast<double>(most) * static_cast<double>(busy.size()) / sum;
}

/// The baseline: one queue for all workers. Tasks are claimed and added a warp at a time, as in
/// ours.
struct OneQueue {
  Task* slots;  // as many as tasks that ever exist, so it never wraps
  unsigned long long *head, *tail;
  unsigned long long* left;  // tasks that have not ended
  unsigned long long* busy;  // cycles of each worker
};

template <typename Work>
__global__ void run_one_queue(const __grid_constant__ OneQueue queue,
                              const __grid_constant__ Work work) {
  using Stage = typename coord::TaskLane<Work>::Stage;
  extern __shared__ Task stages[];
  Stage& stage = reinterpret_cast<Stage*>(stages)[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned worker = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  std::uint64_t busy = 0;
  using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  if (lane == 0) stage.in_line = 0;
  for (;;) {
    unsigned long long first = 0;
    unsigned count = 0;
    bool none = false;
    if (lane == 0) {
      Word head(*queue.head);
      first = head.load(cuda::std::memory_order_relaxed);
      for (;;) {
        const unsigned long long tail = Word(*queue.tail).load(cuda::std::memory_order_acquire);
        count = static_cast<unsigned>(min(tail > first ? tail - first : 0ull,
                                          static_cast<unsigned long long>(Work::kTasksAtOnce)));
        if (count == 0 ||
            head.compare_exchange_strong(first, first + count, cuda::std::memory_order_acquire,
                                         cuda::std::memory_order_relaxed))
          break;
      }
      none = count == 0 && Word(*queue.left).load(cuda::std::memory_order_acquire) == 0;
      stage.count = 0;
    }
    first = __shfl_sync(~0u, first, 0);
    count = __shfl_sync(~0u, count, 0);
    if (__shfl_sync(~0u, none, 0)) break;
    if (count == 0) {
      __nanosleep(100);
      continue;
    }
    const unsigned which = Work::kTasksAtOnce == 1 ? 0 : lane;
    Task task = kNoTask;
    if (which < count) {
      cuda::atomic_ref<Task, cuda::thread_scope_device> slot(queue.slots[first + which]);
      while ((task = slot.load(cuda::std::memory_order_acquire)) == kNoTask) {  // in progress
      }
    }
    __syncwarp();
    const long long start = clock64();
    coord::TaskLane<Work> context(work, stage, worker);
    if (task != kNoTask) work(task, context);
    __syncwarp();
    busy += clock64() - start;
    const unsigned spawned = min(stage.count, Work::kStaged);
    unsigned long long at = 0;
    if (lane == 0 && spawned != 0) {
      Word(*queue.left).fetch_add(spawned, cuda::std::memory_order_relaxed);
      at = Word(*queue.tail).fetch_add(spawned, cuda::std::memory_order_acq_rel);
    }
    at = __shfl_sync(~0u, at, 0);
    for (unsigned i = lane; i < spawned; i += 32) {
      cuda::atomic_ref<Task, cuda::thread_scope_device>(queue.slots[at + i])
          .store(stage.tasks[i], cuda::std::memory_order_release);
    }
    __syncwarp();
    if (lane == 0) Word(*queue.left).fetch_sub(count, cuda::std::memory_order_release);
  }
  if (lane == 0) queue.busy[worker] = busy;
}

/// Runs `given` and what they spawn (`capacity` tasks in all at most) on one queue.
struct OneQueueResult {
  double ms = 0, imbalance = 0;
};
template <typename Work>
OneQueueResult run_on_one_queue(cudaStream_t stream, const Work& work,
                                const std::vector<Task>& given, std::size_t capacity,
                                std::uint32_t blocks, std::uint32_t threads) {
  std::vector<Task> slots(capacity, kNoTask);
  std::copy(given.begin(), given.end(), slots.begin());
  const Array<Task> held(slots);
  const Array<unsigned long long> words(
      std::vector<unsigned long long>{0, given.size(), given.size()});
  const Array<unsigned long long> busy(blocks * threads / 32);
  const OneQueue queue{held.get(), words.get(), words.get() + 1, words.get() + 2, busy.get()};
  const std::size_t bytes = threads / 32 * sizeof(typename coord::TaskLane<Work>::Stage);
  CALL(cudaFuncSetAttribute, run_one_queue<Work>, cudaFuncAttributeMaxDynamicSharedMemorySize,
       static_cast<int>(bytes));
  OneQueueResult result;
  result.ms = milliseconds(stream, [&] {
    run_one_queue<Work><<<blocks, threads, bytes, stream>>>(queue, work);
    CALL(cudaGetLastError);
  });
  std::vector<std::uint64_t> cycles;
  for (const unsigned long long one : busy.read()) cycles.push_back(one);
  result.imbalance = imbalance(cycles);
  return result;
}

/// A number that looks random.
__host__ __device__ inline std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ value >> 27) * 0x94d049bb133111ebull;
  return value ^ value >> 31;
}

/// Keeps a lane busy for this many steps, and returns a value that depends on all of them.
__device__ inline float work_for(std::uint32_t steps) {
  float value = 1;
  for (std::uint32_t i = 0; i < steps; ++i) value = fmaf(value, 0.9999f, 0.5f);
  return value;
}

}  // namespace tasks
