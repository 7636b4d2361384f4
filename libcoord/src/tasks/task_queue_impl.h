// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a TaskQueue consists of: workers, and the places where their tasks wait.
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

/// A task. Keeps itself while it is in a queue.
struct TaskHandle::Node {
  TaskFunction function;
  std::shared_ptr<Node> self;  // until it has ended
  std::optional<std::size_t> worker, type;
  std::uint64_t number = 0;               // of those submitted, if somebody listens
  std::atomic<std::uint32_t> pending{1};  // tasks before it, and its submission

  std::mutex mutex;  // of what follows
  bool has_ended = false;
  std::exception_ptr error;
  std::vector<std::shared_ptr<Node>> successors;
};

/// Tasks that anybody may add, first in first out. Thread-safe.
template <typename Node>
class WaitingTasks {
 public:
  void add(Node* node) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(node);
    size_.store(waiting_.size(), std::memory_order_relaxed);
  }
  /// The first one; null if there is none.
  Node* take() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    Node* first = waiting_.front();
    waiting_.pop_front();
    size_.store(waiting_.size(), std::memory_order_relaxed);
    return first;
  }
  /// Moves the first half, rounded up. Returns how many these are.
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
  /// A moment ago.
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
    TaskRing<HostPlatform> spawned;  // by its own tasks; others steal from it
    WaitingTasks<Node> given;        // to it by others
    WaitingTasks<Node> pinned;       // nobody else may take these
    Doorbell bell;
    std::atomic<bool> idle{false};
    // Written by the worker alone.
    bool running = false;
    std::atomic<std::uint64_t> running_since{0};  // ticks; 0: no task runs
    std::atomic<std::uint64_t> busy{0};           // ticks, in tasks that have ended
    std::atomic<std::uint64_t> tasks{0}, in_line{0}, steals{0}, stolen{0};
    std::thread thread;
  };

  void work(Worker& self);
  Node* next(Worker& self);
  /// Moves half of what another worker has to this one.
  bool steal(Worker& self);
  bool steal_from(Worker& victim, Worker& self);
  [[nodiscard]] bool has_work(Worker& self);
  void sleep(Worker& self, std::uint64_t heard);
  /// kHybrid: it is not dynamic yet.
  [[nodiscard]] bool may_turn() const;
  /// kHybrid: turns dynamic if the work of the workers is uneven.
  void judge();

  void run(Node* node, Worker& self);
  void end(Node* node);
  /// It will not run, because one before it failed.
  static void fail(Node& node, const std::exception_ptr& error);
  /// False if there is no room at the calling worker.
  bool enqueue(Node* node);
  /// Wakes a worker that has nothing to do, if there is one.
  void wake_any();

  /// The worker that the calling thread is, or none.
  [[nodiscard]] Worker* here() const;

  TaskQueueOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  TaskReporter reporter_;
  WaitingTasks<Node> shared_;
  TaskCount<HostPlatform> count_;  // of tasks that have not ended
  std::atomic<bool> dynamic_;
  std::atomic<bool> ending_{false};
  std::atomic<std::size_t> next_{0};         // worker that is given the next task
  std::atomic<std::uint64_t> submitted_{0};  // while somebody listens
  std::atomic<std::uint32_t> idle_{0};

  std::mutex mutex_;  // of what follows
  std::condition_variable ended_;
  std::exception_ptr error_;
};

}  // namespace coord
