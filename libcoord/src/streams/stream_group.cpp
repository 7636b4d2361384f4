// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/stream_group.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "codes.h"
#include "coord/barrier.h"
#include "coord/device.h"
#include "coord/error.h"
#include "coord/executor.h"

namespace coord {

namespace {

constexpr auto kNoWork = [](StreamRef) {};

/// Lets one thread wait until several others are done.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : left_(count) {}
  void done() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) all_done_.notify_all();  // with the lock: the waiting thread destroys this
  }
  void wait() {
    std::unique_lock lock(mutex_);
    all_done_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t left_;
};

/// Collects the outcomes of several operations.
class Gathering {
 public:
  Gathering(std::size_t count, std::function<void(Outcome)> function)
      : left_(count), function_(std::move(function)) {}
  void add(const Outcome& outcome) {
    {
      const std::lock_guard lock(mutex_);
      if (first_.state == OperationState::kCompleted) first_ = outcome;
      if (--left_ > 0) return;
    }
    function_(first_);
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  Outcome first_;
  const std::function<void(Outcome)> function_;
};

}  // namespace

class StreamGroup::Impl {
 public:
  Impl(Coordinator& coordinator, std::span<const StreamRef> streams,
       const StreamGroupOptions& options)
      : barrier(coordinator, streams, options.name),
        name(options.name),
        coordinator_(coordinator),
        threads_(options.threads) {
    for (StreamRef stream : streams) {
      lanes_.emplace_back();
      lanes_.back().stream = stream;
      lanes_.back().after.resize(streams.size());
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
  [[nodiscard]] StreamRef stream(std::size_t index) const { return lanes_.at(index).stream; }

  [[nodiscard]] std::size_t index_of(StreamRef stream, const char* call) const {
    const auto found = std::ranges::find(lanes_, stream, &Lane::stream);
    if (found != lanes_.end()) return static_cast<std::size_t>(found - lanes_.begin());
    throw make_error(kCodeInvalidHandle, call, "the stream is not in the group \"" + name + "\"");
  }

  /// Moves the stream's dependencies to `after`: later pieces come after this one.
  void take_dependencies(std::size_t index, Dependencies& after) {
    const std::lock_guard lock(mutex_);
    Lane& lane = lanes_[index];
    for (OperationHandle& on : lane.after) {
      if (on.id().valid()) after.push_back(std::exchange(on, OperationHandle()));
    }
    settle(lane);
    if (const OperationHandle last = last_of(lane); last.id().valid() && unsubmitted(last))
      after.push_back(last);
  }

  void give(std::size_t index, OperationHandle piece) {
    const std::lock_guard lock(mutex_);
    settle(lanes_[index]);
    lanes_[index].given.push_back(piece);
  }

  void add_dependency(std::size_t index, std::size_t on) {
    const std::lock_guard lock(mutex_);
    settle(lanes_[on]);
    lanes_[index].after[on] = last_of(lanes_[on]);
  }

  [[nodiscard]] OperationHandle last(std::size_t index) {
    const std::lock_guard lock(mutex_);
    settle(lanes_[index]);
    return last_of(lanes_[index]);
  }

  /// Pieces that may not have ended: per stream, the newest submitted piece and all unsubmitted
  /// ones.
  [[nodiscard]] std::vector<OperationHandle> all_given() {
    const std::lock_guard lock(mutex_);
    std::vector<OperationHandle> all;
    for (Lane& lane : lanes_) {
      settle(lane);
      all.insert(all.end(), lane.given.begin(), lane.given.end());
    }
    return all;
  }

  [[nodiscard]] bool all_submitted() {
    const std::vector<OperationHandle> all = all_given();
    return std::ranges::none_of(all, [&](OperationHandle piece) { return unsubmitted(piece); });
  }

  Executor& executor() {
    const std::lock_guard lock(mutex_);
    if (!executor_.has_value()) {
      const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
      executor_.emplace(threads_ > 0 ? threads_ : std::min(lanes_.size(), processors));
    }
    return *executor_;
  }

  Barrier barrier;
  const std::string name;

 private:
  struct Lane {
    StreamRef stream;
    std::vector<OperationHandle> given;  // see all_given(), in order
    /// Dependencies of its next piece, by their lane: newer replaces older.
    std::vector<OperationHandle> after;
  };

  [[nodiscard]] bool unsubmitted(OperationHandle piece) const {
    return coordinator_.state(piece) < OperationState::kSubmitted;
  }
  [[nodiscard]] static OperationHandle last_of(const Lane& lane) {
    return lane.given.empty() ? OperationHandle() : lane.given.back();
  }

  // Keeps only the newest of the submitted pieces, and drops those that will never be submitted.
  void settle(Lane& lane) {
    std::erase_if(lane.given, [&](OperationHandle piece) {
      const OperationState state = coordinator_.state(piece);
      return state == OperationState::kFailed || state == OperationState::kCancelled;
    });
    const auto pending =
        std::ranges::find_if(lane.given, [&](OperationHandle piece) { return unsubmitted(piece); });
    if (pending - lane.given.begin() > 1) lane.given.erase(lane.given.begin(), pending - 1);
  }

  Coordinator& coordinator_;
  const std::size_t threads_;
  std::mutex mutex_;
  std::vector<Lane> lanes_;
  std::optional<Executor> executor_;  // last: its threads end first
};

StreamGroup::StreamGroup(Coordinator& coordinator, std::span<const StreamRef> streams,
                         const StreamGroupOptions& options)
    : coordinator_(coordinator), impl_(std::make_unique<Impl>(coordinator, streams, options)) {}

StreamGroup::~StreamGroup() = default;

std::size_t StreamGroup::size() const noexcept { return impl_->size(); }

StreamRef StreamGroup::operator[](std::size_t index) const { return impl_->stream(index); }

OperationOptions StreamGroup::take_dependencies(const OperationOptions& options, const char* call) {
  OperationOptions result = options;
  impl_->take_dependencies(impl_->index_of(options.stream, call), result.after);
  return result;
}

void StreamGroup::give(StreamRef stream, OperationHandle piece) {
  impl_->give(impl_->index_of(stream, "StreamGroup::submit"), piece);
}

OperationHandle StreamGroup::register_operation(const OperationOptions& options,
                                                std::source_location where) {
  const OperationHandle piece = coordinator_.register_operation(
      take_dependencies(options, "StreamGroup::register_operation"), where);
  give(options.stream, piece);
  return piece;
}

void StreamGroup::add_dependency(StreamRef stream, StreamRef on) {
  constexpr const char* kCall = "StreamGroup::add_dependency";
  const std::size_t index = impl_->index_of(stream, kCall), on_index = impl_->index_of(on, kCall);
  if (index != on_index) impl_->add_dependency(index, on_index);
}

OperationHandle StreamGroup::last(StreamRef stream) const {
  return impl_->last(impl_->index_of(stream, "StreamGroup::last"));
}

OperationHandle StreamGroup::barrier(std::source_location where) {
  if (impl_->all_submitted()) return impl_->barrier.pass(where);
  // The first stream comes after the others, and they come after the barrier in it.
  for (std::size_t i = 1; i < impl_->size(); ++i) impl_->add_dependency(0, i);
  const OperationHandle passed = submit({.type = OperationType::kBarrier,
                                         .priority = OperationPriority::kCritical,
                                         .stream = impl_->stream(0),
                                         .description = impl_->name},
                                        kNoWork, where);
  for (std::size_t i = 1; i < impl_->size(); ++i) impl_->add_dependency(i, 0);
  return passed;
}

std::vector<OperationHandle> StreamGroup::execute_parallel(
    std::span<const std::function<void(StreamRef)>> pieces, std::string_view description,
    std::source_location where) {
  std::vector<OperationHandle> submitted(pieces.size());
  std::vector<std::exception_ptr> errors(pieces.size());
  const std::size_t size = impl_->size(), lanes = std::min(size, pieces.size());
  Countdown left(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    impl_->executor().post([&, lane] {
      const StreamRef stream = impl_->stream(lane);
      for (std::size_t i = lane; i < pieces.size(); i += size) {
        try {
          const CurrentDevice current(stream.device());
          submitted[i] = submit({.stream = stream, .description = description}, pieces[i], where);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      }
      left.done();
    });
  }
  left.wait();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
  return submitted;
}

void StreamGroup::on_complete(std::function<void(Outcome)> function) {
  if (!function)
    throw make_error(kCodeInvalidValue, "StreamGroup::on_complete", "the function is empty");
  std::vector<OperationHandle> all = impl_->all_given();
  if (all.empty()) all.push_back(submit({.stream = impl_->stream(0)}, kNoWork));
  const auto gathering = std::make_shared<Gathering>(all.size(), std::move(function));
  for (OperationHandle piece : all)
    coordinator_.on_complete(piece,
                             [gathering](const Outcome& outcome) { gathering->add(outcome); });
}

void StreamGroup::wait() {
  std::exception_ptr first;
  for (OperationHandle piece : impl_->all_given()) {
    try {
      coordinator_.wait(piece);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kDeadlock) throw;
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace coord
