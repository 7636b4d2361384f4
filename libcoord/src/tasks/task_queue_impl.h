// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a TaskQueue: workers and the queues of their tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "coord/task_queue.h"
#include "coord/task_reporter.h"
#include "coord/task_ring.h"
#include "host/doorbell.h"

namespace coord {

/// A task. Owns itself while it is in a queue.
struct TaskHandle::Node {
  TaskFunction function;
  std::shared_ptr<Node> self;  // until it has ended
  std::optional<std::size_t> worker, type;
  std::uint64_t number = 0;               // submission index, if a profiler listens
  std::atomic<std::uint32_t> pending{1};  // dependencies, plus its submission

  std::mutex mutex;  // for the following members
  bool has_ended = false;
  std::exception_ptr error;
  std::vector<std::shared_ptr<Node>> successors;
};

/// A first-in, first-out queue that any thread may add to. Thread-safe.
template <typename Node>
class WaitingTasks {
 public:
  void add(Node* node) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(node);
    size_.store(waiting_.size(), std::memory_order_relaxed);
  }
  /// Takes the first task; null if there is none.
  Node* take() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    Node* first = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size(), std::memory_order_relaxed);
    return first;
  }
  /// Moves the first half, rounded up. Returns the number moved.
  std::size_t move_half(WaitingTasks& into) {
    if (size() == 0) return 0;
    std::vector<Node*> moved;
    {
      const std::lock_guard lock(mutex_);
      const auto half = waiting_.begin() + static_cast<std::ptrdiff_t>((waiting_.size() + 1) / 2);
      moved.assign(waiting_.begin(), half);
      waiting_.erase(waiting_.begin(), half);
      size_.store(waiting_.size(), std::memory_order_relaxed);
    }
    for (Node* node : moved) into.add(node);
    return moved.size();
  }
  /// Recent size.
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::deque<Node*> waiting_;
  std::atomic<std::size_t> size_{0};
};

class TaskQueue::Impl {
 public:
  using Node = TaskHandle::Node;

  explicit Impl(TaskQueueOptions options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  TaskHandle submit(TaskFunction function, const TaskOptions& options);
  void wait();
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  [[nodiscard]] TaskQueueMetrics metrics() const;

 private:
  struct alignas(64) Worker {
    Worker(std::size_t index, std::uint32_t capacity);

    const std::size_t index;
    std::vector<TaskRing<HostPlatform>::Slot> slots;
    TaskRing<HostPlatform> spawned;  // spawned by its own tasks; others steal from it
    WaitingTasks<Node> given;        // submitted to it by other threads
    WaitingTasks<Node> pinned;       // never stolen
    Doorbell bell;
    std::atomic<bool> idle{false};
    // Written only by the worker.
    bool running = false;
    std::atomic<std::uint64_t> running_since{0};  // ticks; 0: no task runs
    std::atomic<std::uint64_t> busy{0};           // ticks, in tasks that have ended
    std::atomic<std::uint64_t> tasks{0}, in_line{0}, steals{0}, stolen{0};
    std::thread thread;
  };

  void work(Worker& self);
  Node* next(Worker& self);
  /// Moves half of another worker's tasks to this one.
  bool steal(Worker& self);
  bool steal_from(Worker& victim, Worker& self);
  [[nodiscard]] bool has_work(Worker& self);
  void sleep(Worker& self, std::uint64_t heard);
  /// kHybrid: not dynamic yet.
  [[nodiscard]] bool may_turn() const;
  /// kHybrid: switches to dynamic if the workers' load is uneven.
  void judge();

  void run(Node* node, Worker& self);
  void end(Node* node);
  /// The task will not run, because a dependency failed.
  static void fail(Node& node, const std::exception_ptr& error);
  /// False if the calling worker's queue is full.
  bool enqueue(Node* node);
  /// Wakes an idle worker, if there is one.
  void wake_any();

  /// The calling thread's worker, or null.
  [[nodiscard]] Worker* here() const;

  TaskQueueOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  TaskReporter reporter_;
  WaitingTasks<Node> shared_;
  TaskCount<HostPlatform> count_;  // of tasks that have not ended
  std::atomic<bool> dynamic_;
  std::atomic<bool> ending_{false};
  std::atomic<std::size_t> next_{0};         // worker that gets the next task
  std::atomic<std::uint64_t> submitted_{0};  // while a profiler listens
  std::atomic<std::uint32_t> idle_{0};

  std::mutex mutex_;  // for the following members
  std::condition_variable ended_;
  std::exception_ptr error_;
};

}  // namespace coord
