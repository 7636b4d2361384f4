// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Operations that cannot begin yet: deferring, raising, dispatching by priority, cancelling; groups
// and cycles.

#include <algorithm>
#include <set>

#include "codes.h"
#include "coordinator_impl.h"
#include "host/ticks.h"

namespace coord {

// Submission

void Coordinator::Impl::keep(OperationHandle operation, std::function<void(StreamRef)> function) {
  Lock lock(mutex_);
  OperationRecord* record = live(operation);
  if (record == nullptr || record->state.load() != OperationState::kRegistered)
    return;  // timed out
  record->more().function = std::move(function);
  if (record->missing == 0) {
    make_ready(*record);
    dispatch(lock);
  }
}

void Coordinator::Impl::submit_registered(OperationHandle operation,
                                          std::function<void(StreamRef)> function) {
  constexpr const char* kCall = "Coordinator::submit";
  if (!function) throw make_error(kCodeInvalidValue, kCall, "the function is empty");
  {
    const Lock lock(mutex_);
    throw_failure(operation);
    check_to_begin(find(operation, kCall), kCall);
  }
  keep(operation, std::move(function));
  const Lock lock(mutex_);
  throw_failure(operation);
}

// Deferred operations

void Coordinator::Impl::raise(OperationRecord& record, OperationPriority priority) {
  if (!record.unsubmitted() || record.effective <= priority) return;
  record.effective = priority;
  ++metrics_.priority_inversions;
  if (record.state.load() == OperationState::kRegistered && record.missing == 0 &&
      record.extra != nullptr && record.extra->function)
    make_ready(record);  // its older entry is skipped
  for (OperationHandle after : record.after) {
    if (OperationRecord* before = live(after); before != nullptr) raise(*before, priority);
  }
}

// The submission of `record` has ended: operations that waited for it may begin.
void Coordinator::Impl::submitted_one(OperationRecord& record) {
  if (record.dependents.empty() && record.extra == nullptr) return;
  std::vector<OperationRecord*> dependents;
  dependents.swap(record.dependents);
  for (OperationRecord* dependent : dependents) {
    if (dependent->state.load() == OperationState::kRegistered && --dependent->missing == 0) {
      --metrics_.blocked_now;
      if (dependent->extra != nullptr && dependent->extra->function) make_ready(*dependent);
    }
    drop_user(*dependent);
  }
  dependents.clear();
  record.dependents.swap(dependents);  // keeps its memory
  if (record.extra == nullptr || record.extra->group == nullptr) return;
  OperationRecord& group = *record.extra->group;
  OperationExtra& extra = group.more();
  --extra.unsubmitted;
  if (!record.ended_already() && record.point.ticket != 0) {
    const auto same = [&](const OperationRecord* last) {
      return last->point.stream == record.point.stream;
    };
    auto last = std::ranges::find_if(extra.last, same);
    ++record.users;
    if (last == extra.last.end()) {
      extra.last.push_back(&record);
    } else {
      drop_user(**last);
      *last = &record;
    }
  }
  if (!extra.open && extra.unsubmitted == 0 && !group.ended_already()) submit_group(group);
}

// All members of a closed group are submitted.
void Coordinator::Impl::submit_group(OperationRecord& group) {
  group.state.store(OperationState::kSubmitted, std::memory_order_release);
  group.submitted = group.device->stamp();
  ++metrics_.submitted;
  reports_.new_state(group);
  submitted_one(group);
}

void Coordinator::Impl::make_ready(OperationRecord& record) {
  ready_.add(record);
  awaited_ = true;
}

// Submits ready operations. May release the lock meanwhile.
void Coordinator::Impl::dispatch(Lock& lock) {
  if (ready_.empty()) return;
  // A function that runs from here leaves further ready operations to this loop: a long chain of
  // deferred operations must not become an equally deep recursion.
  thread_local const Impl* dispatching = nullptr;
  if (dispatching == this) return;
  const Impl* const outer = std::exchange(dispatching, this);
  while (OperationRecord* record = ready_.take(device_->stamp(), options_.ageing)) {
    ++record->users;
    const bool over = over_connections(lock, *record);
    --record->users;
    if (record->state.load() != OperationState::kRegistered) {
      retire_if_over(*record);
      continue;  // cancelled meanwhile
    }
    if (over && options_.connections == Connections::kHold) {
      held_.push_back(record->handle());
      wake_poller();
      continue;
    }
    run_deferred(lock, *record);
  }
  dispatching = outer;
}

// Runs the function of a ready deferred operation. Releases the lock meanwhile.
void Coordinator::Impl::run_deferred(Lock& lock, OperationRecord& record) {
  const OperationHandle operation = record.handle();
  const StreamRef stream = record.stream_ref;
  std::function<void(StreamRef)> function = std::move(record.more().function);
  record.more().function = nullptr;
  record.special |= kDispatched;
  record.entry->dispatched = true;
  try {
    start(lock, record);
    try {
      const CurrentDevice current(stream.device());
      function(stream);
      finish(operation);
    } catch (...) {
      if (live(operation) != nullptr && record.state.load() == OperationState::kBegun)
        abandon(operation, std::current_exception());
    }
  } catch (...) {
    // Its waits could not be placed: start() has notified its dependents.
  }
  function = nullptr;
  if (!lock.owns_lock()) lock.lock();
}

// Operations that are held because of the hardware queues.
void Coordinator::Impl::look_at_held(Lock& lock) {
  if (held_.empty()) return;
  connection_checks_ = 0;  // query the device now
  const std::vector<OperationHandle> all = std::exchange(held_, {});
  for (OperationHandle operation : all) {
    OperationRecord* record = live(operation);
    if (record == nullptr || record->state.load() != OperationState::kRegistered) continue;
    if (record->extra == nullptr || !record->extra->function) {
      held_.push_back(operation);  // its submitter is about to return from the function
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

// Operations whose timeout to begin has expired.
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
        std::make_exception_ptr(make_error(ErrorKind::kTimedOut, kCodeUnknown, kSubmit,
                                           describe(*record) + " did not begin in time")));
    changed_.notify_all();
  }
}

// Groups

void Coordinator::Impl::close_group(OperationHandle group) {
  Lock lock(mutex_);
  OperationRecord* record = find(group, "Coordinator::close_group");
  if (record == nullptr || !record->is_group || !record->more().open)
    throw make_error(kCodeNotPermitted, "Coordinator::close_group", "not an open group");
  OperationExtra& extra = record->more();
  extra.open = false;
  if (extra.unsubmitted == 0) submit_group(*record);
  end_group_if_over(*record);
  reports_.all_completed();
  changed_.notify_all();
  dispatch(lock);
}

// Cycles and cancelling

// Whether `record` waits for `on` through operations that are not submitted; `path` leads from one
// to the other.
bool Coordinator::Impl::depends_on(OperationRecord& record, const OperationRecord& on,
                                   std::vector<const OperationRecord*>& path) const {
  std::set<const OperationRecord*> seen;
  const std::function<bool(OperationRecord&)> search = [&](OperationRecord& at) {
    if (!at.unsubmitted() || !seen.insert(&at).second) return false;
    path.push_back(&at);
    if (&at == &on) return true;
    for (OperationHandle after : at.after) {
      OperationRecord* before = live(after);
      if (before != nullptr && search(*before)) return true;
    }
    if (at.is_group) {
      for (OperationRecord& member : const_cast<OperationTable&>(operations_).all()) {
        if (member.extra != nullptr && member.extra->group == &at && search(member)) return true;
      }
    }
    path.pop_back();
    return false;
  };
  return search(record);
}

std::vector<OperationRecord*> Coordinator::Impl::registered_members(const OperationRecord& group) {
  std::vector<OperationRecord*> members;
  for (OperationRecord& one : operations_.all()) {
    if (one.extra != nullptr && one.extra->group == &group &&
        one.state.load() == OperationState::kRegistered)
      members.push_back(&one);
  }
  return members;
}

void Coordinator::Impl::add_dependency(OperationHandle operation, OperationHandle after) {
  constexpr const char* kCall = "Coordinator::add_dependency";
  const Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  OperationRecord* before = find(after, kCall);
  throw_failure(operation);
  throw_failure(after);
  if (record == nullptr || record->state.load() != OperationState::kRegistered) {
    throw make_error(
        kCodeNotPermitted, kCall,
        record == nullptr ? "the operation has ended" : describe(*record) + " has already begun");
  }
  if (before == nullptr || before->ended_already()) return;
  if (before->unsubmitted() && options_.unsubmitted == Unsubmitted::kRefuse) {
    throw make_error(kCodeNotPermitted, kCall, describe(*before) + " is not submitted");
  }
  std::vector<const OperationRecord*> path;
  if (depends_on(*before, *record, path)) {
    std::string text = "it would close a cycle: " + describe(*record);
    for (const OperationRecord* step : path) text += " waits for " + describe(*step);
    throw make_error(ErrorKind::kCycle, kCodeInvalidValue, kCall, text);
  }
  if (record->is_group) {
    record->after.push_back(after);  // for later members
    for (OperationRecord* member : registered_members(*record)) depend(*member, *before, false);
    return;
  }
  const std::uint32_t missing = record->missing;
  depend(*record, *before, false);
  if (missing == 0 && record->missing > 0) {
    ++metrics_.blocked_now;
    ++metrics_.deferred;
  }
  reports_.dependency(*record, after, false);
}

bool Coordinator::Impl::cancel(OperationHandle operation) {
  Lock lock(mutex_);
  OperationRecord* record = find(operation, "Coordinator::cancel");
  if (record == nullptr || record->state.load() != OperationState::kRegistered) return false;
  const auto error =
      std::make_exception_ptr(make_error(ErrorKind::kCancelled, kCodeUnknown, "Coordinator::cancel",
                                         describe(*record) + " was cancelled"));
  if (record->is_group) {
    record->more().open = false;
    for (OperationRecord* member : registered_members(*record)) {
      if (member->state.load() == OperationState::kRegistered)
        end(*member, OperationState::kCancelled, error);
    }
    if (!record->ended_already() && record->more().unsubmitted == 0)
      end(*record, OperationState::kCancelled, error);
  } else {
    end(*record, OperationState::kCancelled, error);
  }
  changed_.notify_all();
  deliver(lock);
  return true;
}

// Fails the operations that wait for the submission of one that will never be submitted.
void Coordinator::Impl::fail_dependents(OperationRecord& record) {
  std::vector<OperationRecord*> dependents;
  dependents.swap(record.dependents);
  for (OperationRecord* dependent : dependents) {
    if (dependent->state.load() == OperationState::kRegistered) {
      const OperationState state = record.state.load() == OperationState::kCancelled
                                       ? OperationState::kCancelled
                                       : OperationState::kFailed;
      const auto found = failures_.find(record.id.load());
      end(*dependent, state, found != failures_.end() ? found->second : nullptr);
    }
    drop_user(*dependent);
  }
}

}  // namespace coord
