// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Determining which operations have ended, and the consequences: proofs, failures, host waits.

#include <algorithm>
#include <chrono>
#include <thread>

#include "capture_mode.h"
#include "codes.h"
#include "coordinator_impl.h"

namespace coord {

namespace {

/// How long a host wait for an operation not submitted yet sleeps before it checks for a deadlock.
constexpr std::chrono::milliseconds kDeadlockLook{20};

std::chrono::system_clock::time_point in(std::chrono::nanoseconds time) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
}

}  // namespace

// Proofs

// Queries the device for a submitted operation that has an event. Releases the lock meanwhile.
bool Coordinator::Impl::ask(Lock& lock, OperationRecord& record, Proof proof) {
  if (record.ended_already()) return true;
  if (!record.has_event) return false;
  const EventRef event = record.event;
  DeviceState& device = *record.device;
  const Point point = record.point;
  ++record.users;
  lock.unlock();
  bool ended = true, failed = false;
  std::exception_ptr error;
  try {
    const AllowedDuringCapture allowed(*device.backend);
    if (proof == Proof::kWait) {
      event.synchronize();
    } else {
      ended = event.query();
    }
  } catch (const Error& caught) {
    error = std::current_exception();
    failed = caught.kind() == ErrorKind::kDeviceFailure;
  }
  lock.lock();
  if (failed) fail_all(device, error);
  if (error == nullptr && ended) prove(point, record.clock);
  drop_user(record);
  if (error != nullptr) std::rethrow_exception(error);
  return ended;
}

// Releases the event and the record.
inline void Coordinator::Impl::retire(OperationRecord& record, bool captured) {
  if (record.event.id().valid()) {
    DeviceEvents& events = *record.entry->events;
    if (captured || !record.has_event) {  // in a graph, or recording failed
      events.pool->discard(record.event);
    } else {
      events.give_back(record.event);
    }
    record.event = EventRef();
    record.has_event = false;
  }
  record.clock.reset();
  record.retired = true;
  operations_.retire(record);
}

// The combined effect of end() and retire() for the oldest operations of a stream, up to the first
// one with other users or special requests.
inline void Coordinator::Impl::end_plain_ones(StreamEntry& stream, std::uint64_t proved,
                                              std::uint64_t now) {
  OperationRecord *at = stream.oldest, *last = nullptr;
  DeviceEvents& events = *stream.events;
  const bool listened = reports_.listened();
  std::size_t count = 0;
  for (; at != nullptr && at->point.ticket <= proved && at->users == 0 && at->extra == nullptr;
       at = at->next) {
    OperationRecord& record = *at;
    record.state.store(OperationState::kCompleted, std::memory_order_release);
    record.ended = now;
    if (listened) [[unlikely]]
      reports_.completed(record);
    if (record.has_event) [[likely]]
      events.give_back(record.event);
    record.event = EventRef();
    record.has_event = false;
    record.clock.reset();
    record.retired = true;
    last = at;
    ++count;
  }
  if (count == 0) return;
  operations_.retire(*stream.oldest, *last, count);
  stream.oldest = at;
  metrics_.completed += count;
}

// The host knows that the point, and all that comes before it, has ended.
void Coordinator::Impl::prove(Point point, const ClockRef& clock) {
  clocks_.prove(point, clock);
  for (StreamEntry& stream : streams_) {
    const std::uint64_t proved = clocks_.proved(stream.index);
    if (stream.oldest == nullptr || stream.oldest->point.ticket > proved) continue;
    const std::uint64_t now = stream.device->stamp();
    for (;;) {
      end_plain_ones(stream, proved, now);
      if (stream.oldest == nullptr || stream.oldest->point.ticket > proved) break;
      OperationRecord& record = *stream.oldest;
      stream.oldest = record.next;
      end(record, OperationState::kCompleted);
    }
    if (stream.oldest == nullptr) stream.newest = nullptr;
  }
  reports_.all_completed();
  if (!host_waits_.empty()) changed_.notify_all();
}

void Coordinator::Impl::fail_all(const DeviceState& device, const std::exception_ptr& error) {
  for (StreamEntry& stream : streams_) {
    if (stream.device != &device) continue;
    while (stream.oldest != nullptr) {
      OperationRecord& record = *stream.oldest;
      stream.oldest = record.next;
      end(record, OperationState::kFailed, error);
    }
    stream.newest = nullptr;
  }
  changed_.notify_all();
}

// Marks an operation as ended; its callbacks become due, its dependents fail with it.
void Coordinator::Impl::end(OperationRecord& record, OperationState state,
                            const std::exception_ptr& error) {
  ++record.users;
  const bool was_registered = record.state.load() == OperationState::kRegistered;
  const bool was_unsubmitted = record.unsubmitted();
  record.state.store(state, std::memory_order_release);
  record.ended = record.device->stamp();
  ++(state == OperationState::kCompleted   ? metrics_.completed
     : state == OperationState::kCancelled ? metrics_.cancelled
                                           : metrics_.failed);
  if (was_registered && record.missing > 0) --metrics_.blocked_now;
  reports_.new_state(record);
  if (error != nullptr) failures_[record.id.load()] = error;
  if (record.extra != nullptr) {
    const Outcome outcome{record.handle(), state, error};
    for (auto& callback : record.extra->callbacks) due_.push_back({std::move(callback), outcome});
    record.extra->callbacks.clear();
    record.extra->function = nullptr;
  }
  if (was_unsubmitted) fail_dependents(record);
  if (record.extra != nullptr && record.extra->group != nullptr) {
    OperationRecord& group = *record.extra->group;
    OperationExtra& extra = group.more();
    if (error != nullptr && extra.error == nullptr) extra.error = error;
    --extra.not_ended;
    if (was_unsubmitted) submitted_one(record);  // the group no longer waits for it
    end_group_if_over(group);
    drop_user(group);
  }
  if (record.is_group) {
    for (OperationRecord* last : record.more().last) drop_user(*last);
    record.more().last.clear();
  }
  drop_user(record);
}

// Ends a group whose members have all ended, if it is closed.
void Coordinator::Impl::end_group_if_over(OperationRecord& group) {
  const OperationExtra& extra = group.more();
  if (extra.open || extra.not_ended > 0 || group.ended_already()) return;
  end(group, extra.error == nullptr ? OperationState::kCompleted : OperationState::kFailed,
      extra.error);
}

// For an operation that can no longer be queried.
void Coordinator::Impl::unlink_and_fail(OperationRecord& record, const std::exception_ptr& error) {
  StreamEntry& stream = *record.entry;
  OperationRecord* previous = nullptr;
  for (OperationRecord* at = stream.oldest; at != nullptr; previous = at, at = at->next) {
    if (at != &record) continue;
    (previous != nullptr ? previous->next : stream.oldest) = at->next;
    if (stream.newest == at) stream.newest = previous;
    end(record, OperationState::kFailed, error);
    return;
  }
}

void Coordinator::Impl::drop_user(OperationRecord& record) {
  --record.users;
  retire_if_over(record);
}

// Retires an operation that is no longer needed.
void Coordinator::Impl::retire_if_over(OperationRecord& record) {
  const bool captured = record.state.load(std::memory_order_relaxed) == OperationState::kCaptured;
  if (record.users == 0 && !record.retired && (record.ended_already() || captured))
    retire(record, captured);
}

// Queries the old milestones of the stream, of which `milestone` is the newest, so that operations
// without waiters are retired.
void Coordinator::Impl::housekeep(Lock& lock, StreamEntry& stream, OperationRecord& milestone) {
  ++milestone.users;
  stream.milestones.emplace_back(&milestone, milestone.point);
  while (!stream.milestones.empty()) {
    const auto [record, point] = stream.milestones.front();
    bool over = clocks_.proved(point);
    if (!over) {
      try {
        over = ask(lock, *record, Proof::kQuery);
      } catch (const Error&) {
        over = true;  // the device has failed, and all its operations with it
      }
    }
    if (!over) return;
    if (!stream.milestones.empty() && stream.milestones.front().first == record) {
      stream.milestones.pop_front();
      drop_user(*record);
    }
  }
}

// Host waits

// Throws for an operation whose end nothing shows.
void Coordinator::Impl::check_to_ask(const OperationRecord& record, const char* call,
                                     const std::string& how) const {
  if (!record.named)
    throw make_error(kCodeInvalidHandle, call, "a posted operation cannot be " + how);
  if (record.state.load() == OperationState::kCaptured)
    throw make_error(kCodeCaptureUnsupported, call,
                     describe(record) + " runs when its graph is launched");
}

bool Coordinator::Impl::completed(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::completed";
  if (operation.id_.valid() && operation.record_->coordinator == number_ &&
      operation.record_->state.load(std::memory_order_acquire) == OperationState::kCompleted &&
      operation.record_->id.load(std::memory_order_acquire) == operation.id_.value)
    return true;
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  if (record == nullptr || record->ended_already()) return true;
  check_to_ask(*record, kCall, "queried");
  if (record->state.load() != OperationState::kSubmitted) return false;
  if (record->is_group) {
    std::vector<OperationHandle> last;
    for (OperationRecord* member : record->more().last) last.push_back(member->handle());
    for (OperationHandle member : last) {
      OperationRecord* at = live(member);
      if (at != nullptr && !ask(lock, *at, Proof::kQuery)) break;
    }
    record = live(operation);
    const bool ended = record == nullptr || record->ended_already();
    deliver(lock);
    throw_failure(operation);
    return ended;
  }
  const bool ended = ask(lock, *record, Proof::kQuery);
  if (!options_.polled) deliver(lock);
  return ended;
}

void Coordinator::Impl::wait(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::wait";
  Lock lock(mutex_);
  const HostWait self{this_thread_number(), operation};
  host_waits_.push_back(self);
  awaited_ = true;
  const auto leave_list = [&] {
    const auto mine = [&](const HostWait& wait) {
      return wait.thread == self.thread && wait.operation == operation;
    };
    host_waits_.erase(std::ranges::find_if(host_waits_, mine));
  };
  try {
    for (;;) {
      expire();
      OperationRecord* record = find(operation, kCall);
      throw_failure(operation);
      if (record == nullptr || record->ended_already()) break;
      check_to_ask(*record, kCall, "waited for");
      if (record->state.load() == OperationState::kSubmitted && !record->is_group) {
        ++metrics_.host_waits;
        ask(lock, *record, Proof::kWait);
        continue;
      }
      if (record->state.load() == OperationState::kSubmitted) {
        const auto not_ended = [](const OperationRecord* last) { return !last->ended_already(); };
        const auto& last = record->more().last;
        if (const auto found = std::ranges::find_if(last, not_ended); found != last.end()) {
          ++metrics_.host_waits;
          ask(lock, **found, Proof::kWait);
          continue;
        }
      }
      look_at_held(lock);
      dispatch(lock);
      record = live(operation);
      if (record == nullptr || !record->unsubmitted()) continue;
      if (changed_.wait_until(lock, in(kDeadlockLook)) == std::cv_status::no_timeout) continue;
      lock.unlock();
      WaitGraph waits = all_waits();
      const DeadlockReport report = waits.report();
      lock.lock();
      if (report.cycles.empty()) continue;
      ++metrics_.deadlock_reports;
      waits.give_up(kCall, report, device_->observer_time_ns());
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    leave_list();
    deliver(lock);
    throw;
  }
  leave_list();
  deliver(lock);
}

bool Coordinator::Impl::wait_for(OperationHandle operation, Nanoseconds limit) {
  const auto until = in(limit);
  for (int looks = 0;; ++looks) {
    if (completed(operation)) return true;
    if (std::chrono::system_clock::now() >= until) return false;
    Lock lock(mutex_);
    proceed(lock);
    const OperationRecord* record = live(operation);
    if (record == nullptr || !record->unsubmitted()) {
      lock.unlock();
      if (looks < 100) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    } else {
      changed_.wait_until(lock, std::min(until, in(std::chrono::milliseconds(1))));
    }
  }
}

}  // namespace coord
