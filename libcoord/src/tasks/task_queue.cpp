// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/task_queue.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "codes.h"
#include "host/ticks.h"
#include "observer.h"
#include "task_queue_impl.h"

namespace coord {

namespace {

/// Interval at which an idle worker checks whether stealing is allowed yet.
constexpr std::int64_t kJudgeNs = 100'000;

struct Here {
  const void* queue = nullptr;
  void* worker = nullptr;
};
thread_local Here this_worker;

void add(std::atomic<std::uint64_t>& mine, std::uint64_t by) {
  mine.store(mine.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

TaskQueueOptions checked(TaskQueueOptions options) {
  if (!std::has_single_bit(options.spawned)) {
    throw make_error(kCodeInvalidValue, "TaskQueue",
                     std::to_string(options.spawned) + " spawned tasks is not a power of two");
  }
  if (options.workers == 0) options.workers = std::max(std::thread::hardware_concurrency(), 1u);
  return options;
}

}  // namespace

bool TaskHandle::ended() const noexcept {
  if (node_ == nullptr) return false;
  const std::lock_guard lock(node_->mutex);
  return node_->has_ended;
}

double TaskQueueMetrics::imbalance() const noexcept {
  Nanoseconds most{0}, sum{0};
  for (const Nanoseconds one : busy) {
    most = std::max(most, one);
    sum += one;
  }
  if (sum.count() == 0) return 0;
  return static_cast<double>(most.count()) * static_cast<double>(busy.size()) /
         static_cast<double>(sum.count());
}

TaskQueue::Impl::Worker::Worker(std::size_t number, std::uint32_t capacity)
    : index(number), slots(capacity) {
  for (auto& slot : slots) slot.store(kNoTask, std::memory_order_relaxed);
  spawned.bind(slots.data(), capacity);
}

TaskQueue::Impl::Impl(TaskQueueOptions options)
    : options_(checked(std::move(options))),
      reporter_(TaskReporter::Workers::kThreads, options_.workers, options_.name),
      dynamic_(options_.policy == TaskPolicy::kDynamic) {
  for (std::size_t i = 0; i < options_.workers; ++i)
    workers_.push_back(std::make_unique<Worker>(i, options_.spawned));
  for (const auto& worker : workers_)
    worker->thread = std::thread([this, &self = *worker] { work(self); });
}

TaskQueue::Impl::~Impl() {
  {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return count_.none(); });
  }
  ending_.store(true, std::memory_order_release);
  for (const auto& worker : workers_) worker->bell.ring();
  for (const auto& worker : workers_) worker->thread.join();
}

TaskHandle TaskQueue::Impl::submit(TaskFunction function, const TaskOptions& options) {
  const auto check = [](bool ok, const char* why) {
    if (!ok) throw make_error(kCodeInvalidValue, "TaskQueue::submit", why);
  };
  check(!options.worker || *options.worker < workers(), "there is no such worker");
  check(!options.type || *options.type < options_.streams.size(), "there is no such type");
  for (const TaskHandle& before : options.after)
    check(before.valid(), "a handle in `after` is null");

  const auto shared = std::make_shared<Node>();
  Node* node = shared.get();
  node->function = std::move(function);
  node->self = shared;
  node->worker = options.worker;
  node->type = options.type;
  if (reporter_.is_heard()) node->number = submitted_.fetch_add(1, std::memory_order_relaxed);
  count_.add(1);
  for (const TaskHandle& before : options.after) {
    const std::lock_guard lock(before.node_->mutex);
    if (before.node_->has_ended) {
      if (before.node_->error) fail(*node, before.node_->error);
    } else {
      node->pending.fetch_add(1, std::memory_order_relaxed);
      before.node_->successors.push_back(shared);
    }
  }
  if (node->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return TaskHandle(shared);
  if (node->error) {
    end(node);
  } else if (!enqueue(node)) {
    add(here()->in_line, 1);
    run(node, *here());
  }
  return TaskHandle(shared);
}

void TaskQueue::Impl::wait() {
  if (here() != nullptr) {
    throw make_error(kCodeNotPermitted, "TaskQueue::wait",
                     "a task of the queue would wait for itself");
  }
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return count_.none(); });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

TaskQueueMetrics TaskQueue::Impl::metrics() const {
  TaskQueueMetrics all;
  for (const auto& worker : workers_) {
    all.tasks += worker->tasks.load(std::memory_order_relaxed);
    all.run_in_line += worker->in_line.load(std::memory_order_relaxed);
    all.steals += worker->steals.load(std::memory_order_relaxed);
    all.stolen += worker->stolen.load(std::memory_order_relaxed);
    all.busy.push_back(length_of_ticks(worker->busy.load(std::memory_order_relaxed)));
  }
  all.dynamic = dynamic_.load(std::memory_order_relaxed);
  return all;
}

void TaskQueue::Impl::fail(Node& node, const std::exception_ptr& error) {
  const std::lock_guard lock(node.mutex);
  if (!node.error) node.error = error;
}

TaskQueue::Impl::Worker* TaskQueue::Impl::here() const {
  return this_worker.queue == this ? static_cast<Worker*>(this_worker.worker) : nullptr;
}

bool TaskQueue::Impl::enqueue(Node* node) {
  Worker* const self = here();
  if (node->type) {
    Worker& worker = *workers_[*node->type % workers()];
    worker.pinned.add(node);
    worker.bell.ring();
    return true;
  }
  if (!node->worker && self != nullptr) {
    if (!self->spawned.push(reinterpret_cast<Task>(node))) return false;
  } else if (!node->worker && dynamic_.load(std::memory_order_relaxed)) {
    shared_.add(node);
  } else {
    const std::size_t turn =
        node->worker ? *node->worker : next_.fetch_add(1, std::memory_order_relaxed) % workers();
    workers_[turn]->given.add(node);
    workers_[turn]->bell.ring();
  }
  // Another worker may take it, or must check whether that is allowed.
  if (options_.policy != TaskPolicy::kStatic) wake_any();
  return true;
}

void TaskQueue::Impl::run(Node* node, Worker& self) {
  const bool outermost = !std::exchange(self.running, true);
  const std::uint64_t start = ticks();
  if (outermost) self.running_since.store(start, std::memory_order_relaxed);
  const TaskReporter::Stamp began = TaskReporter::stamp();
  TaskPlace place{self.index, {}};
  if (node->type) place.stream = options_.streams[*node->type];
  std::exception_ptr error;
  try {
    node->function(place);
  } catch (...) {
    error = std::current_exception();
  }
  reporter_.notify(node->number, self.index,
                   node->type ? static_cast<std::uint32_t>(*node->type) : COORD_NONE, began);
  node->function = nullptr;  // destroys its captures here
  add(self.tasks, 1);
  if (outermost) {
    self.running = false;
    add(self.busy, ticks() - start);
    self.running_since.store(0, std::memory_order_relaxed);
  }
  if (error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    node->error = std::move(error);
  }
  end(node);
}

// Ends the task and the dependents that will not run; releases the others.
void TaskQueue::Impl::end(Node* first) {
  std::vector<Node*> ending{first};
  while (!ending.empty()) {
    std::shared_ptr<Node> node = std::move(ending.back()->self);
    ending.pop_back();
    std::vector<std::shared_ptr<Node>> successors;
    {
      const std::lock_guard lock(node->mutex);
      node->has_ended = true;
      successors.swap(node->successors);
    }
    for (const std::shared_ptr<Node>& next : successors) {
      if (node->error) fail(*next, node->error);
      if (next->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (next->error) {
        ending.push_back(next.get());
      } else if (!enqueue(next.get())) {
        here()->given.add(next.get());  // it already exists: running it here saves nothing
      }
    }
    successors.clear();
    node.reset();  // destroyed before it counts as ended
    if (!count_.remove(1)) continue;
    const std::lock_guard lock(mutex_);
    ended_.notify_all();
  }
}

void TaskQueue::Impl::work(Worker& self) {
  this_worker = {this, &self};
  for (;;) {
    const std::uint64_t heard = self.bell.rings();
    if (Node* node = next(self)) {
      run(node, self);
    } else if (ending_.load(std::memory_order_acquire)) {
      return;
    } else {
      sleep(self, heard);
    }
  }
}

TaskHandle::Node* TaskQueue::Impl::next(Worker& self) {
  do {
    if (Node* found = self.pinned.take()) return found;
    const TaskClaim claim = self.spawned.claim_newest(1);
    if (claim.count != 0) return reinterpret_cast<Node*>(self.spawned.take(claim.first));
    if (Node* found = self.given.take()) return found;
    if (Node* found = shared_.take()) return found;
  } while (dynamic_.load(std::memory_order_relaxed) && steal(self));
  return nullptr;
}

bool TaskQueue::Impl::steal(Worker& self) {
  for (std::size_t i = 1; i < workers(); ++i) {
    if (steal_from(*workers_[(self.index + i) % workers()], self)) return true;
  }
  return false;
}

bool TaskQueue::Impl::steal_from(Worker& victim, Worker& self) {
  const TaskClaim claim = victim.spawned.claim_oldest(options_.spawned, 2);
  for (std::uint32_t i = 0; i < claim.count; ++i) {
    const Task task = victim.spawned.take(claim.first + i);
    if (!self.spawned.push(task)) self.given.add(reinterpret_cast<Node*>(task));
  }
  const std::size_t count = claim.count + victim.given.move_half(self.given);
  if (count == 0) return false;
  add(self.steals, 1);
  add(self.stolen, count);
  return true;
}

bool TaskQueue::Impl::has_work(Worker& self) {
  if (self.pinned.size() + self.spawned.size() + self.given.size() + shared_.size() != 0)
    return true;
  if (!dynamic_.load(std::memory_order_relaxed)) return false;
  return std::ranges::any_of(workers_, [](const auto& worker) {
    return worker->spawned.size() + worker->given.size() != 0;
  });
}

// No wake-up is lost: a worker counts itself as idle before its last check, a thread that adds a
// task does so before it reads that count, and both modify the count, which orders them.
void TaskQueue::Impl::sleep(Worker& self, std::uint64_t heard) {
  if (may_turn() && !count_.none()) {
    judge();
    if (may_turn()) self.bell.sleep(heard, monotonic_ns() + kJudgeNs);
    return;
  }
  self.idle.store(true, std::memory_order_relaxed);
  idle_.fetch_add(1, std::memory_order_seq_cst);
  if (!has_work(self)) self.bell.sleep(heard, std::numeric_limits<std::int64_t>::max());
  idle_.fetch_sub(1, std::memory_order_relaxed);
  self.idle.store(false, std::memory_order_relaxed);
}

bool TaskQueue::Impl::may_turn() const {
  return options_.policy == TaskPolicy::kHybrid && !dynamic_.load(std::memory_order_relaxed);
}

void TaskQueue::Impl::judge() {
  bool waiting = false;
  std::uint64_t most = 0, sum = 0;
  for (const auto& worker : workers_) {
    waiting = waiting || worker->spawned.size() + worker->given.size() != 0;
    std::uint64_t busy = worker->busy.load(std::memory_order_relaxed);
    const std::uint64_t since = worker->running_since.load(std::memory_order_relaxed);
    const std::uint64_t now = ticks();
    if (since != 0 && now > since) busy += now - since;
    most = std::max(most, busy);
    sum += busy;
  }
  const std::uint64_t mean = sum / workers();
  // A difference below the check interval is not significant.
  if (!waiting || length_of_ticks(most - mean).count() < kJudgeNs) return;
  const double imbalance =
      static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(mean, 1));
  if (imbalance <= options_.imbalance) return;
  if (dynamic_.exchange(true, std::memory_order_relaxed)) return;
  if (observer().mark != nullptr) {
    const std::string text = "task queue " + options_.name + " switches to dynamic: imbalance " +
                             std::to_string(imbalance);
    observer().mark(text.c_str(), 0);
  }
  for (const auto& worker : workers_) worker->bell.ring();
}

void TaskQueue::Impl::wake_any() {
  if (idle_.fetch_add(0, std::memory_order_seq_cst) == 0) return;
  for (const auto& worker : workers_) {
    if (!worker->idle.exchange(false, std::memory_order_relaxed)) continue;
    worker->bell.ring();
    return;
  }
}

TaskQueue::TaskQueue(TaskQueueOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

TaskQueue::~TaskQueue() = default;

TaskHandle TaskQueue::submit(TaskFunction function, const TaskOptions& options) {
  return impl_->submit(std::move(function), options);
}

void TaskQueue::wait() { impl_->wait(); }

std::size_t TaskQueue::workers() const noexcept { return impl_->workers(); }

TaskQueueMetrics TaskQueue::metrics() const { return impl_->metrics(); }

}  // namespace coord
