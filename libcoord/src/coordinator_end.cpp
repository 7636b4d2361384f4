// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finding out which operations have ended, and telling it: proofs, failures, waits of the host,
// callbacks, metadata and metrics.

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "codes.h"
#include "coordinator_impl.h"
#include "observer.h"
#include "ticks.h"

namespace coord {

namespace {

/// How long a host wait for something that is not submitted sleeps before it looks for a deadlock.
constexpr std::chrono::milliseconds kDeadlockLook{20};

/// Queries are forbidden to every thread while any other one captures in CUDA's default mode,
/// unless the thread says that it knows what it does.
class AllowedDuringCapture {
 public:
  explicit AllowedDuringCapture(Backend& backend)
      : backend_(backend), before_(backend.exchange_capture_mode(CaptureMode::kRelaxed)) {}
  ~AllowedDuringCapture() {
    try {
      backend_.exchange_capture_mode(before_);
    } catch (const Error&) {
      // The device has failed; there is no capture any more.
    }
  }
  AllowedDuringCapture(const AllowedDuringCapture&) = delete;
  AllowedDuringCapture& operator=(const AllowedDuringCapture&) = delete;

 private:
  Backend& backend_;
  CaptureMode before_;
};

std::chrono::system_clock::time_point in(std::chrono::nanoseconds time) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
}

}  // namespace

// Proofs

// Asks the device about a submitted operation that has an event. The lock is open meanwhile.
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

// The host has seen that the point, and all that comes before it, has ended.
void Coordinator::Impl::prove(Point point, const ClockRef& clock) {
  const ClockRef kept = clock;
  clocks_.prove(point, kept);
  for (StreamEntry& stream : streams_) {
    while (stream.oldest != nullptr && clocks_.proved(stream.oldest->point)) {
      OperationRecord& record = *stream.oldest;
      stream.oldest = record.next;
      if (stream.oldest == nullptr) stream.newest = nullptr;
      end(record, OperationState::kCompleted);
    }
  }
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

// Marks an operation as ended; its callbacks become due, its dependants fail with it.
void Coordinator::Impl::end(OperationRecord& record, OperationState state,
                            const std::exception_ptr& error) {
  ++record.users;
  const bool was_registered = record.state.load() == OperationState::kRegistered;
  const bool was_unsubmitted = record.unsubmitted();
  record.state.store(state, std::memory_order_release);
  record.ended = stamp(*record.device);
  switch (state) {
    case OperationState::kCompleted:
      ++metrics_.completed;
      break;
    case OperationState::kCancelled:
      ++metrics_.cancelled;
      break;
    default:
      ++metrics_.failed;
  }
  if (was_registered && record.missing > 0) --metrics_.blocked_now;
  tell_state(record);
  if (error != nullptr) failures_[record.id.load()] = error;
  if (record.extra != nullptr) {
    const Outcome outcome{handle(record), state, error};
    for (auto& callback : record.extra->callbacks) due_.push_back({std::move(callback), outcome});
    record.extra->callbacks.clear();
    record.extra->function = nullptr;
  }
  if (was_unsubmitted) fail_dependants(record);
  if (record.extra != nullptr && record.extra->group != nullptr) {
    OperationRecord& group = *record.extra->group;
    OperationExtra& extra = group.more();
    if (error != nullptr && extra.error == nullptr) extra.error = error;
    --extra.not_ended;
    if (was_unsubmitted) submitted_one(record);  // the group need not wait for it
    if (!extra.open && extra.not_ended == 0 && !group.ended_already()) {
      end(group, extra.error == nullptr ? OperationState::kCompleted : OperationState::kFailed,
          extra.error);
    }
    drop_user(group);
  }
  if (record.is_group) {
    for (OperationRecord* last : record.more().last) drop_user(*last);
    record.more().last.clear();
  }
  drop_user(record);
}

// A capture is over: its operations are part of the graph, and their events of no more use.
void Coordinator::Impl::end_captured(std::uint64_t capture) {
  const auto found = captured_.find(capture);
  if (found == captured_.end()) return;
  for (OperationRecord* record : found->second) drop_user(*record);
  captured_.erase(found);
}

void Coordinator::Impl::drop_user(OperationRecord& record) {
  --record.users;
  retire_if_over(record);
}

// Gives the event and the record back once nobody can want them any more.
void Coordinator::Impl::retire_if_over(OperationRecord& record) {
  const bool captured = record.state.load(std::memory_order_relaxed) == OperationState::kCaptured;
  if (record.users > 0 || record.retired || !(record.ended_already() || captured)) return;
  if (record.has_event) {
    if (captured) {
      record.events->discard(record.event);
    } else {
      record.events->release(record.event);
    }
    record.has_event = false;
  }
  record.clock = ClockRef();
  record.retired = true;
  operations_.retire(record);
}

// Waits of the host

bool Coordinator::Impl::completed(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::completed";
  if (operation.coordinator_ == number_ && operation.id_.valid() &&
      operation.record_->state.load(std::memory_order_acquire) == OperationState::kCompleted &&
      operation.record_->id.load(std::memory_order_acquire) == operation.id_.value)
    return true;
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  if (record == nullptr || record->ended_already()) return true;
  if (!record->named)
    throw make_error(kCodeInvalidHandle, kCall, "a posted operation cannot be asked about");
  if (record->state.load() == OperationState::kCaptured)
    throw Error(ErrorKind::kCapture, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", kCall,
                describe(*record) + " runs when its graph is launched");
  if (record->state.load() != OperationState::kSubmitted) return false;
  if (record->is_group) {
    const std::vector<OperationRecord*> last = record->more().last;
    std::vector<OperationHandle> handles;
    for (OperationRecord* member : last) handles.push_back(handle(*member));
    for (OperationHandle member : handles) {
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
  const auto leave_list = [&] {
    const auto mine = [&](const HostWait& wait) {
      return wait.thread == self.thread && wait.operation == operation;
    };
    host_waits_.erase(std::find_if(host_waits_.begin(), host_waits_.end(), mine));
  };
  try {
    for (;;) {
      expire();
      OperationRecord* record = find(operation, kCall);
      throw_failure(operation);
      if (record == nullptr || record->ended_already()) break;
      if (!record->named)
        throw make_error(kCodeInvalidHandle, kCall, "a posted operation cannot be waited for");
      if (record->state.load() == OperationState::kCaptured)
        throw Error(ErrorKind::kCapture, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", kCall,
                    describe(*record) + " runs when its graph is launched");
      if (record->state.load() == OperationState::kSubmitted && !record->is_group) {
        ++metrics_.host_waits;
        ask(lock, *record, Proof::kWait);
        continue;
      }
      if (record->state.load() == OperationState::kSubmitted) {
        const auto not_ended = [](const OperationRecord* last) { return !last->ended_already(); };
        const auto& last = record->more().last;
        if (const auto found = std::find_if(last.begin(), last.end(), not_ended);
            found != last.end()) {
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
      const DeadlockReport report = find_deadlocks();
      lock.lock();
      if (report.cycles.empty()) continue;
      ++metrics_.deadlock_reports;
      if (observer().mark != nullptr) observer().mark("deadlock", observer_time(*device_));
      throw Error(ErrorKind::kDeadlock, kCodeUnknown, name_of_code(kCodeUnknown), kCall,
                  report.text());
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
    expire();
    look_at_held(lock);
    dispatch(lock);
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

// Callbacks

void Coordinator::Impl::on_complete(OperationHandle operation,
                                    std::function<void(Outcome)> callback) {
  constexpr const char* kCall = "Coordinator::on_complete";
  if (!callback) throw make_error(kCodeInvalidValue, kCall, "the callback is empty");
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  if (auto failure = failures_.find(operation.id_.value); failure != failures_.end()) {
    const bool cancelled = record != nullptr && record->state.load() == OperationState::kCancelled;
    due_.push_back(
        {std::move(callback),
         Outcome{operation, cancelled ? OperationState::kCancelled : OperationState::kFailed,
                 failure->second}});
  } else if (record == nullptr || record->ended_already()) {
    due_.push_back({std::move(callback), Outcome{operation, OperationState::kCompleted, nullptr}});
  } else if (!record->named) {
    throw make_error(kCodeInvalidHandle, kCall, "a posted operation cannot be asked about");
  } else {
    record->more().callbacks.push_back(std::move(callback));
    watched_.push_back(operation);
    wake_poller();
    return;
  }
  if (!options_.polled) deliver(lock);
}

void Coordinator::Impl::wake_poller() {
  if (poller_ != nullptr) poller_->wake();
}

// Looks once, asking the device about one operation of each stream at a time.
Look Coordinator::Impl::look() {
  Lock lock(mutex_);
  expire();
  look_at_held(lock);
  dispatch(lock);
  const std::uint64_t before = metrics_.completed + metrics_.failed + metrics_.cancelled;
  ask_watched(lock);
  deliver(lock);
  if (metrics_.completed + metrics_.failed + metrics_.cancelled != before) return {Look::kProgress};
  if (!held_.empty()) return {Look::kWaiting};
  return {watched_.empty() && deadlines_.empty() ? Look::kIdle : Look::kPatient};
}

void Coordinator::Impl::ask_watched(Lock& lock) {
  for (;;) {
    // The oldest watched operation of each stream: if that has not ended, the others have not.
    std::map<std::uint32_t, OperationRecord*> oldest;
    std::erase_if(watched_, [&](OperationHandle operation) {
      OperationRecord* record = live(operation);
      if (record == nullptr || record->ended_already() || record->extra == nullptr ||
          record->extra->callbacks.empty())
        return true;
      const auto add = [&](OperationRecord* one) {
        if (one->state.load() != OperationState::kSubmitted || !one->has_event) return;
        OperationRecord*& place = oldest[one->stream];
        if (place == nullptr || one->point.ticket < place->point.ticket) place = one;
      };
      if (record->is_group) {
        for (OperationRecord* last : record->more().last) add(last);
      } else {
        add(record);
      }
      return false;
    });
    for (auto& [stream, record] : oldest) ++record->users;
    bool progress = false;
    for (auto& [stream, record] : oldest) {
      try {
        const bool was = record->ended_already();
        progress |= ask(lock, *record, Proof::kQuery) && !was;
      } catch (const Error& error) {
        // A failure of the device has reached the callbacks; anything else concerns this one.
        if (!record->ended_already() && error.kind() != ErrorKind::kDeviceFailure)
          unlink_and_fail(*record, std::current_exception());
      }
    }
    for (auto& [stream, record] : oldest) drop_user(*record);
    if (!progress) return;
  }
}

// For an operation that cannot be asked about any more.
void Coordinator::Impl::unlink_and_fail(OperationRecord& record, const std::exception_ptr& error) {
  StreamEntry& stream = streams_[record.stream];
  OperationRecord* previous = nullptr;
  for (OperationRecord* at = stream.oldest; at != nullptr; previous = at, at = at->next) {
    if (at != &record) continue;
    (previous != nullptr ? previous->next : stream.oldest) = at->next;
    if (stream.newest == at) stream.newest = previous;
    end(record, OperationState::kFailed, error);
    return;
  }
}

// Operations whose time to begin is over.
void Coordinator::Impl::expire() {
  if (deadlines_.empty()) return;
  const std::int64_t now_ns = monotonic_ns();
  const std::vector<OperationHandle> all = std::exchange(deadlines_, {});
  for (OperationHandle operation : all) {
    OperationRecord* record = live(operation);
    if (record == nullptr || record->state.load() != OperationState::kRegistered) continue;
    if (now_ns < record->more().deadline_ns) {
      deadlines_.push_back(operation);
      continue;
    }
    end(*record, OperationState::kFailed,
        std::make_exception_ptr(Error(ErrorKind::kTimedOut, kCodeUnknown,
                                      name_of_code(kCodeUnknown), "Coordinator::submit",
                                      describe(*record) + " could not be begun in time")));
    changed_.notify_all();
  }
}

// Operations that are held back because of the hardware queues.
void Coordinator::Impl::look_at_held(Lock& lock) {
  if (held_.empty()) return;
  connection_checks_ = 0;  // ask the device now
  const std::vector<OperationHandle> all = std::exchange(held_, {});
  for (OperationHandle operation : all) {
    OperationRecord* record = live(operation);
    if (record == nullptr || record->state.load() != OperationState::kRegistered) continue;
    if (record->extra == nullptr || !record->extra->function) {
      held_.push_back(operation);  // its submitter is about to leave the function
      continue;
    }
    ++record->users;
    const bool over = over_connections(lock, *record);
    drop_user(*record);
    if (record->state.load() != OperationState::kRegistered) continue;
    if (over) {
      held_.push_back(operation);
    } else {
      make_ready(*record);
    }
  }
}

std::size_t Coordinator::Impl::poll() {
  Lock lock(mutex_);
  expire();
  look_at_held(lock);
  dispatch(lock);
  ask_watched(lock);
  return deliver(lock);
}

// Runs the callbacks that are due, or hands them to the executor. The lock is open meanwhile.
std::size_t Coordinator::Impl::deliver(Lock& lock) {
  std::size_t count = 0;
  while (!due_.empty()) {
    Due due = std::move(due_.front());
    due_.pop_front();
    ++count;
    if (!options_.polled) ++callbacks_posted_;
    lock.unlock();
    if (options_.polled) {
      due.callback(due.outcome);
    } else {
      executor_->post([this, due = std::move(due)]() mutable {
        due.callback(due.outcome);
        due = Due();
        const Lock inner(mutex_);
        --callbacks_posted_;
        changed_.notify_all();
      });
    }
    lock.lock();
  }
  return count;
}

void Coordinator::Impl::shut_down() noexcept {
  Lock lock(mutex_);
  const auto cancelled = std::make_exception_ptr(
      Error(ErrorKind::kCancelled, kCodeUnknown, name_of_code(kCodeUnknown),
            "Coordinator::~Coordinator", "the Coordinator ended before it was begun"));
  for (OperationRecord& record : operations_.all()) {
    if (record.state.load() == OperationState::kRegistered && !record.retired &&
        record.id.load() != OperationId::kNone && !record.is_group)
      end(record, OperationState::kCancelled, cancelled);
  }
  for (OperationRecord& record : operations_.all()) {  // groups that were never closed
    if (record.state.load() == OperationState::kRegistered && !record.retired && record.is_group)
      record.more().open = false;
  }
  for (const OperationHandle operation : std::vector<OperationHandle>(watched_)) {
    OperationRecord* record = live(operation);
    if (record == nullptr || record->ended_already()) continue;
    std::vector<OperationRecord*> wanted{record};
    if (record->is_group) wanted = record->more().last;
    for (OperationRecord* one : wanted) {
      if (one->ended_already()) continue;
      try {
        if (one->state.load() == OperationState::kSubmitted) ask(lock, *one, Proof::kWait);
      } catch (const Error&) {
        if (!one->ended_already()) unlink_and_fail(*one, std::current_exception());
      }
    }
    if (!record->ended_already()) end(*record, OperationState::kCancelled, cancelled);
  }
  deliver(lock);
  changed_.wait(lock, [this] { return callbacks_posted_ == 0; });
}

// What is known

std::optional<OperationInfo> Coordinator::Impl::info(OperationHandle operation) const {
  const Lock lock(mutex_);
  const OperationRecord* record = find(operation, "Coordinator::info");
  if (record == nullptr) return std::nullopt;
  OperationInfo result;
  result.id = operation.id();
  result.type = record->type;
  result.priority = record->priority;
  result.effective_priority = record->effective;
  result.state = record->state.load();
  result.is_group = record->is_group;
  result.stream = record->stream_ref.id();
  for (OperationHandle after : record->after) result.dependencies.push_back(after.id());
  result.description = record->description;
  result.where = record->where;
  result.created = time_of(record->created, *record);
  result.begun = time_of(record->begun, *record);
  result.submitted = time_of(record->submitted, *record);
  result.ended = time_of(record->ended, *record);
  return result;
}

CoordinatorMetrics Coordinator::Impl::metrics() const {
  const Lock lock(mutex_);
  CoordinatorMetrics result = metrics_;
  if (cost_count_ > 0) {
    std::vector<std::uint64_t> costs(
        costs_.begin(), costs_.begin() + static_cast<std::ptrdiff_t>(
                                             std::min<std::uint64_t>(cost_count_, costs_.size())));
    std::sort(costs.begin(), costs.end());
    result.coordination_average =
        length_of_ticks(static_cast<std::uint64_t>(cost_sum_ / static_cast<double>(cost_count_)));
    result.coordination_median = length_of_ticks(costs[costs.size() / 2]);
    result.coordination_p99 = length_of_ticks(costs[(costs.size() - 1) * 99 / 100]);
  }
  return result;
}

std::vector<Race> Coordinator::Impl::races() const {
  const Lock lock(mutex_);
  return races_;
}

PoolUtilization Coordinator::Impl::event_utilization() const {
  const Lock lock(mutex_);
  PoolUtilization all;
  for (const auto& [device, pool] : pools_) {
    const PoolUtilization one = pool->utilization();
    all.available += one.available;
    all.timing += one.timing;
    all.in_use += one.in_use;
  }
  return all;
}

void Coordinator::Impl::tell_waits(WaitGraph& graph) const {
  const Lock lock(mutex_);
  const auto key = [](const OperationRecord& record) {
    return "operation " + std::to_string(record.id.load());
  };
  auto& all = const_cast<OperationTable&>(operations_).all();
  for (OperationRecord& record : all) {
    if (record.retired || record.ended_already() ||
        record.state.load() == OperationState::kCaptured)
      continue;
    const std::size_t node = graph.node(key(record), describe(record));
    for (OperationHandle after : record.after) {
      const OperationRecord* before = live(after);
      if (before != nullptr && !before->ended_already())
        graph.edge(node, graph.node(key(*before), describe(*before)));
    }
    if (record.extra != nullptr && record.extra->group != nullptr &&
        !record.extra->group->ended_already()) {
      graph.edge(graph.node(key(*record.extra->group), describe(*record.extra->group)), node);
    }
    if (record.state.load() == OperationState::kBegun) {
      // Only its thread can end the submission.
      graph.edge(node, graph.node(thread_key(record.runner), thread_label(record.runner)));
    }
    if (!record.is_group && !record.unsubmitted())
      graph.in_stream(node, record.stream_ref.id().value, record.order);
  }
  for (const HostWait& wait : host_waits_) {
    const OperationRecord* record = live(wait.operation);
    if (record == nullptr || record->ended_already()) continue;
    graph.edge(graph.node(thread_key(wait.thread), thread_label(wait.thread)),
               graph.node(key(*record), describe(*record)));
  }
}

}  // namespace coord
