// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The path of every operation: registered, begun, finished.

#include <algorithm>

#include "codes.h"
#include "coordinator_impl.h"
#include "host/ticks.h"
#include "observer.h"

namespace coord {

namespace {

std::atomic<std::uint32_t> next_coordinator{1};
std::atomic<std::uint64_t> next_operation_id{0};

/// One in this many submissions is timed.
constexpr std::uint64_t kCostSample = 32;
/// Operation ids that a Coordinator reserves at a time.
constexpr std::uint64_t kIdBlock = 256;

}  // namespace

Coordinator::Impl::Impl(const Device& device, const CoordinatorOptions& options)
    : device_(device.state()),
      options_(options),
      number_(next_coordinator.fetch_add(1)),
      streams_(number_, options.events, options.submission_times || is_observed(), clocks_),
      operations_(options.history, number_),
      executor_(options.executor != nullptr || options.polled ? options.executor
                                                              : Executor::shared()),
      wait_graph_source_([this](WaitGraph& graph) { notify_waits(graph); }) {
  if (!options.polled) poller_ = std::make_unique<PollClient>([this] { return poll_once(); });
}

Coordinator::Impl::~Impl() = default;

void Coordinator::Impl::refuse(const OperationHandle& operation, const char* call) {
  throw make_error(kCodeInvalidHandle, call,
                   operation.id().valid() ? "the operation belongs to another Coordinator"
                                          : "the operation is null");
}

// Registration

void Coordinator::Impl::take_ids() {
  next_id_ = next_operation_id.fetch_add(kIdBlock, std::memory_order_relaxed);
  end_id_ = next_id_ + kIdBlock;
}

// What an operation of `stream` (null: a group) requires of a dependency. Throws if the dependency
// is not allowed.
template <Coordinator::Impl::Entry entry>
[[gnu::always_inline]] inline Coordinator::Impl::Need Coordinator::Impl::need_of(
    const OperationRecord& on, const StreamEntry* stream) const {
  constexpr bool kIsGroup = entry == Entry::kGroup;
  if (on.ended_already()) return Need::kNothing;
  const bool unsubmitted = on.unsubmitted();
  const bool refused = unsubmitted && !kIsGroup && options_.unsubmitted == Unsubmitted::kRefuse;
  if (!on.named || refused) [[unlikely]]
    refuse_dependency(on);
  if (unsubmitted) return Need::kSubmission;
  const bool implied = !kIsGroup && !on.is_group && clocks_.implied(stream->index, on.point);
  return implied ? Need::kNothing : Need::kOrder;
}

// The strongest need of all dependencies. `again`: one of them may be named twice.
template <Coordinator::Impl::Entry entry>
[[gnu::always_inline]] inline Coordinator::Impl::Need Coordinator::Impl::check_dependencies(
    const Dependencies& after, const StreamEntry* stream, bool& again) const {
  if (!failures_.empty()) [[unlikely]]
    std::ranges::for_each(after, [&](const OperationHandle& one) { throw_failure(one); });
  const auto id = static_cast<std::uint32_t>(next_id_);
  const std::uint32_t number = number_;
  Need need = Need::kNothing;
  for (const OperationHandle& one : after) {
    if (!one.id_.valid() || one.record_->coordinator != number) [[unlikely]]
      refuse(one, kSubmit);
    if (one.record_->named_by == id) again = true;  // or another operation that used the slot
    one.record_->named_by = id;
    if (const OperationRecord* const on = live(one); on != nullptr)
      need = std::max(need, need_of<entry>(*on, stream));
  }
  return need;
}

// Creates a registered operation with id next_id_ and no dependencies, which may begin at once.
template <Coordinator::Impl::Entry entry>
[[gnu::always_inline]] inline OperationRecord& Coordinator::Impl::fresh_record(
    const OperationOptions& options, StreamEntry* stream, const std::source_location& where,
    bool named, bool timed) {
  constexpr bool kIsGroup = entry == Entry::kGroup;
  OperationRecord& record = operations_.take();
  record.state.store(OperationState::kRegistered, std::memory_order_relaxed);
  record.id.store(next_id_++, std::memory_order_release);
  record.type = options.type;
  record.priority = options.priority;
  record.effective = options.priority;
  record.named = named;
  record.special = timed ? kTimed : 0;
  record.is_group = kIsGroup;
  record.has_ranges = record.described = false;
  record.has_event = record.announced = record.retired = false;
  record.users = record.missing = 0;
  record.point = {kIsGroup ? 0 : stream->index, 0};
  record.stream_ref = options.stream;
  record.entry = stream;
  DeviceState* const device = kIsGroup ? device_.get() : stream->device;
  record.device = device;
  record.where = where;
  record.created = record.begun = device->stamp();
  record.submitted = record.ended = record.capture = 0;
  if (record.extra != nullptr) [[unlikely]]
    record.extra.reset();
  if (!options.description.empty()) [[unlikely]] {
    record.described = true;
    record.description.assign(options.description);
  }
  ++metrics_.registered;
  return record;
}

// Creates an operation with its dependencies, and returns its need. It is reported to the observer
// unless it may begin at once. `stream`: null for a group.
template <Coordinator::Impl::Entry entry>
[[gnu::always_inline]] inline OperationRecord& Coordinator::Impl::enlist(
    const OperationOptions& options, StreamEntry* stream, const std::source_location& where,
    bool named, bool timed, Need& need) {
  const bool special = options.group.id().valid() || !options.reads.empty() ||
                       !options.writes.empty() || options.timeout != Nanoseconds::max();
  if (special) [[unlikely]]
    check_special(options);
  if (next_id_ == end_id_) [[unlikely]]
    take_ids();
  bool again = false;
  need = check_dependencies<entry>(options.after, stream, again);
  OperationRecord& record = fresh_record<entry>(options, stream, where, named, timed);
  if (special || again || need == Need::kSubmission) [[unlikely]] {
    need = take_special(record, options, need);
  } else {
    record.after = options.after;
  }
  if constexpr (entry != Entry::kSubmitted) put_off(record);
  if (entry == Entry::kGroup) record.more().open = true;
  if (special) [[unlikely]] {
    if (record.missing > 0 && !record.announced) reports_.registered(record);
    declare_special(record, options);
  }
  return record;
}

// Creates an operation that begins with begin(), or a group.
template <Coordinator::Impl::Entry entry>
OperationHandle Coordinator::Impl::add(const OperationOptions& options,
                                       const std::source_location& where) {
  StreamState* const state = entry == Entry::kGroup ? nullptr : &options.stream.checked(kSubmit);
  const Lock lock(mutex_);
  StreamEntry* const stream = state == nullptr ? nullptr : &streams_.of(*state);
  Need need{};
  const bool timed = metrics_.registered % kCostSample == 0;
  return enlist<entry>(options, stream, where, true, timed, need).handle();
}

template OperationHandle Coordinator::Impl::add<Coordinator::Impl::Entry::kRegistered>(
    const OperationOptions&, const std::source_location&);
template OperationHandle Coordinator::Impl::add<Coordinator::Impl::Entry::kGroup>(
    const OperationOptions&, const std::source_location&);

OperationHandle Coordinator::Impl::submit(const OperationOptions& options, void* function,
                                          const Calls& calls, const std::source_location& where,
                                          bool named) {
  StreamState& state = options.stream.checked(kSubmit);
  const std::uint64_t self = this_thread_number();
  ShortLockHolder lock(mutex_, self);
  const bool timed = metrics_.registered % kCostSample == 0;
  const std::uint64_t from = timed ? ticks() : 0;
  StreamEntry& stream = streams_.of(state);
  Need need{};
  OperationRecord& record = enlist<Entry::kSubmitted>(options, &stream, where, named, timed, need);
  const OperationHandle result = record.handle();
  if (record.missing > 0 || stream.dispatched || streams_.crowded()) [[unlikely]] {
    Lock held = lock.hand_over();
    if (!clear_to_begin(held, record)) {
      held.unlock();
      keep(result, calls.keep(function));
      return result;
    }
    lock.take_back(std::move(held));
  }
  place(stream, record, need, self);
  lock.unlock();
  try {
    issue(record);
    if (timed) [[unlikely]]
      record.cost = ticks() - from;
    calls.call(function, options.stream);
    end_submission(stream, record, self);
  } catch (...) {
    abandon(result, std::current_exception());
    throw;
  }
  return result;
}

OperationHandle Coordinator::submit_function(const OperationOptions& options, void* function,
                                             const Calls& calls, const std::source_location& where,
                                             bool named) {
  return impl_->submit(options, function, calls, where, named);
}

// Fixes the waits of an operation whose dependencies are all submitted, and begins it.
[[gnu::always_inline]] inline void Coordinator::Impl::place(StreamEntry& stream,
                                                            OperationRecord& record, Need need,
                                                            std::uint64_t self) {
  const bool capturing =
      stream.device->backend->capture_status(stream.state->native) != CaptureStatus::kNone;
  bool captured = false;
  if (capturing || stream.capture != 0 || !captured_.empty()) [[unlikely]] {
    enter_capture(record, capturing);
    captured = record.is(kCaptured);
    need = Need::kOrder;
  }
  metrics_.waits_elided += record.after.size();
  if (need != Need::kNothing || (reports_.listened() && record.after.size() > 0))
    find_waits(stream, record, need);
  if (!captured) [[likely]] {
    if (--stream.until_milestone == 0) [[unlikely]] {
      stream.until_milestone = kMilestoneEvery;
      record.special |= kMilestone;
    }
  }
  if (record.named || record.is(kMilestone)) [[likely]] {
    record.event = stream.events->take();
    __builtin_prefetch(record.event.state_);  // to be recorded behind the operation
  }
  if (stream.device->simulated) [[unlikely]]
    record.order = take_order();
  record.runner = self;
  record.state.store(OperationState::kBegun, std::memory_order_release);
  ++stream.open;
  ++metrics_.begun;
  if (record.has_ranges) [[unlikely]]
    judge(record);
}

// Issues the waits of an operation that has begun: from here on, what its thread enqueues is its
// work.
[[gnu::always_inline]] inline void Coordinator::Impl::issue(OperationRecord& record) {
  reports_.enter(record);
  if (record.is(kWaits)) [[unlikely]]
    issue_waits(record);
}

// Begins the submission of a registered operation.
void Coordinator::Impl::start(Lock& lock, OperationRecord& record) {
  record.begun = record.device->stamp();
  place(*record.entry, record, Need::kOrder, this_thread_number());
  lock.unlock();
  try {
    issue(record);
  } catch (...) {
    abandon(record.handle(), std::current_exception());
    throw;
  }
}

// The waits of an operation were issued: their targets need not be kept for it.
void Coordinator::Impl::drop_waits(OperationRecord& record) {
  for (OperationRecord* before : record.waits) drop_user(*before);
  record.waits.clear();
  record.special &= ~kWaits;
}

void Coordinator::Impl::issue_waits(OperationRecord& record) {
  for (const OperationRecord* before : record.waits) record.stream_ref.wait(before->event);
}

// Throws unless the operation is registered and has no function yet.
void Coordinator::Impl::check_to_begin(const OperationRecord* record, const char* call) const {
  if (record != nullptr && !record->is_group &&
      record->state.load() == OperationState::kRegistered &&
      (record->extra == nullptr || !record->extra->function))
    return;
  throw make_error(
      kCodeNotPermitted, call,
      record == nullptr ? "the operation has ended" : describe(*record) + " cannot begin (again)");
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
    throw make_error(kCodeNotPermitted, kCall, "the operation has not begun");
  }
  end_submission(*record.entry, record, this_thread_number());
}

// Ends the submission of an operation that has begun.
[[gnu::always_inline]] inline void Coordinator::Impl::end_submission(StreamEntry& stream,
                                                                     OperationRecord& record,
                                                                     std::uint64_t self) {
  const std::uint64_t from = record.is(kTimed) ? ticks() : 0;
  const bool has_event = record.named || record.is(kMilestone);
  if (has_event) [[likely]] {
    if (!record.event.id().valid()) [[unlikely]]
      record.event = stream.events->pool->acquire();
    // The event has no other owner and belongs to the stream's device.
    StreamState& state = record.stream_ref.checked(kSubmit);
    stream.device->backend->record(state.native, record.event.state_->native);
    StreamCounts::add(state.counts.records);
  }
  std::atomic<bool>& locked = mutex_.lock_as(self);  // until nothing can throw
  record.has_event = has_event;
  metrics_.records += has_event ? 1 : 0;
  record.point.ticket = clocks_.advance(stream.index).ticket;
  record.clock.share(clocks_.row(stream.index));
  if (stream.stamped) [[unlikely]]
    record.submitted = stream.device->stamp();
  if (!record.is(kCaptured)) [[likely]] {
    record.state.store(OperationState::kSubmitted, std::memory_order_release);
    (stream.newest != nullptr ? stream.newest->next : stream.oldest) = &record;
    stream.newest = &record;
    record.next = nullptr;
  } else {
    record.state.store(OperationState::kCaptured, std::memory_order_release);
  }
  ++metrics_.submitted;
  stream.last = record.handle();
  StreamCounts::add(stream.state->counts.operations);
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  reports_.submitted(record);
  if (record.special == 0 && !stream.dispatched && !awaited_) [[likely]] {
    locked.store(false, std::memory_order_release);
  } else {
    end_specially(record, from);
  }
}

// Rare tasks at the end of a submission. Called with the lock held; releases it.
void Coordinator::Impl::end_specially(OperationRecord& record, std::uint64_t from) {
  Lock lock(mutex_, std::adopt_lock);
  StreamEntry& stream = *record.entry;
  if (record.is(kCaptured)) {
    ++record.users;
    captured_[record.capture].push_back(&record);
  }
  if (record.is(kWaits)) drop_waits(record);
  if (record.is(kRequested)) submitted_one(record);
  if (record.is(kTimed)) costs_.add(record.cost + ticks() - from);
  const bool dispatched = record.is(kDispatched) || stream.dispatched;
  if (record.is(kMilestone)) housekeep(lock, stream, record);
  if (!watched_.empty()) wake_poller();
  if (!host_waits_.empty() || dispatched) changed_.notify_all();
  awaited_ = !watched_.empty() || !host_waits_.empty() || !ready_.empty();
  if (!ready_.empty()) dispatch(lock);
}

void Coordinator::Impl::abandon(OperationHandle operation,
                                const std::exception_ptr& error) noexcept {
  OperationRecord& record = *operation.record_;
  reports_.leave(record);
  Lock lock(mutex_);
  StreamEntry& stream = *record.entry;
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  drop_waits(record);
  end(record, OperationState::kFailed, error);
  changed_.notify_all();
  dispatch(lock);
}

}  // namespace coord
