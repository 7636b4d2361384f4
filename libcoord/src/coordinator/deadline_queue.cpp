// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/deadline_queue.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "codes.h"
#include "coord/device.h"
#include "coord/error.h"

namespace coord {

class DeadlineQueue::Impl {
 public:
  Impl(Coordinator& coordinator, StreamRef stream, const DeadlineQueueOptions& options)
      : coordinator_(coordinator),
        stream_(stream),
        device_(stream.device()),
        most_in_flight_(options.in_flight) {
    if (most_in_flight_ == 0)
      throw make_error(kCodeInvalidValue, "DeadlineQueue", "in_flight must be at least 1");
  }

  OperationHandle submit(TimeNs deadline, std::function<void(StreamRef)> function,
                         const OperationOptions& given, const std::source_location& where) {
    if (!function)
      throw make_error(kCodeInvalidValue, "DeadlineQueue::submit", "the function is empty");
    OperationOptions options = given;
    options.stream = stream_;
    const OperationHandle handle = coordinator_.register_operation(options, where);
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({deadline, counts_.submitted++, handle, std::move(function)});
      std::push_heap(waiting_.begin(), waiting_.end(), comes_after);
    }
    dispatch();
    return handle;
  }

  void wait() {
    for (;;) {
      const std::optional<OperationHandle> found = any_in_flight();
      if (!found) break;
      const OperationHandle piece = *found;
      try {
        coordinator_.wait(piece);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kDeadlock) throw;
      } catch (...) {  // its outcome has the error
      }
      coordinator_.poll();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return std::ranges::find(in_flight_, piece) == in_flight_.end(); });
    }
    const std::lock_guard lock(mutex_);
    if (first_error_ != nullptr) std::rethrow_exception(std::exchange(first_error_, nullptr));
  }

  void cancel_waiting() {
    std::vector<Piece> cancelled;
    {
      const std::lock_guard lock(mutex_);
      cancelled.swap(waiting_);
      counts_.failed += cancelled.size();
    }
    for (const Piece& piece : cancelled) coordinator_.cancel(piece.handle);
  }

  [[nodiscard]] DeadlineQueueMetrics metrics() const {
    const std::lock_guard lock(mutex_);
    DeadlineQueueMetrics result = counts_;
    result.waiting = waiting_.size();
    result.in_flight = in_flight_.size();
    return result;
  }

 private:
  struct Piece {
    TimeNs deadline;
    std::uint64_t number = 0;
    OperationHandle handle;
    std::function<void(StreamRef)> function;
  };
  static bool comes_after(const Piece& a, const Piece& b) {
    return std::tie(a.deadline, a.number) > std::tie(b.deadline, b.number);
  }

  // One thread at a time, because calls on one stream must be ordered. Other threads leave their
  // pieces to it, and so do functions that it calls.
  void dispatch() {
    std::unique_lock lock(mutex_);
    if (dispatching_) return;
    dispatching_ = true;
    while (in_flight_.size() < most_in_flight_ && !waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), comes_after);
      Piece piece = std::move(waiting_.back());
      waiting_.pop_back();
      in_flight_.push_back(piece.handle);
      lock.unlock();
      try {
        coordinator_.submit(piece.handle, std::move(piece.function));
      } catch (...) {  // the piece failed or was cancelled before: its outcome has the error
      }
      coordinator_.on_complete(
          piece.handle,
          [this, deadline = piece.deadline](const Outcome& outcome) { end(outcome, deadline); });
      lock.lock();
    }
    dispatching_ = false;
  }

  void end(const Outcome& outcome, TimeNs deadline) {
    const std::optional<OperationInfo> info = coordinator_.info(outcome.operation);
    const Nanoseconds late =
        (info.has_value() && info->ended.value != 0 ? info->ended : device_.now()) - deadline;
    {
      const std::lock_guard lock(mutex_);
      if (outcome.state != OperationState::kCompleted) {
        ++counts_.failed;
        if (outcome.state == OperationState::kFailed && first_error_ == nullptr)
          first_error_ = outcome.error;
      } else {
        ++counts_.completed;
        if (late > Nanoseconds(0)) ++counts_.missed;
        counts_.worst_lateness = std::max(counts_.worst_lateness, late);
      }
      std::erase(in_flight_, outcome.operation);
      ++ending_;
    }
    dispatch();
    const std::lock_guard lock(mutex_);
    --ending_;
    changed_.notify_all();  // with the lock: a waiting thread may destroy this
  }

  // Empty once nothing waits or is in flight, and no callback runs.
  std::optional<OperationHandle> any_in_flight() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [this] { return !in_flight_.empty() || (waiting_.empty() && ending_ == 0); });
    if (in_flight_.empty()) return std::nullopt;
    return in_flight_.front();
  }

  Coordinator& coordinator_;
  const StreamRef stream_;
  const Device device_;
  const std::size_t most_in_flight_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Piece> waiting_;  // a heap, next piece at the front
  std::vector<OperationHandle> in_flight_;
  bool dispatching_ = false;
  std::size_t ending_ = 0;          // callbacks that may still dispatch
  std::exception_ptr first_error_;  // that wait() has not thrown yet
  DeadlineQueueMetrics counts_;
};

DeadlineQueue::DeadlineQueue(Coordinator& coordinator, StreamRef stream,
                             const DeadlineQueueOptions& options)
    : impl_(std::make_unique<Impl>(coordinator, stream, options)) {}

DeadlineQueue::~DeadlineQueue() {
  impl_->cancel_waiting();
  try {
    impl_->wait();
  } catch (...) {  // the pieces' outcomes have the errors
  }
}

OperationHandle DeadlineQueue::submit(TimeNs deadline, std::function<void(StreamRef)> function,
                                      const OperationOptions& options, std::source_location where) {
  return impl_->submit(deadline, std::move(function), options, where);
}

void DeadlineQueue::wait() { impl_->wait(); }

DeadlineQueueMetrics DeadlineQueue::metrics() const { return impl_->metrics(); }

}  // namespace coord
