// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/waiter.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codes.h"
#include "coord/error.h"
#include "coord/event_pool.h"
#include "device_state.h"
#include "poller.h"
#include "ticks.h"

namespace coord {

namespace {

/// Timeouts are kept in a wheel: slots of so many ns, taken round and round.
constexpr std::int64_t kSlotNs = 50'000;
constexpr std::size_t kSlots = 1024;
/// Slots that are looked at for the next timeout; about as long as the poller pauses at most.
constexpr std::int64_t kSoonSlots = 8;

}  // namespace

class AsyncWaiter::Impl {
 public:
  Impl(const Device& device, const AsyncWaiterOptions& options)
      : device_(device),
        events_(device, {.name = "waiter"}),
        executor_(options.executor != nullptr ? options.executor : Executor::shared()),
        wheel_at_(monotonic_ns() / kSlotNs),
        poller_(std::make_unique<PollClient>([this] { return look(); })) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  WaitId add(StreamRef stream, std::function<void(WaitOutcome)> function, Nanoseconds timeout);
  bool cancel(WaitId id);
  std::size_t pending() const {
    const Lock lock(mutex_);
    return pending_;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// A slot of the table. The id holds the slot's number and how often it was used.
  struct Wait {
    std::uint64_t id = WaitId::kNone;
    std::function<void(WaitOutcome)> function;
    std::int64_t deadline_ns = 0;
  };
  struct Recorded {
    EventRef event;
    std::uint64_t wait;
  };

  Wait* find(std::uint64_t id) {
    const std::size_t slot = id & 0xffff'ffff;
    return slot < waits_.size() && waits_[slot].id == id ? &waits_[slot] : nullptr;
  }
  void end(std::uint64_t id, const WaitOutcome& outcome);
  void expire();
  std::int64_t next_timeout() const;
  Look look();

  const Device device_;
  EventPool events_;
  const std::shared_ptr<Executor> executor_;

  mutable std::mutex mutex_;
  std::condition_variable ran_;
  std::deque<Wait> waits_;
  std::vector<std::uint32_t> free_;
  std::uint64_t uses_ = 0;
  std::size_t pending_ = 0;
  std::size_t running_ = 0;  // functions that the executor has
  std::unordered_map<std::uint64_t, std::deque<Recorded>> streams_;
  std::array<std::vector<std::uint64_t>, kSlots> wheel_;
  std::size_t timed_ = 0;             // entries of the wheel
  std::int64_t wheel_at_;             // slots before this one are empty
  std::vector<std::uint64_t> asked_;  // by look(): the streams
  std::unique_ptr<PollClient> poller_;
};

AsyncWaiter::Impl::~Impl() {
  poller_.reset();
  Lock lock(mutex_);
  for (Wait& wait : waits_) {
    if (wait.id != WaitId::kNone) end(wait.id, {WaitResult::kCancelled, nullptr});
  }
  ran_.wait(lock, [this] { return running_ == 0; });
  for (auto& [stream, recorded] : streams_) {
    for (const Recorded& one : recorded) events_.release(one.event);
  }
}

WaitId AsyncWaiter::Impl::add(StreamRef stream, std::function<void(WaitOutcome)> function,
                              Nanoseconds timeout) {
  constexpr const char* kCall = "AsyncWaiter::when_reached";
  if (!function) throw make_error(kCodeInvalidValue, kCall, "the function is empty");
  if (stream.capture_status() != CaptureStatus::kNone)
    throw Error(ErrorKind::kCapture, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", kCall,
                "the stream is being captured");
  const EventRef event = events_.acquire();
  try {
    stream.record(event);
  } catch (...) {
    events_.release(event);
    throw;
  }
  std::uint64_t id = 0;
  {
    const Lock lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(waits_.size()));
      waits_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Wait& wait = waits_[slot];
    id = wait.id = ++uses_ << 32 | slot;
    wait.function = std::move(function);
    wait.deadline_ns = 0;
    if (timeout != Nanoseconds::max()) {
      wait.deadline_ns = monotonic_ns() + std::max<std::int64_t>(timeout.count(), 0);
      const std::int64_t at = std::max(wait.deadline_ns / kSlotNs, wheel_at_);
      wheel_[static_cast<std::size_t>(at) % kSlots].push_back(id);
      ++timed_;
    }
    streams_[stream.id().value].push_back({event, id});
    ++pending_;
  }
  poller_->wake();
  return WaitId{id};
}

bool AsyncWaiter::Impl::cancel(WaitId id) {
  const Lock lock(mutex_);
  if (find(id.value) == nullptr) return false;
  end(id.value, {WaitResult::kCancelled, nullptr});
  return true;
}

// With the lock held. The wait's event stays in its stream's queue until it is reached, and its
// entry in the wheel until its slot comes round.
void AsyncWaiter::Impl::end(std::uint64_t id, const WaitOutcome& outcome) {
  Wait* wait = find(id);
  if (wait == nullptr) return;
  wait->id = WaitId::kNone;
  free_.push_back(static_cast<std::uint32_t>(id & 0xffff'ffff));
  --pending_;
  ++running_;
  executor_->post([this, function = std::move(wait->function), outcome]() mutable {
    function(outcome);
    function = nullptr;
    const Lock lock(mutex_);
    if (--running_ == 0) ran_.notify_all();
  });
  wait->function = nullptr;
}

void AsyncWaiter::Impl::expire() {
  if (timed_ == 0) {
    wheel_at_ = monotonic_ns() / kSlotNs;
    return;
  }
  const std::int64_t now_ns = monotonic_ns();
  const std::int64_t until = now_ns / kSlotNs;
  // One turn passes every slot.
  const std::int64_t from = std::max(wheel_at_, until - static_cast<std::int64_t>(kSlots) + 1);
  for (std::int64_t at = from; at <= until; ++at) {
    std::vector<std::uint64_t>& slot = wheel_[static_cast<std::size_t>(at) % kSlots];
    std::size_t kept = 0;
    for (std::uint64_t id : slot) {
      const Wait* wait = find(id);
      if (wait != nullptr && wait->deadline_ns > now_ns) {
        slot[kept++] = id;  // in a later turn, or later within this slot
      } else {
        --timed_;
        if (wait != nullptr) end(id, {WaitResult::kTimedOut, nullptr});
      }
    }
    slot.resize(kept);
  }
  wheel_at_ = until;  // once more: it is not over
}

// When a slot of the wheel that is not empty comes round, if that is soon. With the lock held.
std::int64_t AsyncWaiter::Impl::next_timeout() const {
  if (timed_ == 0) return std::numeric_limits<std::int64_t>::max();
  std::int64_t at = wheel_at_;
  while (at < wheel_at_ + kSoonSlots && wheel_[static_cast<std::size_t>(at) % kSlots].empty()) ++at;
  return (at + 1) * kSlotNs;
}

Look AsyncWaiter::Impl::look() {
  bool progress = false;
  Backend& backend = *device_.state()->backend;
  {
    const Lock lock(mutex_);
    expire();
    asked_.clear();
    for (const auto& [stream, recorded] : streams_) asked_.push_back(stream);
  }
  std::exception_ptr failure;
  for (std::uint64_t stream : asked_) {
    // One question for each stream, and one more for each answer that is yes.
    for (bool more = true; more && failure == nullptr;) {
      Recorded first;
      {
        const Lock lock(mutex_);
        first = streams_[stream].front();  // only this thread takes from the queue
      }
      WaitOutcome outcome;
      try {
        const CaptureMode before = backend.exchange_capture_mode(CaptureMode::kRelaxed);
        const bool reached = first.event.query();
        backend.exchange_capture_mode(before);
        if (!reached) break;
      } catch (const Error& error) {
        outcome = {WaitResult::kFailed, std::current_exception()};
        if (error.kind() == ErrorKind::kDeviceFailure) failure = outcome.error;
      }
      const Lock lock(mutex_);
      std::deque<Recorded>& recorded = streams_[stream];
      recorded.pop_front();
      events_.release(first.event);
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
        events_.release(one.event);
        end(one.wait, {WaitResult::kFailed, failure});
      }
    }
    streams_.clear();
  }
  if (progress) return {Look::kProgress, next_timeout()};
  return {streams_.empty() && timed_ == 0 ? Look::kIdle : Look::kPatient, next_timeout()};
}

AsyncWaiter::AsyncWaiter(const Device& device, const AsyncWaiterOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

AsyncWaiter::~AsyncWaiter() = default;

WaitId AsyncWaiter::when_reached(StreamRef stream, std::function<void(WaitOutcome)> function,
                                 Nanoseconds timeout) {
  return impl_->add(stream, std::move(function), timeout);
}

bool AsyncWaiter::cancel(WaitId wait) { return impl_->cancel(wait); }

std::size_t AsyncWaiter::pending() const { return impl_->pending(); }

}  // namespace coord
