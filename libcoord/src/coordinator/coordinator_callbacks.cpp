// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Completion callbacks: what they wait for, and which thread runs them.

#include <map>

#include "codes.h"
#include "coordinator_impl.h"

namespace coord {

// Callbacks

void Coordinator::Impl::on_complete(OperationHandle operation,
                                    std::function<void(Outcome)> callback) {
  constexpr const char* kCall = "Coordinator::on_complete";
  if (!callback) throw make_error(kCodeInvalidValue, kCall, "the callback is empty");
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  if (auto failure = failures_.find(operation.id_.value); failure != failures_.end()) {
    const bool cancelled = record != nullptr && record->state.load() == OperationState::kCancelled;
    const OperationState state = cancelled ? OperationState::kCancelled : OperationState::kFailed;
    due_.push_back({std::move(callback), Outcome{operation, state, failure->second}});
  } else if (record == nullptr || record->ended_already()) {
    due_.push_back({std::move(callback), Outcome{operation, OperationState::kCompleted, nullptr}});
  } else if (!record->named) {
    throw make_error(kCodeInvalidHandle, kCall, "a posted operation cannot be queried");
  } else {
    record->more().callbacks.push_back(std::move(callback));
    watched_.push_back(operation);
    awaited_ = true;
    if (executor_ != nullptr) executor_->expect();
    wake_poller();
    return;
  }
  if (!options_.polled) deliver(lock);
}

void Coordinator::Impl::wake_poller() {
  if (poller_ != nullptr) poller_->wake();
}

// Polls once, querying the device for one operation of each stream at a time.
PollResult Coordinator::Impl::poll_once() {
  Lock lock(mutex_);
  proceed(lock);
  const std::uint64_t before = metrics_.completed + metrics_.failed + metrics_.cancelled;
  ask_watched(lock);
  deliver(lock);
  if (metrics_.completed + metrics_.failed + metrics_.cancelled != before)
    return {PollResult::kProgress};
  if (!held_.empty()) return {PollResult::kHurried};
  return {watched_.empty() && deadlines_.empty() ? PollResult::kIdle : PollResult::kPatient};
}

// What can be done without the device. May release the lock meanwhile.
void Coordinator::Impl::proceed(Lock& lock) {
  expire();
  look_at_held(lock);
  dispatch(lock);
}

void Coordinator::Impl::ask_watched(Lock& lock) {
  for (;;) {
    // The oldest watched operation of each stream: if that has not ended, the others have not.
    std::map<std::uint32_t, OperationRecord*> oldest;
    std::erase_if(watched_, [&](OperationHandle operation) {
      OperationRecord* record = OperationRecord::unended(operation);
      if (record == nullptr || record->extra == nullptr || record->extra->callbacks.empty())
        return true;
      const auto add = [&](OperationRecord* one) {
        if (one->state.load() != OperationState::kSubmitted || !one->has_event) return;
        OperationRecord*& place = oldest[one->point.stream];
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
        // A device failure has already reached the callbacks; any other error concerns this
        // operation.
        if (!record->ended_already() && error.kind() != ErrorKind::kDeviceFailure)
          unlink_and_fail(*record, std::current_exception());
      }
    }
    for (auto& [stream, record] : oldest) drop_user(*record);
    if (!progress) return;
  }
}

std::size_t Coordinator::Impl::poll() {
  Lock lock(mutex_);
  proceed(lock);
  ask_watched(lock);
  return deliver(lock);
}

// Runs the callbacks that are due, or passes them to the executor. Releases the lock meanwhile.
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
      make_error(ErrorKind::kCancelled, kCodeUnknown, "Coordinator::~Coordinator",
                 "the Coordinator was destroyed before the operation began"));
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
    OperationRecord* record = OperationRecord::unended(operation);
    if (record == nullptr) continue;
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

}  // namespace coord
