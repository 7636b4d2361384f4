// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Placing waits: the fewest that satisfy the dependencies, also in captures, and the hardware
// queues that they occupy.

#include <algorithm>

#include "codes.h"
#include "coordinator_impl.h"
#include "observer.h"

namespace coord {

namespace {

/// With more streams blocked than the hardware allows, the device is queried at most once in this
/// many submissions for streams that have resumed.
constexpr std::uint64_t kConnectionCheck = 32;

}  // namespace

// `record` depends on an operation that is not submitted.
void Coordinator::Impl::await_submission(OperationRecord& record, OperationRecord& on) {
  ++record.missing;
  ++record.users;  // `on` holds a pointer to it
  on.dependents.push_back(&record);
  on.special |= kRequested;
  raise(on, record.effective);
}

// Whether a dependency can need a wait, when captures are involved. Throws if one of the two is
// part of a graph and the other is not.
bool Coordinator::Impl::same_capture(const OperationRecord& record,
                                     const OperationRecord& before) const {
  const auto refuse_capture = [&](const char* how, const std::string& why) {
    throw make_error(kCodeCaptureIsolation, kSubmit,
                     describe(record) + how + describe(before) + why);
  };
  if (before.state.load(std::memory_order_relaxed) == OperationState::kCaptured) {
    if (before.capture != record.capture)
      refuse_capture(" depends on ", ", which is part of another graph");
  } else if (before.ended_already()) {
    return false;
  } else if (record.capture != 0) {
    refuse_capture(" is being captured and depends on ",
                   ", which is not part of the graph; wait for it before the capture");
  }
  return true;
}

bool Coordinator::Impl::order_after(StreamRef stream, OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::order_after";
  StreamState& state = stream.checked(kCall);
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  if (record == nullptr || record->ended_already()) return false;
  if (record->unsubmitted() || record->is_group || !record->has_event)
    throw make_error(kCodeNotPermitted, kCall, describe(*record) + " is not submitted yet");
  const std::uint32_t index = streams_.of(state).index;
  if (clocks_.implied(index, record->point)) return false;
  clocks_.join(index, record->point, record->clock);
  streams_[index].held_by.push_back(operation);
  ++metrics_.waits_placed;
  ++record->users;
  const EventRef event = record->event;
  lock.unlock();
  std::exception_ptr error;
  try {
    stream.wait(event);
  } catch (const Error&) {
    error = std::current_exception();
  }
  lock.lock();
  drop_user(*record);
  if (error != nullptr) std::rethrow_exception(error);
  return true;
}

// The stream's newest operation; the newest in its capture if it is being captured.
OperationHandle Coordinator::Impl::last_of(const StreamEntry& stream) {
  return capture_is_over(stream) ? stream.outside_last : stream.last;
}

// Whether the capture recorded for the stream has ended.
bool Coordinator::Impl::capture_is_over(const StreamEntry& stream) {
  return stream.capture != 0 &&
         stream.device->backend->capture_status(stream.state->native) == CaptureStatus::kNone;
}

std::vector<OperationHandle> Coordinator::Impl::newest(const std::vector<StreamRef>& streams,
                                                       OperationHandle& all_ordered,
                                                       std::uint64_t& records) {
  Lock lock(mutex_);
  std::vector<OperationHandle> result;
  std::vector<std::uint32_t> indices;
  indices.reserve(streams.size());
  for (StreamRef stream : streams)
    indices.push_back(streams_.of(stream.checked("Barrier::pass")).index);
  for (std::uint32_t index : indices) {
    const OperationHandle last = last_of(streams_[index]);
    if (last.id().valid() && OperationRecord::unended(last) != nullptr) result.push_back(last);
  }
  const OperationHandle first = last_of(streams_[indices.front()]);
  const auto ordered = [&](OperationHandle operation) {
    return std::ranges::all_of(indices, [&](std::uint32_t index) {
      return clocks_.implied(index, operation.record_->point);
    });
  };
  const OperationRecord* first_record = first.id().valid() ? live(first) : nullptr;
  const bool first_posted = first_record != nullptr && !first_record->named;
  if (first.id().valid() && !first_posted && std::ranges::all_of(result, ordered)) {
    all_ordered = first;
    return {};
  }
  // Nothing can depend on a posted operation; nothing in the barrier's stream needs to.
  if (first_posted) std::erase(result, first);
  for (OperationHandle operation : result) {
    OperationRecord& record = *operation.record_;
    record.named |= record.has_event;
    if (record.has_event || operation == first) continue;
    ++record.users;
    lock.unlock();
    const EventRef event = record.entry->events->pool->acquire();
    try {
      record.stream_ref.record(event);
    } catch (...) {
      record.entry->events->pool->release(event);
      lock.lock();
      drop_user(record);
      throw;
    }
    lock.lock();
    record.event = event;
    record.has_event = record.named = true;
    ++metrics_.records;
    ++records;
    drop_user(record);
  }
  return result;
}

// Puts the dependencies the stream must wait for into waits_; the rest is implied.
void Coordinator::Impl::find_candidates(OperationRecord& record) {
  const bool captures = record.capture != 0;
  const auto consider = [&](OperationRecord& before) {
    const bool captured = before.state.load(std::memory_order_relaxed) == OperationState::kCaptured;
    if ((captures || captured) && !same_capture(record, before)) return;
    if (before.ended_already() || clocks_.implied(record.point.stream, before.point)) return;
    waits_.add(before);
  };
  for (const OperationHandle& after : record.after) {
    OperationRecord* before = live(after);
    if (before == nullptr) continue;
    if (before->is_group) {
      for (OperationRecord* member : before->more().last) consider(*member);
    } else {
      consider(*before);
    }
  }
  if (waits_.size() > 1) waits_.drop_implied();
}

// Finds the waits of an operation.
void Coordinator::Impl::find_waits(StreamEntry& stream, OperationRecord& record, Need need) {
  waits_.clear();
  if (need != Need::kNothing) find_candidates(record);
  reports_.note_elisions(record, waits_, clocks_);
  if (waits_.size() == 0) return;
  take_waits(stream, record);
  metrics_.waits_placed += waits_.size();
  metrics_.waits_elided -= std::min(record.after.size(), waits_.size());
}

// Makes the waits in waits_ the operation's.
void Coordinator::Impl::take_waits(StreamEntry& stream, OperationRecord& record) {
  for (OperationRecord* before : waits_) {
    clocks_.join(record.point.stream, before->point, before->clock);
    ++before->users;
    record.waits.push_back(before);
  }
  record.special |= kWaits;
  if (record.capture != 0) return;
  // What blocks the stream: these waits, plus earlier ones that may not have ended. Per stream, the
  // newest one is enough because it ends last.
  std::erase_if(stream.held_by, [&](const OperationHandle& by) {
    const OperationRecord* before = OperationRecord::unended(by);
    return before == nullptr || clocks_.proved(before->point) ||
           std::ranges::any_of(waits_, [&](const OperationRecord* newer) {
             return newer->point.stream == before->point.stream;
           });
  });
  for (OperationRecord* before : waits_) stream.held_by.push_back(before->handle());
}

// Captures

// Whether the operation becomes part of a graph. The order outside of a capture says nothing about
// the order inside it, and vice versa.
void Coordinator::Impl::enter_capture(OperationRecord& record, bool capturing) {
  StreamEntry& stream = *record.entry;
  std::uint64_t capture = 0;
  if (capturing) capture = stream.capture != 0 ? stream.capture : next_capture_++;
  for (std::size_t i = 0; !captured_.empty() && i < record.after.size(); ++i) {
    const OperationRecord* before = live(record.after[i]);
    if (capture == 0 && before != nullptr &&
        before->state.load(std::memory_order_relaxed) == OperationState::kCaptured) {
      // Waiting for it makes the stream part of the capture, if the capture is still active.
      const StreamEntry& origin = *before->entry;
      if (origin.capture == before->capture &&
          origin.device->backend->capture_status(origin.state->native) != CaptureStatus::kNone)
        capture = before->capture;
    }
  }
  record.capture = capture;
  if (capture != 0) record.special |= kCaptured;
  if (capture == stream.capture) return;
  const std::uint64_t left = std::exchange(stream.capture, capture);
  if (left == 0) {
    stream.outside = clocks_.exchange_row(record.point.stream, ClockRef());
    stream.outside_last = std::exchange(stream.last, OperationHandle());
  } else {
    stream.last =
        capture == 0 ? std::exchange(stream.outside_last, OperationHandle()) : OperationHandle();
    clocks_.exchange_row(record.point.stream,
                         capture == 0 ? std::exchange(stream.outside, ClockRef()) : ClockRef());
    const auto inside = [&](const StreamEntry& other) {
      return other.capture == left &&
             other.device->backend->capture_status(other.state->native) != CaptureStatus::kNone;
    };
    if (std::ranges::none_of(streams_, inside)) end_captured(left);
  }
}

// A capture has ended: its operations are part of the graph, and their events are no longer useful.
void Coordinator::Impl::end_captured(std::uint64_t capture) {
  const auto found = captured_.find(capture);
  if (found == captured_.end()) return;
  for (OperationRecord* record : found->second) drop_user(*record);
  captured_.erase(found);
}

// The hardware queues

std::size_t Coordinator::Impl::blocked_streams(const DeviceState& device) {
  std::size_t blocked = 0;
  for (StreamEntry& stream : streams_) {
    if (stream.held_by.empty() || stream.device != &device) continue;
    std::erase_if(stream.held_by,
                  [](OperationHandle by) { return OperationRecord::unended(by) == nullptr; });
    if (!stream.held_by.empty()) ++blocked;
  }
  return blocked;
}

bool Coordinator::Impl::waits_needed(const OperationRecord& record) {
  return std::ranges::any_of(record.after, [&](OperationHandle after) {
    const OperationRecord* before = OperationRecord::unended(after);
    return before != nullptr &&
           (before->is_group || !clocks_.implied(record.point.stream, before->point));
  });
}

// Whether the operation's waits would block more streams than connections - 2, as far as known from
// the device. May release the lock meanwhile.
bool Coordinator::Impl::over_connections(Lock& lock, OperationRecord& record) {
  const std::size_t limit = connections_limit(*record.device);
  if (streams_.size() <= limit || !waits_needed(record)) return false;
  const auto blocked = [&] {
    const std::size_t mine = record.entry->held_by.empty() ? 1 : 0;
    return blocked_streams(*record.device) + mine;
  };
  bool over = blocked() > limit;
  if (over && connection_checks_++ % kConnectionCheck == 0) {
    std::vector<OperationHandle> held_by;
    for (const StreamEntry& stream : streams_)
      held_by.insert(held_by.end(), stream.held_by.begin(), stream.held_by.end());
    for (OperationHandle by : held_by) {
      OperationRecord* before = OperationRecord::unended(by);
      if (before == nullptr) continue;
      try {
        ask(lock, *before, Proof::kQuery);
      } catch (const Error&) {
        break;  // the device has failed: the submission will report it
      }
    }
    over = blocked() > limit;
  }
  if (over) {
    ++metrics_.over_connections;
    if (!was_over_ && observer().mark != nullptr)
      observer().mark("more streams blocked than hardware queues",
                      record.device->observer_time_ns());
  }
  was_over_ = over;
  return over;
}

}  // namespace coord
