// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks for threads of the host that depend on each other and spawn others: each worker has a queue
// of its own, and takes from others when that is empty.
//
// For work of the host that feeds streams, in pieces too small or too uneven to give to threads by
// hand. Work of the device is ordered by a Coordinator. The same for threads of a GPU:
// task_queue.cuh.
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

/// Who runs a task.
enum class TaskPolicy : std::uint8_t {
  kStatic,   // the worker that it was given to, or whose task spawned it
  kDynamic,  // any: workers without work take the oldest half of what another one has
  kHybrid,   // static, until a worker has nothing to do while the others' work is uneven
};

struct TaskQueueOptions {
  std::size_t workers = 0;  // threads; 0: one for each processor
  /// Tasks spawned by a worker that wait for it to be free; beyond that it runs them where they are
  /// spawned. A power of two.
  std::uint32_t spawned = 256;
  TaskPolicy policy = TaskPolicy::kHybrid;
  /// kHybrid: the longest time that a worker was busy over the mean of all, above which tasks are
  /// taken from it.
  double imbalance = 1.2;
  /// Streams that types of work are pinned to: tasks of type i have streams[i] to themselves, one
  /// at a time, on worker i modulo workers.
  std::vector<StreamRef> streams{};
  std::string name{};  // for a mark in the trace when kHybrid turns dynamic
};

/// Names a task of one TaskQueue. Cheap to copy; keeps what the task held only until that ended.
class COORD_EXPORT TaskHandle {
 public:
  TaskHandle() = default;
  [[nodiscard]] bool valid() const noexcept { return node_ != nullptr; }
  /// True once the task has run, or failed, or will not run because one before it failed.
  /// Thread-safe.
  [[nodiscard]] bool ended() const noexcept;

 private:
  friend class TaskQueue;
  struct Node;
  explicit TaskHandle(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
};

/// What a task knows about where it runs.
struct TaskPlace {
  std::size_t worker = 0;
  StreamRef stream{};  // of its type; none if it has no type
};

using TaskFunction = std::function<void(const TaskPlace&)>;

struct TaskOptions {
  /// Tasks that must have ended before.
  std::span<const TaskHandle> after{};
  /// Whose queue it goes to; with TaskPolicy::kStatic also who runs it.
  std::optional<std::size_t> worker{};
  /// Index of the stream that it is pinned to; never taken by another worker.
  std::optional<std::size_t> type{};
};

/// Counts since the queue was made.
struct TaskQueueMetrics {
  std::uint64_t tasks = 0;        // that ran
  std::uint64_t run_in_line = 0;  // of them, where they were spawned, for want of room
  std::uint64_t steals = 0;       // batches taken from another worker
  std::uint64_t stolen = 0;       // tasks in them
  std::vector<Nanoseconds> busy;  // of each worker, in tasks
  bool dynamic = false;           // by policy, or because kHybrid found work uneven
  /// Longest busy time over the mean; 1 is even, 0 if nothing ran.
  [[nodiscard]] COORD_EXPORT double imbalance() const noexcept;
};

/// Thread-safe. Tasks run as soon as what they depend on has ended, in no particular order; those
/// of a type in the order in which they become ready.
class COORD_EXPORT TaskQueue {
 public:
  /// Starts the threads. Throws kInvalidArgument if `spawned` is no power of two.
  explicit TaskQueue(TaskQueueOptions options = {});
  /// Returns when all tasks have ended. Not to be called by one of them.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Never blocks; but in a task, for which there is no room, it runs the new one before it
  /// returns. If a task throws, those after it do not run and fail with the same error. Throws
  /// kInvalidArgument for a worker or a type that there is not, or a handle that names nothing.
  TaskHandle submit(TaskFunction function, const TaskOptions& options = {});

  /// Blocks until all tasks have ended, those spawned meanwhile too; then throws the first error of
  /// a task since the last call. Not to be called by a task.
  void wait();

  [[nodiscard]] std::size_t workers() const noexcept;
  [[nodiscard]] TaskQueueMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
