// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/coordinator.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clock_table.h"
#include "codes.h"
#include "coord/error.h"
#include "device_state.h"
#include "nvtx.h"
#include "observer.h"

namespace coord {

namespace {

std::atomic<std::uint32_t> next_coordinator{1};
std::atomic<std::uint64_t> next_operation_id{0};

/// With so many operations whose end was never asked for, submitting looks whether the oldest have
/// ended.
constexpr std::size_t kUnprovedLimit = 4096;

/// Operations whose functions run on this thread, the innermost last.
thread_local std::vector<std::uint32_t> entered;

std::uint32_t observer_id(OperationId id) { return static_cast<std::uint32_t>(id.value); }

std::string describe(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line()) + " " +
         where.function_name();
}

}  // namespace

class Coordinator::Impl {
 public:
  explicit Impl(const Device& device)
      : device_(device.state()),
        simulated_(device.simulated()),
        number_(next_coordinator.fetch_add(1)),
        nvtx_(!simulated_ || observer().operation_registered == nullptr) {}
  ~Impl();

  OperationHandle begin(const OperationOptions& options, StreamState& stream,
                        const std::source_location& where);
  void finish(OperationHandle operation, StreamState& stream);
  void abandon(OperationHandle operation, std::exception_ptr error) noexcept;

  bool completed(OperationHandle operation);
  void wait(OperationHandle operation);
  void on_complete(OperationHandle operation, std::function<void(Outcome)> callback);
  std::size_t poll();
  std::size_t run_callbacks();
  void shut_down() noexcept;
  CoordinatorMetrics metrics() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Proof { kQuery, kWait };

  struct Record {
    OperationId id;
    OperationState state = OperationState::kBegun;
    Point point;
    Clock clock;            // everything that has ended when this operation has; itself included
    NativeEvent event = 0;  // recorded behind the operation's work
    bool has_event = false;
    std::uint32_t users = 0;  // host waits and submissions that are about to use the event
    std::vector<std::function<void(Outcome)>> callbacks;
  };
  struct StreamEntry {
    std::deque<std::uint64_t> unproved;  // indices of its operations, oldest first
  };

  Record* find(OperationHandle operation, const char* call);
  std::uint32_t stream_index(const StreamState& stream);
  NativeEvent acquire_event();
  void prove(const Clock& clock);
  void end(std::uint64_t index, OperationState state, std::exception_ptr error = nullptr);
  void fail_all(const std::exception_ptr& error);
  void release(Record& record);
  void forget_ended();
  void throw_if_failed(OperationHandle operation) const;
  bool ask(Lock& lock, std::uint64_t index, Proof proof);
  void tell_state(const Record& record) const;
  void enter(OperationHandle operation, std::string_view description) const;
  void leave(OperationHandle operation) const;
  std::int64_t now_ns() const { return simulated_ ? device_->backend->now().value : 0; }
  Record& at(std::uint64_t index) { return records_[index - first_index_]; }
  OperationHandle handle(std::uint64_t index) {
    return OperationHandle(at(index).id, number_, index);
  }

  const std::shared_ptr<DeviceState> device_;
  const bool simulated_;
  const std::uint32_t number_;
  const bool nvtx_;

  mutable std::mutex mutex_;  // never held during a call of the backend that may block
  ClockTable clocks_;
  std::unordered_map<std::uint64_t, std::uint32_t> stream_indices_;  // by stream id
  std::vector<StreamEntry> streams_;
  std::deque<Record> records_;  // from the oldest that has not ended
  std::uint64_t first_index_ = 0;
  std::unordered_map<std::uint64_t, std::exception_ptr> failures_;  // by index
  std::vector<NativeEvent> free_events_;
  std::vector<NativeEvent> all_events_;
  std::vector<std::pair<std::function<void(Outcome)>, Outcome>> due_;
  CoordinatorMetrics metrics_;
};

Coordinator::Impl::~Impl() {
  for (NativeEvent event : all_events_) device_->backend->destroy_event(event);
}

// Null if the operation has ended and was forgotten; failures_ remembers those that failed.
Coordinator::Impl::Record* Coordinator::Impl::find(OperationHandle operation, const char* call) {
  if (!operation.id().valid()) throw make_error(kCodeInvalidHandle, call, "the operation is null");
  if (operation.coordinator_ != number_) {
    throw make_error(kCodeInvalidHandle, call, "the operation is of another Coordinator");
  }
  return operation.index_ < first_index_ ? nullptr : &at(operation.index_);
}

std::uint32_t Coordinator::Impl::stream_index(const StreamState& stream) {
  const auto [entry, is_new] = stream_indices_.try_emplace(stream.id.load(), 0);
  if (is_new) {
    entry->second = clocks_.add_stream();
    streams_.emplace_back();
  }
  return entry->second;
}

NativeEvent Coordinator::Impl::acquire_event() {
  {
    Lock lock(mutex_);
    if (!free_events_.empty()) {
      const NativeEvent event = free_events_.back();
      free_events_.pop_back();
      return event;
    }
  }
  const NativeEvent event = device_->backend->create_event(EventClass::kNoTiming, {});
  Lock lock(mutex_);
  all_events_.push_back(event);
  return event;
}

void Coordinator::Impl::tell_state(const Record& record) const {
  if (observer().operation_state == nullptr) return;
  observer().operation_state(observer_id(record.id), static_cast<std::uint32_t>(record.state),
                             now_ns());
}

// From here on, what the thread calls belongs to the operation.
void Coordinator::Impl::enter(OperationHandle operation, std::string_view description) const {
  if (nvtx_) nvtx::push(std::string(description).c_str());
  if (observer().operation_begin == nullptr) return;
  entered.push_back(observer_id(operation.id()));
  observer().operation_begin(entered.back(), now_ns());
}

// Back to the operation around it, if there is one.
void Coordinator::Impl::leave(OperationHandle operation) const {
  if (nvtx_) nvtx::pop();
  if (observer().operation_begin == nullptr || observer().operation_end == nullptr) return;
  observer().operation_end(observer_id(operation.id()), now_ns());
  entered.pop_back();
  if (!entered.empty()) observer().operation_begin(entered.back(), now_ns());
}

OperationHandle Coordinator::Impl::begin(const OperationOptions& options, StreamState& stream,
                                         const std::source_location& where) {
  constexpr const char* kCall = "Coordinator::submit";
  struct Dependency {
    std::uint64_t index;
    OperationId id;
    bool elided;
  };
  std::vector<Dependency> dependencies;
  std::vector<std::uint64_t> waits;  // indices
  std::vector<NativeEvent> events;
  OperationHandle operation;
  {
    Lock lock(mutex_);
    if (records_.size() >= kUnprovedLimit && !streams_.empty()) {
      const std::uint64_t oldest = first_index_;
      if (at(oldest).state == OperationState::kSubmitted) ask(lock, oldest, Proof::kQuery);
    }
    const std::uint32_t index = stream_index(stream);
    for (OperationHandle after : options.after) {
      const Record* record = find(after, kCall);
      throw_if_failed(after);
      const auto same = [&](const Dependency& known) { return known.id == after.id(); };
      if (std::any_of(dependencies.begin(), dependencies.end(), same)) continue;
      const bool implied = record == nullptr || clocks_.implied(index, record->point);
      dependencies.push_back({after.index_, after.id(), implied});
      if (!implied) waits.push_back(after.index_);
    }
    // Of what is left, drop what another one brings along.
    for (Dependency& dependency : dependencies) {
      if (dependency.elided) continue;
      dependency.elided = std::any_of(waits.begin(), waits.end(), [&](std::uint64_t other) {
        return other != dependency.index && covers(at(other).clock, at(dependency.index).point);
      });
    }
    std::erase_if(waits, [&](std::uint64_t wait) {
      return std::any_of(dependencies.begin(), dependencies.end(),
                         [&](const Dependency& dependency) {
                           return dependency.index == wait && dependency.elided;
                         });
    });
    for (std::uint64_t wait : waits) {
      Record& record = at(wait);
      clocks_.join(index, record.clock);
      ++record.users;
      events.push_back(record.event);
    }
    metrics_.waits_placed += waits.size();
    metrics_.waits_elided += dependencies.size() - waits.size();
    ++metrics_.registered;

    const Point point = clocks_.advance(index);
    records_.push_back({.id = OperationId{next_operation_id.fetch_add(1)},
                        .point = point,
                        .clock = clocks_.row(index)});
    const std::uint64_t record_index = first_index_ + records_.size() - 1;
    operation = handle(record_index);
  }

  const std::uint32_t id = observer_id(operation.id());
  if (observer().operation_registered != nullptr) {
    std::vector<std::uint32_t> ids;
    ids.reserve(dependencies.size());
    for (const Dependency& dependency : dependencies) ids.push_back(observer_id(dependency.id));
    const std::string name(options.description);
    const std::string call_site = describe(where);
    coord_operation_facts facts{};
    facts.operation = id;
    facts.type = static_cast<std::uint32_t>(options.type);
    facts.priority = static_cast<std::uint32_t>(options.priority);
    facts.context = device_->backend->properties().context;
    facts.stream = stream.native;
    facts.parent = COORD_NONE;
    facts.dependency_count = static_cast<std::uint32_t>(ids.size());
    facts.dependencies = ids.data();
    facts.time_ns = now_ns();
    facts.name = name.c_str();
    facts.call_site = call_site.c_str();
    observer().operation_registered(&facts);
  }
  if (observer().dependency != nullptr) {
    for (const Dependency& dependency : dependencies) {
      observer().dependency(id, observer_id(dependency.id), 0, dependency.elided ? 1 : 0);
    }
  }
  enter(operation, options.description);
  if (observer().operation_state != nullptr)
    observer().operation_state(id, COORD_OPERATION_BEGUN, now_ns());

  std::exception_ptr error;
  try {
    for (NativeEvent event : events) device_->backend->wait(stream.native, event);
  } catch (...) {
    error = std::current_exception();
  }
  {
    Lock lock(mutex_);
    for (std::uint64_t wait : waits) {
      --at(wait).users;
      release(at(wait));
    }
    forget_ended();
  }
  if (error != nullptr) {
    abandon(operation, error);
    std::rethrow_exception(error);
  }
  return operation;
}

void Coordinator::Impl::finish(OperationHandle operation, StreamState& stream) {
  const NativeEvent event = acquire_event();
  device_->backend->record(stream.native, event);
  leave(operation);
  Lock lock(mutex_);
  Record& record = at(operation.index_);
  record.event = event;
  record.has_event = true;
  record.state = OperationState::kSubmitted;
  streams_[record.point.stream].unproved.push_back(operation.index_);
  ++metrics_.records;
  ++metrics_.submitted;
  tell_state(record);
}

void Coordinator::Impl::abandon(OperationHandle operation, std::exception_ptr error) noexcept {
  leave(operation);
  Lock lock(mutex_);
  end(operation.index_, OperationState::kFailed, std::move(error));
  forget_ended();
}

// Marks an operation as ended; its callbacks become due.
void Coordinator::Impl::end(std::uint64_t index, OperationState state, std::exception_ptr error) {
  Record& record = at(index);
  record.state = state;
  ++(state == OperationState::kCompleted ? metrics_.completed : metrics_.failed);
  tell_state(record);
  const Outcome outcome{handle(index), state, error};
  for (auto& callback : record.callbacks) due_.emplace_back(std::move(callback), outcome);
  record.callbacks.clear();
  if (error != nullptr) failures_[index] = std::move(error);
  release(record);
}

// The host has seen that everything `clock` is after has ended.
void Coordinator::Impl::prove(const Clock& clock) {
  clocks_.prove(clock);
  for (StreamEntry& stream : streams_) {
    while (!stream.unproved.empty() && clocks_.proved(at(stream.unproved.front()).point)) {
      end(stream.unproved.front(), OperationState::kCompleted);
      stream.unproved.pop_front();
    }
  }
  forget_ended();
}

void Coordinator::Impl::fail_all(const std::exception_ptr& error) {
  for (StreamEntry& stream : streams_) {
    for (std::uint64_t index : stream.unproved) end(index, OperationState::kFailed, error);
    stream.unproved.clear();
  }
  forget_ended();
}

// Gives the event of an operation back once nobody can want it any more.
void Coordinator::Impl::release(Record& record) {
  const bool ended =
      record.state == OperationState::kCompleted || record.state == OperationState::kFailed;
  if (!ended || record.users > 0 || !record.has_event) return;
  free_events_.push_back(record.event);
  record.has_event = false;
}

void Coordinator::Impl::forget_ended() {
  const auto ended = [](const Record& record) {
    return record.users == 0 &&
           (record.state == OperationState::kCompleted || record.state == OperationState::kFailed);
  };
  while (!records_.empty() && ended(records_.front())) {
    records_.pop_front();
    ++first_index_;
  }
}

void Coordinator::Impl::throw_if_failed(OperationHandle operation) const {
  if (failures_.empty()) return;
  if (auto found = failures_.find(operation.index_); found != failures_.end())
    std::rethrow_exception(found->second);
}

// Asks the device about a submitted operation. The lock is open meanwhile.
bool Coordinator::Impl::ask(Lock& lock, std::uint64_t index, Proof proof) {
  Record* record = &at(index);
  const NativeEvent event = record->event;
  ++record->users;
  lock.unlock();
  bool ended = true;
  std::exception_ptr error;
  bool failed = false;
  try {
    if (proof == Proof::kWait) {
      device_->backend->synchronize_event(event);
    } else {
      ended = device_->backend->query_event(event);
    }
  } catch (const Error& caught) {
    error = std::current_exception();
    failed = caught.kind() == ErrorKind::kDeviceFailure;
  }
  lock.lock();
  record = &at(index);
  const Clock clock = record->clock;  // the record may be forgotten
  --record->users;
  release(*record);
  if (failed) fail_all(error);
  if (error == nullptr && ended) prove(clock);
  forget_ended();
  if (error != nullptr) std::rethrow_exception(error);
  return ended;
}

bool Coordinator::Impl::completed(OperationHandle operation) {
  Lock lock(mutex_);
  const Record* record = find(operation, "Coordinator::completed");
  throw_if_failed(operation);
  if (record == nullptr || record->state == OperationState::kCompleted) return true;
  return ask(lock, operation.index_, Proof::kQuery);
}

void Coordinator::Impl::wait(OperationHandle operation) {
  {
    Lock lock(mutex_);
    const Record* record = find(operation, "Coordinator::wait");
    throw_if_failed(operation);
    if (record != nullptr && record->state == OperationState::kSubmitted) {
      ++metrics_.host_waits;
      ask(lock, operation.index_, Proof::kWait);
    }
  }
  run_callbacks();
}

void Coordinator::Impl::on_complete(OperationHandle operation,
                                    std::function<void(Outcome)> callback) {
  if (!callback)
    throw make_error(kCodeInvalidValue, "Coordinator::on_complete", "the callback is empty");
  Lock lock(mutex_);
  Record* record = find(operation, "Coordinator::on_complete");
  if (auto failure = failures_.find(operation.index_); failure != failures_.end()) {
    due_.emplace_back(std::move(callback),
                      Outcome{operation, OperationState::kFailed, failure->second});
  } else if (record == nullptr || record->state == OperationState::kCompleted) {
    due_.emplace_back(std::move(callback), Outcome{operation, OperationState::kCompleted, nullptr});
  } else {
    record->callbacks.push_back(std::move(callback));
  }
}

std::size_t Coordinator::Impl::poll() {
  {
    Lock lock(mutex_);
    std::vector<std::uint64_t> wanted;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (!records_[i].callbacks.empty() && records_[i].state == OperationState::kSubmitted) {
        wanted.push_back(first_index_ + i);
      }
    }
    for (std::uint64_t index : wanted) {
      if (index < first_index_ || at(index).state != OperationState::kSubmitted) continue;
      try {
        ask(lock, index, Proof::kQuery);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kDeviceFailure) throw;  // a failure reaches the callbacks
      }
    }
  }
  return run_callbacks();
}

std::size_t Coordinator::Impl::run_callbacks() {
  std::size_t ran = 0;
  for (;;) {
    Lock lock(mutex_);
    if (due_.empty()) return ran;
    auto due = std::exchange(due_, {});
    lock.unlock();
    for (auto& [callback, outcome] : due) callback(outcome);
    ran += due.size();
  }
}

void Coordinator::Impl::shut_down() noexcept {
  {
    Lock lock(mutex_);
    const std::uint64_t end_index = first_index_ + records_.size();
    for (std::uint64_t index = first_index_; index < end_index; ++index) {
      if (index < first_index_ || at(index).callbacks.empty()) continue;
      try {
        ask(lock, index, Proof::kWait);
      } catch (const Error&) {
        if (index >= first_index_ && at(index).state == OperationState::kSubmitted) {
          end(index, OperationState::kFailed, std::current_exception());
        }
      }
    }
  }
  run_callbacks();
}

CoordinatorMetrics Coordinator::Impl::metrics() const {
  Lock lock(mutex_);
  return metrics_;
}

Coordinator::Coordinator(const Device& device) : impl_(std::make_unique<Impl>(device)) {}

Coordinator::~Coordinator() { impl_->shut_down(); }

bool Coordinator::completed(OperationHandle operation) { return impl_->completed(operation); }

void Coordinator::wait(OperationHandle operation) { impl_->wait(operation); }

void Coordinator::on_complete(OperationHandle operation, std::function<void(Outcome)> callback) {
  impl_->on_complete(operation, std::move(callback));
}

std::size_t Coordinator::poll() { return impl_->poll(); }

CoordinatorMetrics Coordinator::metrics() const { return impl_->metrics(); }

Coordinator::Submission::Submission(Coordinator& coordinator, const OperationOptions& options,
                                    const std::source_location& where)
    : coordinator_(coordinator), stream_(options.stream) {
  StreamState& stream = stream_.checked("Coordinator::submit");
  handle_ = coordinator.impl_->begin(options, stream, where);
}

Coordinator::Submission::~Submission() {
  if (finished_) return;
  const auto error =
      make_error(kCodeUnknown, "Coordinator::submit", "the operation's function threw");
  coordinator_.impl_->abandon(handle_, std::make_exception_ptr(error));
}

OperationHandle Coordinator::Submission::finish() {
  coordinator_.impl_->finish(handle_, stream_.checked("Coordinator::submit"));
  finished_ = true;
  return handle_;
}

}  // namespace coord
