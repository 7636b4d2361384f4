// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Building blocks of task queues, on the host (task_queue.h) and on a GPU (task_queue.cuh): bounded
// rings that workers steal from in batches, dependency counters, and the count that shows when
// everything has ended.
//
// Everything is a template over a platform, which provides the atomics: std::atomic, a GPU's, or
// those of a test that tries every order of their steps. Nothing here blocks, allocates or throws.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __CUDACC__
#define COORD_HOST_DEVICE __host__ __device__
#else
#define COORD_HOST_DEVICE
#endif

namespace coord {

/// What a queue passes between workers: an index, a packed state, a pointer. Any value but kNoTask.
using Task = std::uint64_t;

inline constexpr Task kNoTask = ~Task{0};

/// Atomics of the host.
struct HostPlatform {
  template <typename T>
  using Atomic = std::atomic<T>;
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
  static constexpr std::memory_order kAcquire = std::memory_order_acquire;
  static constexpr std::memory_order kRelease = std::memory_order_release;
  static void fence(std::memory_order order) { std::atomic_thread_fence(order); }
};

/// Consecutive positions, from `first` on.
struct TaskClaim {
  std::uint32_t first = 0, count = 0;
};

/// Unclaimed positions: [begin, end), in one word. Positions count up from 0 and wrap around after
/// 2^32. Thread-safe, except append() and claim_newest(), which are for the owner only.
template <typename Platform>
class TaskSpan {
 public:
  /// Not while others use it; but the owner may while it is empty, because then no other thread
  /// changes it.
  COORD_HOST_DEVICE void reset(std::uint32_t begin, std::uint32_t end) {
    word_.store(pack(begin, end), Platform::kRelaxed);
  }
  /// Recent number of positions.
  COORD_HOST_DEVICE std::uint32_t size() { return size_of(word_.load(Platform::kRelaxed)); }
  COORD_HOST_DEVICE std::uint32_t end() { return end_of(word_.load(Platform::kRelaxed)); }

  /// Adds positions at the end. Data written for them before is visible to threads that claim them.
  COORD_HOST_DEVICE void append(std::uint32_t count) {
    word_.fetch_add(static_cast<std::uint64_t>(count) << 32, Platform::kRelease);
  }

  /// Claims up to `most`, and at most one in `share` of all (rounded up), from the beginning.
  COORD_HOST_DEVICE TaskClaim claim_oldest(std::uint32_t most, std::uint32_t share = 1) {
    std::uint64_t now = word_.load(Platform::kRelaxed);
    for (;;) {
      const std::uint32_t count = allowed(size_of(now), most, share);
      if (count == 0) return {};
      const std::uint32_t begin = begin_of(now);
      if (claim(now, pack(begin + count, end_of(now)))) return {begin, count};
    }
  }
  /// The same, from the end.
  COORD_HOST_DEVICE TaskClaim claim_newest(std::uint32_t most) {
    std::uint64_t now = word_.load(Platform::kRelaxed);
    for (;;) {
      const std::uint32_t count = allowed(size_of(now), most, 1);
      if (count == 0) return {};
      const std::uint32_t end = end_of(now) - count;
      if (claim(now, pack(begin_of(now), end))) return {end, count};
    }
  }

 private:
  // An append happens before a claim of its positions: claims in between continue the release
  // sequence.
  COORD_HOST_DEVICE bool claim(std::uint64_t& from, std::uint64_t to) {
    return word_.compare_exchange_strong(from, to, Platform::kAcquire, Platform::kRelaxed);
  }
  COORD_HOST_DEVICE static std::uint32_t allowed(std::uint32_t size, std::uint32_t most,
                                                 std::uint32_t share) {
    const std::uint32_t part = size / share + (size % share != 0 ? 1 : 0);
    return part < most ? part : most;
  }
  COORD_HOST_DEVICE static std::uint64_t pack(std::uint32_t begin, std::uint32_t end) {
    return static_cast<std::uint64_t>(end) << 32 | begin;
  }
  COORD_HOST_DEVICE static std::uint32_t begin_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  COORD_HOST_DEVICE static std::uint32_t end_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
  COORD_HOST_DEVICE static std::uint32_t size_of(std::uint64_t word) {
    return end_of(word) - begin_of(word);
  }

  typename Platform::template Atomic<std::uint64_t> word_{0};
};

/// A bounded queue with one owner, which adds tasks and takes the newest, and any number of
/// thieves, which take the oldest in batches.
///
/// A slot that holds kNoTask is free, any other is not: so a slot that is claimed but not taken yet
/// is not overwritten, and the ring need not track taken positions. Several threads that act as one
/// (the lanes of a warp) share the work: one claims or publishes, each of them takes or puts, with
/// a barrier in between.
template <typename Platform>
class TaskRing {
 public:
  using Slot = typename Platform::template Atomic<Task>;

  /// Borrows `slots`: `capacity` of them, a power of two, all kNoTask.
  COORD_HOST_DEVICE void bind(Slot* slots, std::uint32_t capacity) {
    slots_ = slots;
    mask_ = capacity - 1;
    span_.reset(0, 0);
  }
  COORD_HOST_DEVICE std::uint32_t capacity() const { return mask_ + 1; }
  COORD_HOST_DEVICE std::uint32_t size() { return span_.size(); }

  /// Owner only: where the next task goes.
  COORD_HOST_DEVICE std::uint32_t end() { return span_.end(); }
  /// Owner only: whether put() may be called for a position from end() on.
  COORD_HOST_DEVICE bool is_free(std::uint32_t position) {
    return slot(position).load(Platform::kAcquire) == kNoTask;
  }
  COORD_HOST_DEVICE void put(std::uint32_t position, Task task) {
    slot(position).store(task, Platform::kRelaxed);
  }
  /// Owner only: makes `count` positions that were put available to all.
  COORD_HOST_DEVICE void publish(std::uint32_t count) { span_.append(count); }
  /// Owner only: all of this for one task. False if the ring is full: then the caller should run
  /// it.
  COORD_HOST_DEVICE bool push(Task task) {
    const std::uint32_t position = end();
    if (!is_free(position)) return false;
    put(position, task);
    publish(1);
    return true;
  }

  /// Owner only. Each claimed position must be taken.
  COORD_HOST_DEVICE TaskClaim claim_newest(std::uint32_t most) { return span_.claim_newest(most); }
  COORD_HOST_DEVICE TaskClaim claim_oldest(std::uint32_t most, std::uint32_t share = 1) {
    return span_.claim_oldest(most, share);
  }
  /// The task at a claimed position; once for each.
  COORD_HOST_DEVICE Task take(std::uint32_t position) {
    const Task task = slot(position).load(Platform::kRelaxed);
    slot(position).store(kNoTask, Platform::kRelease);
    return task;
  }

 private:
  COORD_HOST_DEVICE Slot& slot(std::uint32_t position) { return slots_[position & mask_]; }

  TaskSpan<Platform> span_;
  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;
};

/// Which workers of a team wait for tasks: one bit each, at most 32. Thread-safe.
template <typename Platform>
class TaskIdle {
 public:
  /// Not while others use it.
  COORD_HOST_DEVICE void reset() { bits_.store(0, Platform::kRelaxed); }
  COORD_HOST_DEVICE std::uint32_t now() { return bits_.fetch_or(0, Platform::kRelaxed); }
  /// The worker waits, with an empty gift, until another worker claims it or it leaves.
  COORD_HOST_DEVICE void enter(std::uint32_t bit) { bits_.fetch_or(bit, Platform::kRelease); }
  /// False if it was already claimed: then a gift is there or about to arrive.
  [[nodiscard]] COORD_HOST_DEVICE bool leave(std::uint32_t bit) {
    return (bits_.fetch_and(~bit, Platform::kRelaxed) & bit) != 0;
  }
  /// Claims up to `most` workers, from the lowest bit on. Each must then receive a gift.
  [[nodiscard]] COORD_HOST_DEVICE std::uint32_t claim(std::uint32_t most) {
    const std::uint32_t idle = now();
    std::uint32_t rest = idle;
    for (; rest != 0 && most != 0; --most) rest &= rest - 1;
    const std::uint32_t wanted = idle & ~rest;
    return wanted == 0 ? 0 : bits_.fetch_and(~wanted, Platform::kAcquire) & wanted;
  }

 private:
  typename Platform::template Atomic<std::uint32_t> bits_;
};

/// Tasks for an idle worker from the worker that has claimed it. As with a ring, several threads
/// that act as one share the work, with a barrier in between.
template <typename Platform, std::uint32_t kRoom>
class TaskGift {
 public:
  /// Not while others use it.
  COORD_HOST_DEVICE void reset() { count_.store(0, Platform::kRelaxed); }
  /// Called by the claimer of the worker: each task, then the number of tasks; at least one.
  COORD_HOST_DEVICE void put(std::uint32_t at, Task task) {
    tasks_[at].exchange(task, Platform::kRelaxed);
  }
  COORD_HOST_DEVICE void give(std::uint32_t count) { count_.exchange(count, Platform::kRelease); }
  /// Called by the worker: the number of tasks, each of which must then be taken.
  [[nodiscard]] COORD_HOST_DEVICE std::uint32_t accept() {
    return count_.exchange(0, Platform::kAcquire);
  }
  [[nodiscard]] COORD_HOST_DEVICE Task take(std::uint32_t at) {
    return tasks_[at].exchange(kNoTask, Platform::kRelaxed);
  }

 private:
  typename Platform::template Atomic<std::uint32_t> count_;
  typename Platform::template Atomic<Task> tasks_[kRoom];
};

/// Number of tasks that have not ended, plus sources that may still add some. Tasks are counted
/// before others can see them, so none is left once the count is 0. Thread-safe.
template <typename Platform>
class TaskCount {
 public:
  /// Not while others use it.
  COORD_HOST_DEVICE void reset(std::uint64_t count) { count_.store(count, Platform::kRelaxed); }
  COORD_HOST_DEVICE void add(std::uint64_t count) { count_.fetch_add(count, Platform::kRelaxed); }
  /// `count` tasks have ended. True if nothing is left.
  COORD_HOST_DEVICE bool remove(std::uint64_t count) {
    return count_.fetch_sub(count, Platform::kRelease) == count;
  }
  COORD_HOST_DEVICE bool none() { return count_.load(Platform::kAcquire) == 0; }

 private:
  typename Platform::template Atomic<std::uint64_t> count_{0};
};

/// Changes of one worker not yet added to the count. Increases must be added before other workers
/// can see the tasks; decreases may be delayed until the worker is idle.
template <typename Platform>
class TaskTally {
 public:
  COORD_HOST_DEVICE void ended(std::uint32_t count) { more_ -= count; }
  COORD_HOST_DEVICE void spawned(std::uint32_t count) { more_ += count; }
  /// Call before spawned tasks are published.
  COORD_HOST_DEVICE void before_publishing(TaskCount<Platform>& count) {
    if (more_ <= 0) return;
    count.add(static_cast<std::uint64_t>(more_));
    more_ = 0;
  }
  /// Call when the worker has no task left.
  COORD_HOST_DEVICE void before_idling(TaskCount<Platform>& count) {
    if (more_ < 0) count.remove(static_cast<std::uint64_t>(-more_));
    if (more_ > 0) count.add(static_cast<std::uint64_t>(more_));
    more_ = 0;
  }

 private:
  std::int64_t more_ = 0;
};

/// Tasks 0, 1, ... that depend on each other: the successors of task t are successors[k] for k in
/// [offsets[t], offsets[t + 1]), which wait for `pending` tasks each. Borrows its arrays.
template <typename Platform>
struct TaskEdges {
  using Pending = typename Platform::template Atomic<std::uint32_t>;

  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* successors = nullptr;
  const std::uint32_t* in_degrees = nullptr;
  Pending* pending = nullptr;  // equals in_degrees, and does so again after every run

  /// Task `task` has ended: calls `ready(successor)` for each successor with no pending dependency,
  /// once among all callers. What happens before this call happens before that task. Thread-safe.
  template <typename Ready>
  COORD_HOST_DEVICE void end(std::uint64_t task, Ready&& ready) const {
    Platform::fence(Platform::kRelease);  // one for all
    for (std::uint32_t k = offsets[task]; k < offsets[task + 1]; ++k) {
      if (count_down(successors[k])) ready(successors[k]);
    }
  }
  /// Counts down one successor, after such a fence. True if it has no pending dependency left.
  COORD_HOST_DEVICE bool count_down(std::uint32_t successor) const {
    return count_down(successor, in_degrees[successor]);
  }
  /// The same with the successor's in_degrees value, for callers that have already read it.
  COORD_HOST_DEVICE bool count_down(std::uint32_t successor, std::uint32_t in_degree) const {
    if (pending[successor].fetch_sub(1, Platform::kRelaxed) != 1) return false;
    Platform::fence(Platform::kAcquire);
    pending[successor].store(in_degree, Platform::kRelaxed);
    return true;
  }
};

}  // namespace coord
