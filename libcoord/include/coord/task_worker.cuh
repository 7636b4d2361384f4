// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The device side of task_queue.cuh: what a warp does until no task is left.
//
// A worker is a warp. It keeps the tasks that it runs next in shared memory. It passes further
// spawned tasks to waiting warps of its block, also through shared memory, or puts them into a ring
// that others steal from. It works in batches: one lane claims, all lanes take, put and run. One of
// the waiting warps of a block polls the rings of others.
#pragma once

#include <cuda/atomic>

#include <cstdint>

#include "coord/task_gpu.cuh"
#include "coord/task_ring.h"

namespace coord {

/// Atomics of one block, for shared memory.
struct BlockPlatform : GpuPlatform {
  template <typename T>
  using Atomic = cuda::atomic<T, cuda::thread_scope_block>;
};

/// Page-locked memory through which the host submits tasks while workers run. The host writes free
/// slots, then `tail`; the device takes slots, which frees them. Neither reads the other's counter.
struct TaskInbox {
  std::uint64_t tail = 0;    // tasks submitted to the run
  std::uint64_t closed = 0;  // 1: no more will come
};

/// Words that all workers change; each on its own cache line.
struct TaskSums {
  alignas(128) TaskCount<GpuPlatform> count;
  alignas(128) GpuPlatform::Atomic<std::uint32_t> receiving;  // 1: a worker is polling the inbox
  std::uint64_t received;  // that worker owns these two: tasks taken from the inbox so far,
  std::uint32_t open;      // and whether more may come
};

/// Data that workers share: a kernel parameter. Borrows device memory.
struct TaskWorld {
  TaskRing<GpuPlatform>* rings = nullptr;   // one per worker
  TaskSpan<GpuPlatform>* shares = nullptr;  // of the initial tasks, likewise
  TaskWorkerCounts* counts = nullptr;       // likewise
  TaskSums* sums = nullptr;
  std::uint32_t workers = 0;
  bool steal = true;
  const Task* given = nullptr;  // initial tasks; null: their numbers
  TaskInbox* inbox = nullptr;   // null: all tasks come from the device
  Task* inbox_slots = nullptr;
  std::uint32_t inbox_mask = 0;
  TaskLog log{};
};

#ifdef __CUDACC__

/// What the warps of a block share.
struct TaskTeam {
  TaskIdle<BlockPlatform> idle;
  BlockPlatform::Atomic<std::uint32_t> over;  // 1: no task is left
};

/// Holds the tasks that a warp runs next; in shared memory.
template <std::uint32_t kRoom, std::uint32_t kAtOnce>
struct TaskStage {
  TaskGift<BlockPlatform, kAtOnce> gift;  // from other warps of the block
  Task tasks[kRoom];
  std::uint32_t count;    // may exceed kRoom while tasks run: the excess did not fit
  std::uint32_t in_line;  // tasks run where they were spawned
};

/// The second argument of a task: functions to spawn others. If a warp runs one task at a time, all
/// its lanes call each function together, with the same values.
template <typename Work>
class TaskLane {
 public:
  using Stage = TaskStage<Work::kStaged, Work::kTasksAtOnce>;

  __device__ TaskLane(const Work& work, Stage& stage, std::uint32_t worker)
      : work_(work), stage_(stage), worker_(worker) {}

  [[nodiscard]] __device__ std::uint32_t worker() const { return worker_; }

  /// Spawns a task, which may run at any time from now on, after what this one has done so far. If
  /// there is no space, it runs before this returns: nested calls of this kind need stack.
  __device__ void spawn(Task task) {
    std::uint32_t at = 0;
    if (is_first()) {
      at = atomicAdd(&stage_.count, 1u);
      if (at < Work::kStaged) stage_.tasks[at] = task;
    }
    if (kWholeWarp) at = task_worker::from_first(at);
    if (at >= Work::kStaged) run_here(task);
  }

  /// `task` has ended: spawns its successors that have no pending dependency left.
  __device__ void end(const TaskEdges<GpuPlatform>& edges, Task task) {
    if constexpr (kWholeWarp) {
      end(successors(edges, task));
    } else {
      edges.end(task, [this](std::uint32_t next) { spawn(next); });
    }
  }

  /// What end() must read of a task's edges. Loaded before the task's own work, it is available
  /// when that ends. For warps that run one task at a time.
  struct Successors {
    const TaskEdges<GpuPlatform>& edges;
    std::uint32_t first, end;
    std::uint32_t next, in_degree;  // of this lane, for the first successors
  };
  [[nodiscard]] __device__ Successors successors(const TaskEdges<GpuPlatform>& edges,
                                                 Task task) const {
    static_assert(kWholeWarp);
    return group(edges, edges.offsets[task], edges.offsets[task + 1]);
  }
  __device__ void end(Successors after) {
    __syncwarp();  // the work of all lanes happens before
    GpuPlatform::fence(GpuPlatform::kRelease);
    for (;;) {
      const bool mine = after.first + task_worker::lane() < after.end;
      unsigned ready =
          __ballot_sync(~0u, mine && after.edges.count_down(after.next, after.in_degree));
      __syncwarp();  // the work before them happens before what any lane does now
      for (; ready != 0; ready &= ready - 1)
        spawn(__shfl_sync(~0u, after.next, __ffs(static_cast<int>(ready)) - 1));
      if (after.end - after.first <= kWarp) return;
      const Successors rest = group(after.edges, after.first + kWarp, after.end);
      after.first = rest.first, after.next = rest.next, after.in_degree = rest.in_degree;
    }
  }

 private:
  static constexpr bool kWholeWarp = Work::kTasksAtOnce == 1;

  __device__ static Successors group(const TaskEdges<GpuPlatform>& edges, std::uint32_t first,
                                     std::uint32_t end) {
    const std::uint32_t k = first + task_worker::lane();
    const std::uint32_t next = k < end ? edges.successors[k] : 0;
    return {edges, first, end, next, k < end ? edges.in_degrees[next] : 0};
  }
  __device__ static bool is_first() { return !kWholeWarp || task_worker::lane() == 0; }

  __noinline__ __device__ void run_here(Task task) {
    if (is_first()) atomicAdd(&stage_.in_line, 1u);
    work_(task, *this);
  }

  const Work& work_;
  Stage& stage_;
  const std::uint32_t worker_;
};

/// A warp at work. All its lanes call every function together.
template <typename Work>
class TaskWorker {
 public:
  using Stage = typename TaskLane<Work>::Stage;
  static constexpr std::uint32_t kAtOnce = Work::kTasksAtOnce;
  static_assert(kAtOnce == 1 || kAtOnce == kWarp);
  static_assert(Work::kStaged >= 2 * kAtOnce);

  /// `stages` of all warps of the block, which synchronize here.
  __device__ TaskWorker(const TaskWorld& world, const Work& work, TaskTeam& team, Stage* stages)
      : world_(world),
        work_(work),
        team_(team),
        stages_(stages),
        stage_(stages[threadIdx.x / kWarp]),
        worker_((blockIdx.x * blockDim.x + threadIdx.x) / kWarp),
        ring_(world.rings[worker_]),
        share_(world.shares[worker_]) {
    if (lane_ == 0) {
      stage_.count = stage_.in_line = 0;
      stage_.gift.reset();
      end_ = ring_.end();
    }
    if (threadIdx.x == 0) {
      world_.log.begin();
      team_.idle.reset();
      team_.over.store(0, BlockPlatform::kRelaxed);
    }
    __syncthreads();
  }

  /// Runs tasks until there are none left.
  __device__ void run() {
    while (staged_ != 0 || take_own() || wait()) run_batch();
    if (lane_ == 0) {
      counts_.in_line = stage_.in_line;
      counts_.tasks += stage_.in_line;
      world_.counts[worker_] = counts_;
    }
  }

 private:
  static constexpr std::uint32_t kPauseNs = 20;  // between polls of shared memory
  /// Polls before a worker without tasks updates the global count: about a microsecond, because
  /// successors of tasks on other workers often arrive sooner, and all workers share the count.
  static constexpr std::uint32_t kPatience = 8;
  /// Groups of 32 workers that a thief polls before it checks whether all tasks have ended: few,
  /// because thousands of polling warps would take cache bandwidth from the working ones.
  static constexpr std::uint32_t kLooks = 2;
  /// Most tasks taken from others at a time: leaves space for a gift.
  static constexpr std::uint32_t kMostTaken = Work::kStaged - kAtOnce;

  /// Waits until the stage holds a task. False if all tasks have ended.
  __device__ bool wait() {
    const bool alone = !world_.steal;
    const std::uint32_t patience = alone ? 0 : kPatience;
    if (!alone && lane_ == 0) team_.idle.enter(bit_);
    for (std::uint32_t look = 0;; ++look) {
      if (look == patience && lane_ == 0) tally_.before_idling(world_.sums->count);
      if (accept()) return true;
      if (alone || is_scout()) {
        if (take_others() || receive()) {
          if (!alone) leave();
          return true;
        }
        if (look >= patience && over()) {
          if (lane_ == 0) team_.over.exchange(1, BlockPlatform::kRelaxed);
          return false;
        }
      }
      if (!alone && over_was_reported()) return false;
      __nanosleep(kPauseNs);
    }
  }

  /// Only one waiting warp of a block polls beyond the block: if all did, they would take cache
  /// bandwidth from the working ones.
  __device__ bool is_scout() {
    std::uint32_t idle = 0;
    if (lane_ == 0) idle = team_.idle.now();
    idle = task_worker::from_first(idle);
    return (idle ^ bit_) < bit_;  // the highest one: gifts go to the lowest ones first
  }
  __device__ bool over_was_reported() {
    std::uint32_t over = 0;
    if (lane_ == 0) over = team_.over.fetch_or(0, BlockPlatform::kRelaxed);
    return task_worker::from_first(over) != 0;
  }

  /// Takes a gift from another warp of the block.
  __device__ bool accept() {
    std::uint32_t count = 0;
    if (lane_ == 0) count = stage_.gift.accept();
    count = task_worker::from_first(count);
    if (count == 0) return false;
    __syncwarp();  // the giver's work happens before what any lane does now
    if (lane_ < count) stage_.tasks[staged_ + lane_] = stage_.gift.take(lane_);
    return set_staged(staged_ + count);
  }
  /// Stops waiting, having taken tasks elsewhere.
  __device__ void leave() {
    bool left = false;
    if (lane_ == 0) left = team_.idle.leave(bit_);
    if (task_worker::from_first(left)) return;
    while (!accept()) {  // claimed before: the giver is about to give
    }
  }

  __device__ bool over() {
    if (!world_.steal && world_.inbox == nullptr) return true;  // no more tasks can arrive
    bool none = false;
    if (lane_ == 0) none = world_.sums->count.none();
    return task_worker::from_first(none);
  }

  /// From the worker's own ring or share.
  __device__ bool take_own() {
    TaskClaim claim;
    if (ring_holds_) {
      if (lane_ == 0) {
        claim = ring_.claim_newest(kAtOnce);
        end_ -= claim.count;
      }
      if (take(ring_, claim)) return true;
      ring_holds_ = false;
    }
    if (!share_holds_) return false;
    if (lane_ == 0) claim = share_.claim_oldest(kAtOnce);
    claim.first = task_worker::from_first(claim.first);
    claim.count = task_worker::from_first(claim.count);
    for (std::uint32_t i = lane_; i < claim.count; i += kWarp)
      stage_.tasks[i] = given(claim.first + i);
    return share_holds_ = set_staged(claim.count);
  }

  /// Takes half of another worker's tasks. Each lane polls a different worker.
  __device__ bool take_others() {
    if (!world_.steal) return false;
    const std::uint32_t groups = (world_.workers + kWarp - 1) / kWarp;
    random_ = random_ * 1664525u + 1013904223u;
    const std::uint32_t turn = random_ >> 24;
    // First the neighbors, usually on the same multiprocessor; then groups from a random start.
    std::uint32_t group = worker_ / kWarp;
    for (std::uint32_t look = 0; look < kLooks; ++look) {
      const std::uint32_t victim = group * kWarp + lane_;
      bool has_some = false;
      if (victim < world_.workers && victim != worker_)
        has_some = world_.rings[victim].size() + world_.shares[victim].size() != 0;
      unsigned rich = __ballot_sync(~0u, has_some);
      while (rich != 0) {
        // So that not all thieves pick the same worker.
        const unsigned turned = __funnelshift_r(rich, rich, turn % kWarp);
        const unsigned which = (__ffs(static_cast<int>(turned)) - 1 + turn) % kWarp;
        rich &= ~(1u << which);
        if (take_from(group * kWarp + which)) return true;
      }
      group = (look == 0 ? random_ >> 8 : group + 1) % groups;
    }
    return false;
  }

  __device__ bool take_from(std::uint32_t victim) {
    TaskClaim claim;
    if (lane_ == 0) claim = world_.rings[victim].claim_oldest(kMostTaken, 2);
    if (take(world_.rings[victim], claim)) return stole(staged_);
    if (lane_ == 0) {
      claim = world_.shares[victim].claim_oldest(~0u, 2);
      // It is empty, so no other thread changes it.
      if (claim.count != 0) share_.reset(claim.first, claim.first + claim.count);
    }
    const std::uint32_t count = task_worker::from_first(claim.count);
    share_holds_ = count != 0;
    return stole(count) && take_own();
  }

  __device__ bool stole(std::uint32_t count) {
    if (count == 0) return false;
    ++counts_.steals;
    counts_.stolen += count;
    return true;
  }

  /// From the host. One worker polls at a time: each poll crosses the bus.
  __device__ bool receive() {
    if (world_.inbox == nullptr) return false;
    bool mine = false;
    if (lane_ == 0) {
      mine = world_.sums->receiving.load(GpuPlatform::kRelaxed) == 0 &&
             world_.sums->receiving.exchange(1, GpuPlatform::kAcquire) == 0;
    }
    if (!task_worker::from_first(mine)) return false;
    std::uint64_t head = 0;
    std::uint32_t count = 0;
    if (lane_ == 0 && world_.sums->open != 0) {
      using SystemWord = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;
      const bool closed =
          SystemWord(world_.inbox->closed).load(cuda::std::memory_order_acquire) != 0;
      const std::uint64_t tail =
          SystemWord(world_.inbox->tail).load(cuda::std::memory_order_acquire);
      head = world_.sums->received;
      count = static_cast<std::uint32_t>(min(tail - head, std::uint64_t{kMostTaken}));
      if (count != 0) world_.sums->count.add(count);
      world_.sums->received = head + count;
      if (closed && head + count == tail) {
        world_.sums->open = 0;
        world_.sums->count.remove(1);
      }
    }
    head = task_worker::from_first(head);
    count = task_worker::from_first(count);
    for (std::uint32_t i = lane_; i < count; i += kWarp) {
      using SystemTask = cuda::atomic_ref<Task, cuda::thread_scope_system>;
      SystemTask slot(world_.inbox_slots[(head + i) & world_.inbox_mask]);
      stage_.tasks[i] = slot.load(cuda::std::memory_order_relaxed);
      slot.store(kNoTask, cuda::std::memory_order_release);
    }
    __syncwarp();
    if (lane_ == 0) world_.sums->receiving.store(0, GpuPlatform::kRelease);
    counts_.received += count;
    return set_staged(count);
  }

  /// Moves the tasks of a claim by lane 0 into the stage.
  __device__ bool take(TaskRing<GpuPlatform>& from, TaskClaim claim) {
    claim.first = task_worker::from_first(claim.first);
    claim.count = task_worker::from_first(claim.count);
    for (std::uint32_t i = lane_; i < claim.count; i += kWarp)
      stage_.tasks[i] = from.take(claim.first + i);
    return set_staged(claim.count);
  }

  __device__ bool set_staged(std::uint32_t count) {
    __syncwarp();
    staged_ = count;
    return count != 0;
  }

  /// Runs the newest tasks of the stage, one in each lane, or one in all of them.
  __device__ void run_batch() {
    const std::uint32_t batch = min(staged_, kAtOnce);
    const std::uint32_t which = kAtOnce == 1 ? 0 : lane_;
    Task task = kNoTask;
    if (which < batch) task = stage_.tasks[staged_ - 1 - which];
    staged_ -= batch;
    __syncwarp();
    give_rest();
    share_rest();
    if (lane_ == 0) stage_.count = staged_;
    __syncwarp();

    const bool recorded = world_.log.keeps();
    const std::int64_t start_ns = recorded ? task_worker::timer_ns() : 0;
    const long long start = clock64();
    TaskLane<Work> lane(work_, stage_, worker_);
    if (task != kNoTask) work_(task, lane);
    const std::int64_t end_ns = recorded ? task_worker::timer_ns() : 0;
    __syncwarp();
    counts_.busy_cycles += static_cast<std::uint64_t>(clock64() - start);
    counts_.tasks += batch;

    const std::uint32_t now = min(stage_.count, Work::kStaged);
    tally_.ended(batch);
    tally_.spawned(now - staged_);
    staged_ = now;
    if (recorded) world_.log.write(batch, {task, worker_, task_worker::sm(), start_ns, end_ns});
  }

  /// Passes the stage's tasks beyond the next batch to waiting warps of the block, one batch each.
  __device__ void give_rest() {
    if (staged_ == 0 || !world_.steal) return;
    std::uint32_t claimed = 0;
    if (lane_ == 0) {
      claimed = team_.idle.claim((staged_ + kAtOnce - 1) / kAtOnce);
      if (claimed != 0) tally_.before_publishing(world_.sums->count);
    }
    claimed = task_worker::from_first(claimed);
    for (; claimed != 0; claimed &= claimed - 1) {
      auto& gift = stages_[__ffs(static_cast<int>(claimed)) - 1].gift;
      const std::uint32_t count = min(staged_, kAtOnce);
      staged_ -= count;
      if (lane_ < count) gift.put(lane_, stage_.tasks[staged_ + lane_]);
      __syncwarp();
      if (lane_ == 0) gift.give(count);
    }
  }

  /// Offers the remaining tasks to others, as far as they fit in the ring.
  __device__ void share_rest() {
    if (staged_ == 0) return;
    if (lane_ == 0) tally_.before_publishing(world_.sums->count);
    const std::uint32_t end = task_worker::from_first(end_);
    const std::uint32_t most = min(staged_, ring_.capacity());  // beyond that, slots repeat
    std::uint32_t moved = 0;                                    // the oldest ones first
    while (moved < most) {
      const std::uint32_t i = moved + lane_;
      const unsigned free = __ballot_sync(~0u, i < most && ring_.is_free(end + i));
      const unsigned run = free == ~0u ? kWarp : __ffs(static_cast<int>(~free)) - 1;
      if (lane_ < run) ring_.put(end + i, stage_.tasks[i]);
      moved += run;
      if (run < kWarp) break;
    }
    if (moved == 0) return;
    __syncwarp();
    if (lane_ == 0) ring_.publish(moved);
    end_ += moved;
    ring_holds_ = true;
    staged_ -= moved;
    for (std::uint32_t i = 0; i < staged_; i += kWarp) {  // close the gap
      Task task = kNoTask;
      if (i + lane_ < staged_) task = stage_.tasks[moved + i + lane_];
      __syncwarp();
      if (i + lane_ < staged_) stage_.tasks[i + lane_] = task;
      __syncwarp();
    }
  }

  [[nodiscard]] __device__ Task given(std::uint32_t position) const {
    return world_.given != nullptr ? world_.given[position] : position;
  }

  const TaskWorld& world_;
  const Work& work_;
  TaskTeam& team_;
  Stage* const stages_;  // of the block
  Stage& stage_;
  const unsigned lane_ = task_worker::lane();
  const std::uint32_t bit_ = 1u << threadIdx.x / kWarp;  // of this warp in the team
  const std::uint32_t worker_;
  TaskRing<GpuPlatform>& ring_;
  TaskSpan<GpuPlatform>& share_;
  TaskTally<GpuPlatform> tally_;  // of lane 0; counts of other lanes are unused
  std::uint32_t end_ = 0;         // of the ring, which only this worker moves; of lane 0
  bool ring_holds_ = false, share_holds_ = true;  // true: maybe; false: certainly not
  std::uint32_t staged_ = 0;                      // tasks in the stage
  std::uint32_t random_ = worker_;
  TaskWorkerCounts counts_;
};

/// The persistent kernel: each warp is a worker. Dynamic shared memory holds their stages.
template <typename Work>
__global__ void run_task_workers(const __grid_constant__ TaskWorld world,
                                 const __grid_constant__ Work work) {
  extern __shared__ Task stages[];
  __shared__ TaskTeam team;
  using Stage = typename TaskWorker<Work>::Stage;
  TaskWorker<Work>(world, work, team, reinterpret_cast<Stage*>(stages)).run();
}

#endif  // __CUDACC__

}  // namespace coord
