// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Waits of the host and streams.

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "codes.h"
#include "coord/deadlock.h"
#include "coord/error.h"
#include "host/relax.h"
#include "host/thread_number.h"
#include "host/ticks.h"
#include "timeline_impl.h"

namespace coord {

namespace {

/// Polls before a waiter sleeps: a few microseconds, about the cost of going to sleep.
constexpr int kSpins = 64;
/// How long a waiter sleeps before it checks for dead peers and deadlocks.
constexpr std::int64_t kNapNs = 20'000'000;

}  // namespace

void TimelineSignal::Impl::throw_failure() {
  if (word_->failed.load() == 0) return;
  const Lock lock(mutex_);
  if (error_ != nullptr) std::rethrow_exception(error_);
  throw make_error(ErrorKind::kCancelled, kCodeUnknown, "TimelineSignal::wait",
                   "\"" + name_ + "\" failed, or ended, in another process");
}

bool TimelineSignal::Impl::peer_is_gone() const {
  return imported_ && word_->owner_process != 0 &&
         kill(static_cast<pid_t>(word_->owner_process), 0) != 0 && errno == ESRCH;
}

bool TimelineSignal::Impl::try_wait(std::uint64_t value) {
  if (word_->completed.load(std::memory_order_acquire) >= value) return true;
  throw_failure();
  if (!device_) return false;
  {
    const Lock lock(mutex_);
    refresh();
  }
  if (word_->completed.load(std::memory_order_acquire) >= value) return true;
  throw_failure();
  return false;
}

bool TimelineSignal::Impl::wait(std::uint64_t value, std::int64_t limit_ns) {
  notify(COORD_TIMELINE_WAIT, value);
  try {
    const bool reached = block(value, limit_ns);
    notify(reached ? COORD_TIMELINE_RELEASE : COORD_TIMELINE_GIVE_UP, value);
    return reached;
  } catch (...) {
    notify(COORD_TIMELINE_GIVE_UP, value);
    throw;
  }
}

bool TimelineSignal::Impl::block(std::uint64_t value, std::int64_t limit_ns) {
  const auto reached = [&] { return word_->completed.load(std::memory_order_acquire) >= value; };
  const std::int64_t begin_ns = monotonic_ns();
  const std::int64_t until_ns = limit_ns > std::numeric_limits<std::int64_t>::max() - begin_ns
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : begin_ns + limit_ns;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (reached()) return true;
    if (limit_ns <= 0) break;
    relax();
  }
  if (try_wait(value)) return true;
  const std::uint64_t thread = this_thread_number();
  {
    const Lock lock(mutex_);
    host_waits_.push_back({value, thread});
  }
  const auto leave = [&] {
    const Lock lock(mutex_);
    host_waits_.erase(std::ranges::find_if(host_waits_, [&](const HostWait& wait) {
      return wait.value == value && wait.thread == thread;
    }));
  };
  try {
    for (int eager = 0;; ++eager) {
      if (reached()) break;
      throw_failure();
      const std::int64_t now_ns = monotonic_ns();
      if (now_ns >= until_ns) {
        leave();
        return try_wait(value);  // it may have been reached at the last moment
      }
      if (device_ && eager < kSpins) {  // it may be reached soon; virtual time must advance
        if (try_wait(value)) break;
        continue;
      }
      if (poller_ != nullptr) poller_->wake();
      const std::int64_t nap_ns = std::min(until_ns, now_ns + kNapNs);
      word_->sleep(value, nap_ns);
      if (reached()) break;
      if (poller_ != nullptr) poller_->wake();  // it may sleep if no thread was waiting before
      if (monotonic_ns() < nap_ns) continue;
      if (peer_is_gone()) {
        const Lock lock(mutex_);
        note_failure(std::make_exception_ptr(
            make_error(ErrorKind::kCancelled, kCodeUnknown, "TimelineSignal::wait",
                       "the process that made \"" + name_ + "\" has ended")));
      }
      WaitGraph waits = all_waits();
      const DeadlockReport report = waits.report();
      if (!report.cycles.empty() && !reached())
        waits.give_up("TimelineSignal::wait", report, time_ns());
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return true;
}

void TimelineSignal::Impl::wait(StreamRef stream, std::uint64_t value) {
  const Device& device = require_device("TimelineSignal::wait");
  const bool reached = try_wait(value);
  notify(COORD_TIMELINE_WAIT, value, &stream);
  if (reached) {
    notify(COORD_TIMELINE_RELEASE, value, &stream);
    return;
  }
  const Lock lock(mutex_);
  const auto point = std::ranges::find_if(
      points_, [&](const Point& candidate) { return candidate.value >= value; });
  if (point != points_.end()) {
    // The newest event of each stream up to the point, and no later one: a later value may depend
    // on host actions after this wait.
    const auto end = std::next(point);
    const bool by_events =
        std::all_of(points_.begin(), end, [](const Point& one) { return one.event.id().valid(); });
    if (by_events) {
      for (auto at = points_.begin(); at != end; ++at) {
        const bool newest = std::none_of(
            std::next(at), end, [&](const Point& later) { return later.stream == at->stream; });
        if (newest && at->stream != stream.id()) stream.wait(at->event);
      }
      waits_.push_back({value, stream.id(), take_order()});
      return;
    }
  }
  if (!gate_used_) {
    gate_ = device.allocate_host<std::uint64_t>(1);
    gate_used_ = true;
    open_gates();
  }
  stream.wait_value(gate_.data(), value);
  gates_.push_back({value, stream.id(), take_order()});
  poller_->wake();
}

}  // namespace coord
