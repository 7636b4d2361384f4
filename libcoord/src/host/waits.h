// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The waits of an AsyncWaiter, each of which ends exactly once: reached, failed, timed out or
// cancelled, whichever comes first. One thread polls at a time; everything else is thread-safe.
//
// `Env` is their environment: the device, the executor, the clock, and the mutual exclusion of
// threads. Tests use another one to run every order of their steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coord/error.h"
#include "coord/waiter.h"
#include "poller.h"

namespace coord {

template <typename Env>
class BasicWaits {
 public:
  using Event = typename Env::Event;
  using Function = std::function<void(WaitOutcome)>;

  explicit BasicWaits(Env& env) : env_(env), wheel_at_(env.now_ns() / kSlotNs) {}
  BasicWaits(const BasicWaits&) = delete;
  BasicWaits& operator=(const BasicWaits&) = delete;

  /// Takes an event that was recorded in the stream. `deadline_ns` 0: none. The caller must wake
  /// the polling thread.
  std::uint64_t add(std::uint64_t stream, Event event, Function&& function,
                    std::int64_t deadline_ns);
  bool cancel(std::uint64_t id);
  /// Queries the device once per stream, and again after each positive result.
  PollResult poll_once();
  /// Cancels pending waits, and returns once all functions have run. No thread may poll anymore.
  void end_all();
  [[nodiscard]] std::size_t pending() const {
    const Lock lock(mutex_);
    return pending_;
  }

 private:
  using Lock = std::unique_lock<typename Env::Mutex>;

  /// Timeouts are kept in a timing wheel, with slots of this many ns.
  static constexpr std::int64_t kSlotNs = 50'000;
  static constexpr std::size_t kSlots = 1024;
  /// Slots that are searched for the next timeout; about the poller's longest pause.
  static constexpr std::int64_t kSoonSlots = 8;

  /// A slot of the table. The id holds its number and use count.
  struct Wait {
    std::uint64_t id = WaitId::kNone;
    Function function;
    std::int64_t deadline_ns = 0;
  };
  struct Recorded {
    Event event;
    std::uint64_t wait;
  };

  // All of these with the lock held.
  Wait* find(std::uint64_t id) {
    const std::size_t slot = id & 0xffff'ffff;
    return slot < waits_.size() && waits_[slot].id == id ? &waits_[slot] : nullptr;
  }
  void end(std::uint64_t id, const WaitOutcome& outcome);
  void expire();
  [[nodiscard]] std::int64_t next_timeout() const;

  Env& env_;
  mutable typename Env::Mutex mutex_;
  typename Env::Condition ran_;
  std::deque<Wait> waits_;
  std::vector<std::uint32_t> free_;
  std::uint64_t uses_ = 0;
  std::size_t pending_ = 0;
  std::size_t running_ = 0;  // functions passed to the executor
  std::unordered_map<std::uint64_t, std::deque<Recorded>> streams_;
  std::array<std::vector<std::uint64_t>, kSlots> wheel_;
  std::size_t timed_ = 0;             // entries of the wheel
  std::int64_t wheel_at_;             // slots before this one are empty
  std::vector<std::uint64_t> asked_;  // by poll_once(): the streams
};

template <typename Env>
std::uint64_t BasicWaits<Env>::add(std::uint64_t stream, Event event, Function&& function,
                                   std::int64_t deadline_ns) {
  const Lock lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(waits_.size()));
    waits_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Wait& wait = waits_[slot];
  wait.id = ++uses_ << 32 | slot;
  wait.function = std::move(function);
  wait.deadline_ns = deadline_ns;
  if (deadline_ns != 0) {
    const std::int64_t at = std::max(deadline_ns / kSlotNs, wheel_at_);
    wheel_[static_cast<std::size_t>(at) % kSlots].push_back(wait.id);
    ++timed_;
  }
  streams_[stream].push_back({event, wait.id});
  ++pending_;
  return wait.id;
}

template <typename Env>
bool BasicWaits<Env>::cancel(std::uint64_t id) {
  const Lock lock(mutex_);
  if (find(id) == nullptr) return false;
  end(id, {WaitResult::kCancelled, nullptr});
  return true;
}

template <typename Env>
void BasicWaits<Env>::end_all() {
  Lock lock(mutex_);
  for (Wait& wait : waits_) {
    if (wait.id != WaitId::kNone) end(wait.id, {WaitResult::kCancelled, nullptr});
  }
  ran_.wait(lock, [this] { return running_ == 0; });
  for (auto& [stream, recorded] : streams_) {
    for (const Recorded& one : recorded) env_.release(one.event);
  }
  streams_.clear();
}

// The wait's event stays in its stream's queue until it is reached, and its entry in the wheel
// until the wheel reaches its slot.
template <typename Env>
void BasicWaits<Env>::end(std::uint64_t id, const WaitOutcome& outcome) {
  Wait* wait = find(id);
  if (wait == nullptr) return;
  wait->id = WaitId::kNone;
  free_.push_back(static_cast<std::uint32_t>(id & 0xffff'ffff));
  --pending_;
  ++running_;
  env_.post([this, function = std::move(wait->function), outcome]() mutable {
    function(outcome);
    function = nullptr;
    const Lock lock(mutex_);
    if (--running_ == 0) ran_.notify_all();
  });
  wait->function = nullptr;
}

template <typename Env>
void BasicWaits<Env>::expire() {
  if (timed_ == 0) {
    wheel_at_ = env_.now_ns() / kSlotNs;
    return;
  }
  const std::int64_t now_ns = env_.now_ns();
  const std::int64_t until = now_ns / kSlotNs;
  // One revolution passes every slot.
  const std::int64_t from = std::max(wheel_at_, until - static_cast<std::int64_t>(kSlots) + 1);
  for (std::int64_t at = from; at <= until; ++at) {
    std::vector<std::uint64_t>& slot = wheel_[static_cast<std::size_t>(at) % kSlots];
    std::size_t kept = 0;
    for (std::uint64_t id : slot) {
      const Wait* wait = find(id);
      if (wait != nullptr && wait->deadline_ns > now_ns) {
        slot[kept++] = id;  // in a later revolution, or later within this slot
      } else {
        --timed_;
        if (wait != nullptr) end(id, {WaitResult::kTimedOut, nullptr});
      }
    }
    slot.resize(kept);
  }
  wheel_at_ = until;  // again: the slot has not fully passed
}

// When the wheel reaches a non-empty slot, if that is soon.
template <typename Env>
std::int64_t BasicWaits<Env>::next_timeout() const {
  if (timed_ == 0) return std::numeric_limits<std::int64_t>::max();
  std::int64_t at = wheel_at_;
  while (at < wheel_at_ + kSoonSlots && wheel_[static_cast<std::size_t>(at) % kSlots].empty()) ++at;
  return (at + 1) * kSlotNs;
}

template <typename Env>
PollResult BasicWaits<Env>::poll_once() {
  bool progress = false;
  {
    const Lock lock(mutex_);
    expire();
    asked_.clear();
    for (const auto& [stream, recorded] : streams_) asked_.push_back(stream);
  }
  std::exception_ptr failure;
  for (std::uint64_t stream : asked_) {
    // One query per stream, and one more after each positive result.
    for (bool more = true; more && failure == nullptr;) {
      Recorded first;
      {
        const Lock lock(mutex_);
        first = streams_[stream].front();  // only this thread takes from the queue
      }
      WaitOutcome outcome;
      try {
        if (!env_.reached(first.event)) break;
      } catch (const Error& error) {
        outcome = {WaitResult::kFailed, std::current_exception()};
        if (error.kind() == ErrorKind::kDeviceFailure) failure = outcome.error;
      }
      const Lock lock(mutex_);
      std::deque<Recorded>& recorded = streams_[stream];
      recorded.pop_front();
      env_.release(first.event);
      end(first.wait, outcome);
      progress = true;
      if (recorded.empty()) {
        streams_.erase(stream);
        more = false;
      }
    }
  }
  const Lock lock(mutex_);
  if (failure != nullptr) {
    for (auto& [stream, recorded] : streams_) {
      for (const Recorded& one : recorded) {
        env_.release(one.event);
        end(one.wait, {WaitResult::kFailed, failure});
      }
    }
    streams_.clear();
  }
  if (progress) return {PollResult::kProgress, next_timeout()};
  return {streams_.empty() && timed_ == 0 ? PollResult::kIdle : PollResult::kPatient,
          next_timeout()};
}

}  // namespace coord
