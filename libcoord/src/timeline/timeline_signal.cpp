// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Signals by the host and streams, and checks of what was reached.

#include <algorithm>
#include <atomic>

#include "capture_mode.h"
#include "codes.h"
#include "coord/error.h"
#include "device_state.h"
#include "timeline_impl.h"

namespace coord {

const Device& TimelineSignal::Impl::require_device(const char* call) const {
  if (!device_) throw make_error(kCodeNotSupported, call, "the timeline has no device");
  return *device_;
}

// Signals

void TimelineSignal::Impl::refuse(std::uint64_t value, std::uint64_t signaled) const {
  throw make_error(kCodeInvalidValue, "TimelineSignal::signal",
                   "\"" + name_ + "\" was already signaled to " + std::to_string(signaled) +
                       ", which is not less than " + std::to_string(value));
}

inline void TimelineSignal::Impl::signal(std::uint64_t value) {
  if (device_ || word_->outstanding.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return signal_in_order(value);
  // Reading the word just before its exchange would cost 2.4 ns: the last value signaled here
  // usually equals the word, and never exceeds it.
  std::uint64_t now = signaled_here_.load(std::memory_order_relaxed);
  do {
    if (value <= now) [[unlikely]]
      refuse(value, word_->completed.load());
  } while (!word_->raise(now, value));
  signaled_here_.store(value, std::memory_order_relaxed);
  notify(COORD_TIMELINE_SIGNAL, value);
  notify(COORD_TIMELINE_REACH, value);
}

void TimelineSignal::signal(std::uint64_t value) { impl_->signal(value); }

// For timelines that streams also signal.
void TimelineSignal::Impl::signal_in_order(std::uint64_t value) {
  const Lock lock(mutex_);
  const std::uint64_t now = signaled();
  if (value <= now) refuse(value, now);
  word_->promised.store(value);
  notify(COORD_TIMELINE_SIGNAL, value);
  if (points_.empty()) {
    reach(value);
    open_gates();
  } else {
    points_.push_back({value, EventRef(), StreamId(), take_order()});
    poller_->wake();
  }
}

void TimelineSignal::Impl::signal(StreamRef stream, std::uint64_t value) {
  constexpr const char* kCall = "TimelineSignal::signal";
  require_device(kCall);
  if (imported_)
    throw make_error(kCodeNotSupported, kCall,
                     "only the process that created it can signal from streams");
  if (stream.capture_status() != CaptureStatus::kNone)
    throw make_error(kCodeCaptureUnsupported, kCall, "the stream is being captured");
  // One lock for value and record: events are in the order of their values.
  const Lock lock(mutex_);
  const std::uint64_t now = signaled();
  if (value <= now) refuse(value, now);
  const EventRef event = events_->acquire();
  try {
    stream.record(event);
  } catch (...) {
    events_->release(event);
    throw;
  }
  // The device itself releases streams that wait for this value on the word, if nothing else must
  // be reached first.
  const bool alone = std::ranges::all_of(points_, [&](const Point& point) {
    return point.event.id().valid() && point.stream == stream.id();
  });
  const bool wanted =
      std::ranges::any_of(gates_, [&](const StreamWait& gate) { return gate.value <= value; });
  if (alone && wanted) stream.write_value(gate_.data(), value);
  points_.push_back({value, event, stream.id(), take_order()});
  word_->promised.store(value);
  word_->outstanding.fetch_add(1);
  notify(COORD_TIMELINE_SIGNAL, value, &stream);
  if (!gates_.empty() || !host_waits_.empty() || word_->sleepers.load() != 0) poller_->wake();
  if (points_.size() % 64 == 0) refresh();  // so that events are reused even without waiters
}

// Checks of what was reached. All of the following with the lock held.

void TimelineSignal::Impl::reach(std::uint64_t value) {
  notify(COORD_TIMELINE_REACH, value);
  std::uint64_t now = word_->completed.load(std::memory_order_relaxed);
  while (now < value && !word_->raise(now, value)) {
  }
}

void TimelineSignal::Impl::open_gates() {
  if (!gate_used_) return;
  const std::uint64_t value = word_->failed.load() != 0 ? kPoison : word_->completed.load();
  const std::atomic_ref<std::uint64_t> gate(gate_[0]);
  if (gate.load() < value) gate.store(value);
}

void TimelineSignal::Impl::forget_passed() {
  const std::uint64_t now = word_->completed.load();
  const auto passed = [now](const StreamWait& wait) { return wait.value <= now; };
  std::erase_if(gates_, passed);
  std::erase_if(waits_, passed);
}

// Queries the device for the points in order. True if a new value was reached.
bool TimelineSignal::Impl::refresh() {
  bool progress = false;
  while (!points_.empty()) {
    const Point point = points_.front();
    if (device_ && point.event.id().valid()) {
      try {
        const AllowedDuringCapture allowed(*device_->state()->backend);
        if (!point.event.query()) break;
      } catch (const Error&) {
        note_failure(std::current_exception());
        return true;
      }
      events_->release(point.event);
      word_->outstanding.fetch_sub(1);
    }
    points_.pop_front();
    reach(point.value);
    progress = true;
  }
  open_gates();
  forget_passed();
  return progress;
}

PollResult TimelineSignal::Impl::poll_once() {
  const Lock lock(mutex_);
  const bool progress = refresh();
  if (progress) return {PollResult::kProgress};
  if (word_->failed.load() != 0 || (points_.empty() && gates_.empty())) return {PollResult::kIdle};
  // Threads that are about to sleep count too: they have already woken the poller.
  if (!gates_.empty() || !host_waits_.empty() || word_->sleepers.load() != 0)
    return {PollResult::kWaiting};
  // Other processes cannot announce that they begin to wait.
  return {mapped_ ? PollResult::kPatient : PollResult::kIdle};
}

void TimelineSignal::Impl::note_failure(const std::exception_ptr& error) {
  if (error_ == nullptr) {
    error_ = error;
    notify(COORD_TIMELINE_FAIL, word_->completed.load());
  }
  word_->fail();
  open_gates();
  gates_.clear();
  for (const Point& point : points_) {
    if (!point.event.id().valid()) continue;
    events_->release(point.event);
    word_->outstanding.fetch_sub(1);
  }
  points_.clear();
}

void TimelineSignal::Impl::fail(const std::exception_ptr& error) {
  if (error == nullptr)
    throw make_error(kCodeInvalidValue, "TimelineSignal::fail", "the error is null");
  const Lock lock(mutex_);
  note_failure(error);
}

}  // namespace coord
