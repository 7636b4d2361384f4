// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The way of every operation: registered, begun, finished.

#include <algorithm>

#include "codes.h"
#include "coordinator_impl.h"
#include "nvtx.h"
#include "observer.h"
#include "ticks.h"

namespace coord {

namespace {

std::atomic<std::uint32_t> next_coordinator{1};
std::atomic<std::uint64_t> next_operation_id{0};

/// One submission in so many is timed.
constexpr std::uint64_t kCostSample = 32;
/// Operation ids that a Coordinator takes at a time.
constexpr std::uint64_t kIdBlock = 256;

constexpr const char* kSubmit = "Coordinator::submit";

}  // namespace

Coordinator::Impl::Impl(const Device& device, const CoordinatorOptions& options)
    : device_(device.state()),
      options_(options),
      number_(next_coordinator.fetch_add(1)),
      nvtx_(nvtx::listening() && observer().operation_registered == nullptr),
      listened_(nvtx_ || observer().operation_begin != nullptr ||
                observer().operation_state != nullptr || observer().dependency != nullptr),
      stamps_submissions_(options.submission_times || observer().operation_state != nullptr),
      operations_(options.history, number_),
      executor_(options.executor != nullptr || options.polled ? options.executor
                                                              : Executor::shared()),
      wait_graph_source_([this](WaitGraph& graph) { tell_waits(graph); }) {
  if (!options.polled) poller_ = std::make_unique<PollClient>([this] { return look(); });
}

Coordinator::Impl::~Impl() = default;

void Coordinator::Impl::refuse(const OperationHandle& operation, const char* call) {
  throw make_error(
      kCodeInvalidHandle, call,
      operation.id().valid() ? "the operation is of another Coordinator" : "the operation is null");
}

DeviceEvents& Coordinator::Impl::events_of(DeviceState& device) {
  for (DeviceEvents& events : events_) {
    if (events.device.get() == &device) return events;
  }
  const Device opened(device.shared_from_this());
  DeviceEvents& events = events_.emplace_back();
  events.device = opened.state();
  events.pool = std::make_unique<EventPool>(opened, options_.events);
  events.spare_count = &events.pool->spare_count();
  return events;
}

StreamEntry& Coordinator::Impl::find_stream(StreamState& stream) {
  // The stream remembers where it is in the table of the Coordinator that used it last.
  const std::uint64_t id = stream.id.load(std::memory_order_relaxed);
  const std::uint64_t known = stream.coordinator.load(std::memory_order_relaxed);
  if (const auto index = static_cast<std::uint32_t>(known);
      known >> 32 == number_ && index < streams_.size() && streams_[index].id == id) [[likely]]
    return *(last_stream_ = &streams_[index]);
  const auto found = stream_indices_.find(id);
  const std::uint32_t index = found != stream_indices_.end() ? found->second : add_stream(stream);
  stream.coordinator.store(std::uint64_t{number_} << 32 | index, std::memory_order_relaxed);
  return *(last_stream_ = &streams_[index]);
}

std::uint32_t Coordinator::Impl::stream_index(StreamState& stream) {
  return stream_entry(stream).index;
}

std::uint32_t Coordinator::Impl::add_stream(StreamState& stream) {
  DeviceEvents& events = events_of(*stream.device);
  // The place of a stream that is gone, if all its work has ended; its tickets go on.
  std::uint32_t index = 0;
  while (index < streams_.size() &&
         (streams_[index].state->id.load(std::memory_order_relaxed) == streams_[index].id ||
          streams_[index].oldest != nullptr || streams_[index].open > 0 ||
          streams_[index].capture != 0)) {
    ++index;
  }
  if (index == streams_.size()) {
    streams_.emplace_back();
    clocks_.add_stream();
  } else {
    stream_indices_.erase(streams_[index].id);
    clocks_.exchange_row(index, ClockRef());  // the new stream comes after nothing yet
  }
  StreamEntry& fresh = streams_[index];
  const std::uint64_t count = fresh.count;
  fresh = StreamEntry{};
  fresh.count = count;
  fresh.index = index;
  fresh.id = stream.id.load(std::memory_order_relaxed);
  fresh.state = &stream;
  fresh.device = stream.device;
  fresh.events = &events;
  stream_indices_[fresh.id] = index;
  return index;
}

// Registration

// Throws if an operation of `stream` (null: a group) must not depend on `after`.
inline Coordinator::Impl::Need Coordinator::Impl::check_dependency(
    const OperationHandle& after, const StreamEntry* stream) const {
  const OperationRecord* dependency = find(after, kSubmit);
  throw_failure(after);
  if (dependency == nullptr || dependency->ended_already()) return Need::kNothing;
  const bool unsubmitted = dependency->unsubmitted();
  const bool refused =
      unsubmitted && stream != nullptr && options_.unsubmitted == Unsubmitted::kRefuse;
  if (!dependency->named || refused) [[unlikely]]
    refuse_dependency(*dependency);
  if (unsubmitted) return Need::kSubmission;
  const bool implied = stream != nullptr && !dependency->is_group &&
                       clocks_.implied(stream->index, dependency->point);
  return implied ? Need::kNothing : Need::kOrder;
}

void Coordinator::Impl::refuse_dependency(const OperationRecord& on) const {
  if (!on.named)
    throw make_error(kCodeInvalidHandle, kSubmit, "a posted operation cannot be depended on");
  throw make_error(kCodeNotPermitted, kSubmit,
                   "it depends on " + describe(on) + ", which is not submitted");
}

// A registered operation without dependencies; a group, if it has no stream.
[[gnu::always_inline]] inline OperationRecord& Coordinator::Impl::fresh_record(
    const OperationOptions& options, StreamEntry* stream, const std::source_location& where,
    bool named) {
  const bool is_group = stream == nullptr;
  if (next_id_ == end_id_) {
    next_id_ = next_operation_id.fetch_add(kIdBlock, std::memory_order_relaxed);
    end_id_ = next_id_ + kIdBlock;
  }
  OperationRecord& record = operations_.take();
  record.state.store(OperationState::kRegistered, std::memory_order_relaxed);
  record.id.store(next_id_++, std::memory_order_release);
  record.type = options.type;
  record.priority = record.effective = options.priority;
  record.is_group = is_group;
  record.has_ranges = !options.reads.empty() || !options.writes.empty();
  record.named = named || record.has_ranges;
  record.has_event = record.dispatched = record.retired = record.announced = false;
  record.users = record.missing = 0;
  record.cost = 0;
  record.entry = stream;
  record.capture = 0;
  record.stream_ref = options.stream;
  record.device = is_group ? device_.get() : stream->device;
  record.events = is_group ? nullptr : stream->events;
  record.point = {is_group ? 0 : stream->index, 0};
  record.order = record.runner = 0;
  record.created = stamp(*record.device);
  record.begun = record.submitted = record.ended = 0;
  record.described = !options.description.empty();
  if (record.described) record.description.assign(options.description);
  record.where = where;
  if (record.extra != nullptr) record.extra.reset();
  record.timed = metrics_.registered++ % kCostSample == 0;
  return record;
}

// The operation's dependencies are these, each once.
inline void Coordinator::Impl::name_dependencies(OperationRecord& record,
                                                 const Dependencies& after) const {
  const auto id = static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed));
  bool maybe_again = false;  // or two that had one slot
  for (const OperationHandle& one : after) {
    maybe_again |= one.record_->named_by == id;
    one.record_->named_by = id;
  }
  if (!maybe_again) [[likely]] {
    record.after = after;
    return;
  }
  record.after.clear();
  for (const OperationHandle& one : after) {
    if (!record.after.contains(one)) record.after.push_back(one);
  }
}

void Coordinator::Impl::join_group(OperationRecord& record, OperationRecord& group) {
  record.more().group = &group;
  ++group.users;
  ++group.more().unsubmitted;
  ++group.more().not_ended;
  for (const OperationHandle& after : group.after) {
    if (OperationRecord* dependency = live(after); dependency != nullptr)
      depend(record, *dependency, false);
  }
}

void Coordinator::Impl::declare_accesses(const OperationRecord& record,
                                         const OperationOptions& options) const {
  Backend& backend = *record.device->backend;
  const std::uint32_t id = static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed));
  for (const MemoryRange& range : options.reads)
    backend.declare_access(id, range.address, range.bytes, false);
  for (const MemoryRange& range : options.writes)
    backend.declare_access(id, range.address, range.bytes, true);
}

template <Coordinator::Impl::Entry entry>
OperationHandle Coordinator::Impl::add(const OperationOptions& options,
                                       const std::source_location& where, bool named, bool& begun) {
  constexpr bool kIsGroup = entry == Entry::kGroup;
  StreamState* const state = kIsGroup ? nullptr : &options.stream.checked(kSubmit);
  Lock lock(mutex_);
  StreamEntry* const stream = kIsGroup ? nullptr : &stream_entry(*state);
  OperationRecord* group = nullptr;
  if (options.group.id().valid()) {
    group = find(options.group, kSubmit);
    if (group == nullptr || !group->is_group || !group->more().open)
      throw make_error(kCodeInvalidValue, kSubmit, "the group is closed, or not a group");
  }
  Need need = Need::kNothing;  // the most that any dependency asks
  for (const OperationHandle& after : options.after)
    need = std::max(need, check_dependency(after, stream));
  OperationRecord& record = fresh_record(options, stream, where, named);
  const std::uint64_t from = record.timed ? ticks() : 0;
  name_dependencies(record, options.after);
  if (need == Need::kSubmission && !kIsGroup) {  // what a group needs, its members inherit
    for (const OperationHandle& after : record.after) {
      OperationRecord* on = live(after);
      if (on != nullptr && on->unsubmitted()) await_submission(record, *on);
    }
  }
  if (kIsGroup) record.more().open = true;
  if (group != nullptr) {
    join_group(record, *group);
    need = std::max(need, Need::kOrder);
  }
  record.inferred_from = static_cast<std::uint32_t>(record.after.size());
  if (record.has_ranges) {
    record.more().reads = options.reads;
    record.more().writes = options.writes;
    if (options.infer_dependencies) infer(record);
    need = std::max(need, Need::kOrder);
  }
  record.inferred_to = static_cast<std::uint32_t>(record.after.size());
  const bool begins = entry == Entry::kSubmitted && record.missing == 0;
  if (!begins) announce(record);
  if (record.has_ranges) declare_accesses(record, options);
  if (options.timeout != Nanoseconds::max()) {
    record.more().deadline_ns = monotonic_ns() + options.timeout.count();
    deadlines_.push_back(handle(record));
    wake_poller();
  }
  const OperationHandle result = handle(record);
  begun = false;
  if (begins) {
    if (stream->dispatched && stream->open > 0) await_stream(lock, record);
    const bool over = clocks_.size() > connections_limit(record) && over_connections(lock, record);
    if (!over || options_.connections == Connections::kReport ||
        record.type == OperationType::kSynchronization || record.type == OperationType::kBarrier) {
      record.begun = record.created;
      place(record, need);
      lock.unlock();
      issue(record);
      begun = true;
      if (record.timed) record.cost = ticks() - from;
    } else {
      announce(record);
      held_.push_back(result);
      ++metrics_.deferred;
      wake_poller();
    }
  }
  if (record.missing > 0) {
    ++metrics_.deferred;
    ++metrics_.blocked_now;
  }
  return result;
}

// A deferred operation may be using the stream from another thread.
void Coordinator::Impl::await_stream(Lock& lock, OperationRecord& record) {
  StreamEntry& stream = *record.entry;
  while (stream.dispatched && stream.open > 0) {
    const bool mine = std::any_of(
        operations_.all().begin(), operations_.all().end(), [&](const OperationRecord& other) {
          return other.state.load(std::memory_order_relaxed) == OperationState::kBegun &&
                 other.point.stream == record.point.stream && other.runner == this_thread_number();
        });
    if (mine) return;
    changed_.wait(lock);
  }
}

template OperationHandle Coordinator::Impl::add<Coordinator::Impl::Entry::kRegistered>(
    const OperationOptions&, const std::source_location&, bool, bool&);
template OperationHandle Coordinator::Impl::add<Coordinator::Impl::Entry::kGroup>(
    const OperationOptions&, const std::source_location&, bool, bool&);

// What the stream has to wait for, in candidates_; the rest is implied.
void Coordinator::Impl::find_candidates(OperationRecord& record) {
  const bool captures = record.capture != 0;
  const auto consider = [&](OperationRecord& before) {
    const bool captured = before.state.load(std::memory_order_relaxed) == OperationState::kCaptured;
    if ((captures || captured) && !same_capture(record, before)) return;
    if (before.ended_already() || clocks_.implied(record.point.stream, before.point)) return;
    if (std::find(candidates_.begin(), candidates_.end(), &before) == candidates_.end())
      candidates_.push_back(&before);
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
  if (candidates_.size() > 1) drop_what_is_brought();
}

// Fixes the waits of an operation whose dependencies are all submitted, and begins it.
inline void Coordinator::Impl::place(OperationRecord& record, Need need) {
  StreamEntry& stream = *record.entry;
  const bool capturing =
      record.device->backend->capture_status(stream.state->native) != CaptureStatus::kNone;
  if (capturing || stream.capture != 0 || !captured_.empty()) {
    enter_capture(record, capturing);
    need = Need::kOrder;
  }
  candidates_.clear();
  if (need != Need::kNothing) find_candidates(record);
  note_elisions(record);
  const std::size_t waits = candidates_.size();
  if (waits > 0) take_waits(stream, record);
  metrics_.waits_placed += waits;
  metrics_.waits_elided += record.after.size() - std::min(record.after.size(), waits);
  record.milestone = record.capture == 0 && ++stream.count % kMilestone == 0;
  if (record.named || record.milestone) record.event = record.events->take();
  record.order = record.device->simulated ? take_order() : record.begun;
  record.runner = this_thread_number();
  record.state.store(OperationState::kBegun, std::memory_order_release);
  ++stream.open;
  ++metrics_.begun;
  if (record.has_ranges) judge(record);
}

// Begins the submission of an operation that was registered.
void Coordinator::Impl::start(Lock& lock, OperationRecord& record) {
  record.begun = stamp(*record.device);
  place(record, Need::kOrder);
  lock.unlock();
  issue(record);
}

// Issues the waits of an operation that was begun: from here on what its thread enqueues is its
// work.
inline void Coordinator::Impl::issue(OperationRecord& record) {
  enter(record);
  if (record.waits.empty()) return;
  try {
    issue_waits(record);
  } catch (...) {
    abandon(handle(record), std::current_exception());
    throw;
  }
}

// The waits of an operation were issued: what they are for need not be kept for it.
void Coordinator::Impl::drop_waits(OperationRecord& record) {
  for (OperationRecord* before : record.waits) drop_user(*before);
  record.waits.clear();
}

void Coordinator::Impl::issue_waits(OperationRecord& record) {
  for (const OperationRecord* before : record.waits) record.stream_ref.wait(before->event);
}

// Throws unless the operation is registered, and nobody has given it a function.
void Coordinator::Impl::check_to_begin(const OperationRecord* record, const char* call) const {
  if (record != nullptr && !record->is_group &&
      record->state.load() == OperationState::kRegistered &&
      (record->extra == nullptr || !record->extra->function))
    return;
  throw make_error(kCodeNotPermitted, call,
                   record == nullptr ? "the operation has ended"
                                     : describe(*record) + " cannot be begun (again)");
}

void Coordinator::Impl::begin(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::begin";
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  check_to_begin(record, kCall);
  for (OperationHandle after : record->after) {
    const OperationRecord* dependency = live(after);
    if (record->missing > 0 && dependency != nullptr && dependency->unsubmitted()) {
      throw make_error(
          kCodeNotPermitted, kCall,
          describe(*record) + " depends on " + describe(*dependency) + ", which is not submitted");
    }
  }
  await_stream(lock, *record);
  (void)over_connections(lock, *record);
  start(lock, *record);
}

void Coordinator::Impl::finish(const OperationHandle& operation) {
  constexpr const char* kCall = "Coordinator::complete";
  OperationRecord& record = *operation.record_;
  if (!operation.id_.valid() || record.coordinator != number_ || live(operation) == nullptr ||
      record.state.load(std::memory_order_relaxed) != OperationState::kBegun) {
    throw make_error(kCodeNotPermitted, kCall, "the operation was not begun");
  }
  end_submission(record, operation);
}

// `operation` is begun.
inline void Coordinator::Impl::end_submission(OperationRecord& record,
                                              const OperationHandle& operation) {
  const std::uint64_t from = record.timed ? ticks() : 0;
  const bool has_event = record.named || record.milestone;
  if (has_event) {
    if (!record.event.id().valid()) record.event = record.events->pool->acquire();
    // The event is nobody else's, and of the stream's device.
    StreamState& stream = record.stream_ref.checked(kSubmit);
    record.device->backend->record(stream.native, record.event.state_->native);
    StreamCounts::add(stream.counts.records);
  }
  leave(record);

  Lock lock(mutex_);
  StreamEntry& stream = *record.entry;
  record.has_event = has_event;
  record.point = clocks_.advance(record.point.stream);
  record.clock = clocks_.row(record.point.stream);
  if (stamps_submissions_ || record.device->simulated) record.submitted = stamp(*record.device);
  record.state.store(record.capture == 0 ? OperationState::kSubmitted : OperationState::kCaptured,
                     std::memory_order_release);
  ++metrics_.submitted;
  if (record.has_event) ++metrics_.records;
  if (record.capture == 0) {
    (stream.newest != nullptr ? stream.newest->next : stream.oldest) = &record;
    stream.newest = &record;
    record.next = nullptr;
  } else {
    ++record.users;
    captured_[record.capture].push_back(&record);
  }
  stream.last = operation;
  StreamCounts::add(stream.state->counts.operations);
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  if (!record.waits.empty()) drop_waits(record);
  tell_state(record);
  if (!record.dependants.empty() || record.extra != nullptr) submitted_one(record);
  if (record.timed) sample_cost(record.cost + ticks() - from);
  if (record.milestone) housekeep(lock, stream, record);
  if (!watched_.empty()) wake_poller();
  if (!host_waits_.empty() || stream.dispatched || record.dispatched) changed_.notify_all();
  if (ready_count_ > 0) dispatch(lock);
}

void Coordinator::Impl::abandon(OperationHandle operation,
                                const std::exception_ptr& error) noexcept {
  OperationRecord& record = *operation.record_;
  leave(record);
  Lock lock(mutex_);
  StreamEntry& stream = *record.entry;
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  drop_waits(record);
  end(record, OperationState::kFailed, error);
  changed_.notify_all();
  dispatch(lock);
}

void Coordinator::Impl::sample_cost(std::uint64_t cost) {
  costs_[cost_count_++ % costs_.size()] = cost;
  cost_sum_ += static_cast<double>(cost);
}

// One submission, for the functions that are templates

Coordinator::Submission::Submission(Coordinator& coordinator, const OperationOptions& options,
                                    const std::source_location& where, bool named)
    : impl_(*coordinator.impl_) {
  handle_ = impl_.add<Impl::Entry::kSubmitted>(options, where, named, ready_);
}

void Coordinator::Submission::fail() noexcept { impl_.abandon(handle_, std::current_exception()); }

OperationHandle Coordinator::Submission::finish() {
  try {
    impl_.end_submission(*handle_.record_, handle_);
  } catch (...) {
    fail();
    throw;
  }
  return handle_;
}

OperationHandle Coordinator::Submission::defer(std::function<void(StreamRef)> function) {
  impl_.keep(handle_, std::move(function));
  return handle_;
}

}  // namespace coord
