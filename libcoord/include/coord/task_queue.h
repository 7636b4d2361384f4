// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks for host threads that depend on each other and spawn others: each worker has its own queue,
// and steals from others when it is empty.
//
// For host work that feeds streams, in pieces too small or too uneven to assign to threads by hand.
// A Coordinator orders device work. For GPU threads, see task_queue.cuh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coord/export.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

/// Which worker runs a task.
enum class TaskPolicy : std::uint8_t {
  kStatic,   // the worker it was assigned to, or whose task spawned it
  kDynamic,  // any: workers without work take the oldest half of another worker's tasks
  kHybrid,   // static, until a worker is idle while the others' load is uneven
};

struct TaskQueueOptions {
  std::size_t workers = 0;  // threads; 0: one per processor
  /// Maximum tasks spawned by a worker that wait in its queue; beyond that it runs them where they
  /// are spawned. A power of two.
  std::uint32_t spawned = 256;
  TaskPolicy policy = TaskPolicy::kHybrid;
  /// kHybrid: ratio of a worker's busy time to the mean above which tasks are stolen from it.
  double imbalance = 1.2;
  /// Streams that types of work are pinned to: tasks of type i use streams[i] exclusively, one at a
  /// time, on worker i modulo workers.
  std::vector<StreamRef> streams{};
  std::string name{};  // for a mark in the trace when kHybrid switches to dynamic
};

/// Names a task of one TaskQueue. Cheap to copy; keeps the task's function only until it has ended.
class COORD_EXPORT TaskHandle {
 public:
  TaskHandle() = default;
  [[nodiscard]] bool valid() const noexcept { return node_ != nullptr; }
  /// True once the task has run or failed, or will not run because a dependency failed.
  /// Thread-safe.
  [[nodiscard]] bool ended() const noexcept;

 private:
  friend class TaskQueue;
  struct Node;
  explicit TaskHandle(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
};

/// Where a task runs.
struct TaskPlace {
  std::size_t worker = 0;
  StreamRef stream{};  // of its type; null if it has no type
};

using TaskFunction = std::function<void(const TaskPlace&)>;

struct TaskOptions {
  /// Tasks that must end before this one starts.
  std::span<const TaskHandle> after{};
  /// The worker whose queue it goes to; with TaskPolicy::kStatic also the one that runs it.
  std::optional<std::size_t> worker{};
  /// Index of the stream that it is pinned to; such a task is never stolen.
  std::optional<std::size_t> type{};
};

/// Counts since the queue was created.
struct TaskQueueMetrics {
  std::uint64_t tasks = 0;        // that ran
  std::uint64_t run_in_line = 0;  // of these, run where spawned because the queue was full
  std::uint64_t steals = 0;       // batches taken from another worker
  std::uint64_t stolen = 0;       // tasks in them
  std::vector<Nanoseconds> busy;  // of each worker, in tasks
  bool dynamic = false;           // by policy, or because kHybrid found uneven work
  /// Longest busy time over the mean; 1 is balanced, 0 if nothing ran.
  [[nodiscard]] COORD_EXPORT double imbalance() const noexcept;
};

/// Thread-safe. Tasks run as soon as what they depend on has ended, in no particular order; those
/// of a type in the order in which they become ready.
class COORD_EXPORT TaskQueue {
 public:
  /// Starts the threads. Throws kInvalidArgument if `spawned` is not a power of two.
  explicit TaskQueue(TaskQueueOptions options = {});
  /// Returns when all tasks have ended. Not to be called by one of them.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Never blocks; but if called in a task while the queue is full, it runs the new task before it
  /// returns. If a task throws, its dependents do not run and fail with the same error. Throws
  /// kInvalidArgument for a worker or type that does not exist, or a null handle.
  TaskHandle submit(TaskFunction function, const TaskOptions& options = {});

  /// Blocks until all tasks have ended, including those spawned meanwhile; then throws the first
  /// error of a task since the last call, if any. Not to be called by a task.
  void wait();

  [[nodiscard]] std::size_t workers() const noexcept;
  [[nodiscard]] TaskQueueMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
