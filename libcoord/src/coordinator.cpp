// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Registering and submitting operations.

#include "coord/coordinator.h"

#include <algorithm>

#include "codes.h"
#include "coord/barrier.h"
#include "coordinator_impl.h"
#include "observer.h"
#include "ticks.h"

namespace coord {

namespace {

std::atomic<std::uint64_t> next_coordinator{1};
std::atomic<std::uint64_t> next_operation_id{0};

/// One submission in so many is timed.
constexpr std::uint64_t kCostSample = 32;
/// An event is recorded behind one operation in so many even if nobody needs it, and the device
/// asked about an old one: so what has ended is forgotten without anybody waiting for it.
constexpr std::uint64_t kMilestone = 256;

/// All there are, for host_access().
struct Coordinators {
  std::mutex mutex;
  std::vector<Coordinator*> all;
};
Coordinators& coordinators() {
  static auto* const kept = new Coordinators;  // some may end after static destructors have run
  return *kept;
}

}  // namespace

const char* to_string(OperationType type) noexcept {
  constexpr const char* kNames[] = {"Kernel",    "MemoryTransfer", "Synchronization", "Reduction",
                                    "Broadcast", "AllReduce",      "Barrier"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* to_string(OperationPriority priority) noexcept {
  constexpr const char* kNames[] = {"Critical", "High", "Normal", "Low", "Cleanup"};
  return kNames[static_cast<std::size_t>(priority)];
}

const char* to_string(OperationState state) noexcept {
  constexpr const char* kNames[] = {"registered", "begun",     "submitted", "completed",
                                    "failed",     "cancelled", "captured"};
  return kNames[static_cast<std::size_t>(state)];
}

Coordinator::Impl::Impl(const Device& device, const CoordinatorOptions& options)
    : device_(device.state()),
      options_(options),
      number_(next_coordinator.fetch_add(1)),
      nvtx_(observer().operation_registered == nullptr),
      operations_(options.history),
      executor_(options.executor != nullptr || options.polled ? options.executor
                                                              : Executor::shared()),
      wait_graph_source_([this](WaitGraph& graph) { tell_waits(graph); }) {
  if (!options.polled) poller_ = std::make_unique<PollClient>([this] { return look(); });
}

Coordinator::Impl::~Impl() = default;

// Lookup

// The record of a handle, or null if the operation ended so long ago that another one has it.
OperationRecord* Coordinator::Impl::live(OperationHandle operation) const {
  return operation.record_->id.load(std::memory_order_relaxed) == operation.id_.value
             ? operation.record_
             : nullptr;
}

OperationRecord* Coordinator::Impl::find(OperationHandle operation, const char* call) const {
  if (!operation.id().valid()) throw make_error(kCodeInvalidHandle, call, "the operation is null");
  if (operation.coordinator_ != number_)
    throw make_error(kCodeInvalidHandle, call, "the operation is of another Coordinator");
  return live(operation);
}

OperationHandle Coordinator::Impl::handle(OperationRecord& record) const {
  return {OperationId{record.id.load(std::memory_order_relaxed)}, &record, number_};
}

void Coordinator::Impl::throw_failure(OperationHandle operation) const {
  if (failures_.empty()) return;
  if (auto found = failures_.find(operation.id_.value); found != failures_.end())
    std::rethrow_exception(found->second);
}

std::string Coordinator::Impl::describe(const OperationRecord& record) const {
  std::string text = record.is_group ? "group " : "operation ";
  text += std::to_string(record.id.load(std::memory_order_relaxed));
  if (!record.description.empty()) text += " \"" + record.description + "\"";
  return text + " (" + to_string(record.state.load(std::memory_order_relaxed)) + ", " +
         text_of(record.where) + ")";
}

std::uint64_t Coordinator::Impl::stamp(const DeviceState& device) const {
  return device.simulated ? static_cast<std::uint64_t>(device.backend->now().value) : ticks();
}

TimeNs Coordinator::Impl::time_of(std::uint64_t stamp, const OperationRecord& record) const {
  if (stamp == 0) return {};
  if (record.device->simulated) return {static_cast<std::int64_t>(stamp)};
  return time_of_ticks(stamp);
}

std::int64_t Coordinator::Impl::observer_time(const DeviceState& device) const {
  return device.simulated ? device.backend->now().value : 0;
}

std::uint32_t Coordinator::Impl::stream_index(StreamState& stream) {
  // The stream remembers where it is in the table of the Coordinator that used it last.
  const std::uint64_t id = stream.id.load(std::memory_order_relaxed);
  const std::uint64_t known = stream.coordinator.load(std::memory_order_relaxed);
  if (const auto index = static_cast<std::uint32_t>(known);
      known >> 32 == (number_ & 0xffff'ffff) && index < streams_.size() &&
      streams_[index].id == id) {
    return index;
  }
  const auto [entry, is_new] = stream_indices_.try_emplace(id, 0);
  if (is_new) {
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
    fresh.id = id;
    fresh.state = &stream;
    fresh.device = stream.device;
    const auto same = [&](const auto& pool) { return pool.first.get() == stream.device; };
    auto pool = std::find_if(pools_.begin(), pools_.end(), same);
    if (pool == pools_.end()) {
      const Device device(stream.device->shared_from_this());
      EventPoolOptions events = options_.events;
      pools_.emplace_back(device.state(), std::make_unique<EventPool>(device, events));
      pool = std::prev(pools_.end());
    }
    fresh.events = pool->second.get();
    entry->second = index;
  }
  stream.coordinator.store((number_ & 0xffff'ffff) << 32 | entry->second,
                           std::memory_order_relaxed);
  return entry->second;
}

// Registration

OperationHandle Coordinator::Impl::add(const OperationOptions& options,
                                       const std::source_location& where, bool named, bool is_group,
                                       bool begin_if_ready, bool& begun) {
  constexpr const char* kCall = "Coordinator::submit";
  StreamState* const stream = is_group ? nullptr : &options.stream.checked(kCall);
  Lock lock(mutex_);
  OperationRecord* group = nullptr;
  if (options.group.id().valid()) {
    group = find(options.group, kCall);
    if (group == nullptr || !group->is_group || !group->more().open)
      throw make_error(kCodeInvalidValue, kCall, "the group is closed, or not a group");
  }
  for (OperationHandle after : options.after) {
    const OperationRecord* dependency = find(after, kCall);
    throw_failure(after);
    if (dependency == nullptr || dependency->ended_already()) continue;
    if (!dependency->named)
      throw make_error(kCodeInvalidHandle, kCall, "a posted operation cannot be depended on");
    if (dependency->unsubmitted() && options_.unsubmitted == Unsubmitted::kRefuse && !is_group) {
      throw make_error(kCodeNotPermitted, kCall,
                       "it depends on " + describe(*dependency) + ", which is not submitted");
    }
  }
  const std::uint32_t index = is_group ? 0 : stream_index(*stream);

  OperationRecord& record = operations_.take();
  record.state.store(OperationState::kRegistered, std::memory_order_relaxed);
  const std::uint64_t id = next_operation_id.fetch_add(1, std::memory_order_relaxed);
  record.id.store(id, std::memory_order_release);
  record.type = options.type;
  record.priority = record.effective = options.priority;
  record.is_group = is_group;
  record.has_ranges = !options.reads.empty() || !options.writes.empty();
  record.named = named || record.has_ranges;
  record.has_event = record.dispatched = record.retired = record.announced = false;
  record.users = record.missing = 0;
  record.cost = 0;
  record.stream = index;
  record.capture = 0;
  record.stream_ref = options.stream;
  record.device = is_group ? device_.get() : streams_[index].device;
  record.events = is_group ? nullptr : streams_[index].events;
  record.point = {};
  record.order = record.runner = 0;
  record.created = stamp(*record.device);
  record.begun = record.submitted = record.ended = 0;
  record.after.clear();
  record.dependants.clear();
  record.description.assign(options.description);
  record.where = where;
  record.extra.reset();
  record.timed = metrics_.registered++ % kCostSample == 0;
  const std::uint64_t from = record.timed ? ticks() : 0;

  if (is_group) {
    record.more().open = true;
  } else {
    for (OperationHandle after : options.after) {
      if (OperationRecord* dependency = live(after); dependency != nullptr)
        depend(record, *dependency, false);
    }
  }
  if (group != nullptr) {
    record.more().group = group;
    ++group->users;
    ++group->more().unsubmitted;
    ++group->more().not_ended;
    for (OperationHandle after : group->after) {
      if (OperationRecord* dependency = live(after); dependency != nullptr)
        depend(record, *dependency, false);
    }
  }
  if (is_group) {  // its members inherit these
    for (OperationHandle after : options.after) record.after.push_back(after);
  }
  record.inferred_from = record.after.size();
  if (record.has_ranges) {
    record.more().reads = options.reads;
    record.more().writes = options.writes;
    if (options.infer_dependencies) infer(record);
  }
  record.inferred_to = record.after.size();
  const bool begins = begin_if_ready && record.missing == 0;
  if (!begins) announce(record);
  for (const MemoryRange& range : options.reads)
    record.device->backend->declare_access(static_cast<std::uint32_t>(id), range.address,
                                           range.bytes, false);
  for (const MemoryRange& range : options.writes)
    record.device->backend->declare_access(static_cast<std::uint32_t>(id), range.address,
                                           range.bytes, true);
  if (options.timeout != Nanoseconds::max()) {
    record.more().deadline_ns = monotonic_ns() + options.timeout.count();
    deadlines_.push_back(handle(record));
    wake_poller();
  }
  const OperationHandle result = handle(record);
  begun = false;
  if (begins) {
    await_stream(lock, record);
    const bool over = over_connections(lock, record);
    if (!over || options_.connections == Connections::kReport) {
      start(lock, record);
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
  StreamEntry& stream = streams_[record.stream];
  while (stream.dispatched && stream.open > 0) {
    const bool mine = std::any_of(
        operations_.all().begin(), operations_.all().end(), [&](const OperationRecord& other) {
          return other.state.load(std::memory_order_relaxed) == OperationState::kBegun &&
                 other.stream == record.stream && other.runner == this_thread_number();
        });
    if (mine) return;
    changed_.wait(lock);
  }
}

// Begins the operation's submission: from here on what its thread enqueues is its work.
void Coordinator::Impl::start(Lock& lock, OperationRecord& record) {
  place(record);
  if (record.has_ranges) judge(record);
  lock.unlock();
  enter(record);
  try {
    issue_waits(record);
  } catch (...) {
    abandon(handle(record), std::current_exception());
    throw;
  }
}

void Coordinator::Impl::issue_waits(OperationRecord& record) {
  for (const OperationRecord* before : record.waits) record.stream_ref.wait(before->event);
}

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

void Coordinator::Impl::begin(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::begin";
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  if (record == nullptr || record->is_group ||
      record->state.load() != OperationState::kRegistered ||
      (record->extra != nullptr && record->extra->function)) {
    throw make_error(kCodeNotPermitted, kCall,
                     record == nullptr ? "the operation has ended"
                                       : describe(*record) + " cannot be begun (again)");
  }
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

void Coordinator::Impl::finish(OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::complete";
  OperationRecord& record = *operation.record_;
  if (operation.coordinator_ != number_ || live(operation) == nullptr ||
      record.state.load(std::memory_order_relaxed) != OperationState::kBegun) {
    throw make_error(kCodeNotPermitted, kCall, "the operation was not begun");
  }
  const std::uint64_t from = record.timed ? ticks() : 0;
  EventRef event;
  if (record.named || operation.id_.value % kMilestone == 0) {
    event = record.events->acquire(EventClass::kNoTiming);
    try {
      record.stream_ref.record(event);
    } catch (...) {
      record.events->discard(event);
      throw;
    }
  }
  leave(record);

  Lock lock(mutex_);
  StreamEntry& stream = streams_[record.stream];
  record.event = event;
  record.has_event = event.id().valid();
  record.point = clocks_.advance(record.stream);
  record.clock = clocks_.row(record.stream);
  record.submitted = stamp(*record.device);
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
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  for (OperationRecord* before : record.waits) drop_user(*before);
  record.waits.clear();
  tell_state(record);
  submitted_one(record);
  if (record.timed) sample_cost(record.cost + ticks() - from);
  if (record.capture == 0 && (++stream.count % kMilestone == 0 || operations_.live() > 65536))
    housekeep(lock, stream);
  if (!watched_.empty()) wake_poller();
  if (!host_waits_.empty() || stream.dispatched || record.dispatched) changed_.notify_all();
  dispatch(lock);
}

// Now and then, ask about an old operation of the stream, so that what nobody waits for is
// forgotten.
void Coordinator::Impl::housekeep(Lock& lock, StreamEntry& stream) {
  OperationRecord* const newest = stream.newest;
  if (newest != nullptr && newest->has_event &&
      (stream.milestones.empty() || stream.milestones.back().first != newest)) {
    ++newest->users;
    stream.milestones.emplace_back(newest, newest->point);
  }
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

void Coordinator::Impl::abandon(OperationHandle operation,
                                const std::exception_ptr& error) noexcept {
  OperationRecord& record = *operation.record_;
  leave(record);
  Lock lock(mutex_);
  StreamEntry& stream = streams_[record.stream];
  --stream.open;
  if (stream.open == 0) stream.dispatched = false;
  for (OperationRecord* before : record.waits) drop_user(*before);
  record.waits.clear();
  end(record, OperationState::kFailed, error);
  changed_.notify_all();
  dispatch(lock);
}

// Runs the function of a deferred operation that is ready. The lock is open meanwhile.
void Coordinator::Impl::run_deferred(Lock& lock, OperationRecord& record) {
  const OperationHandle operation = handle(record);
  const StreamRef stream = record.stream_ref;
  std::function<void(StreamRef)> function = std::move(record.more().function);
  record.more().function = nullptr;
  record.dispatched = true;
  streams_[record.stream].dispatched = true;
  try {
    start(lock, record);
    try {
      function(stream);
      finish(operation);
    } catch (...) {
      if (live(operation) != nullptr && record.state.load() == OperationState::kBegun)
        abandon(operation, std::current_exception());
    }
  } catch (...) {
    // Its waits could not be placed: start() has told those who depend on it.
  }
  function = nullptr;
  if (!lock.owns_lock()) lock.lock();
}

void Coordinator::Impl::close_group(OperationHandle group) {
  Lock lock(mutex_);
  OperationRecord* record = find(group, "Coordinator::close_group");
  if (record == nullptr || !record->is_group || !record->more().open)
    throw make_error(kCodeNotPermitted, "Coordinator::close_group", "it is not an open group");
  OperationExtra& extra = record->more();
  extra.open = false;
  if (extra.unsubmitted == 0) {
    record->state.store(OperationState::kSubmitted, std::memory_order_release);
    record->submitted = stamp(*record->device);
    ++metrics_.submitted;
    tell_state(*record);
    submitted_one(*record);
  }
  if (extra.not_ended == 0 && !record->ended_already()) {
    end(*record, extra.error == nullptr ? OperationState::kCompleted : OperationState::kFailed,
        extra.error);
  }
  changed_.notify_all();
  dispatch(lock);
}

bool Coordinator::Impl::order_after(StreamRef stream, OperationHandle operation) {
  constexpr const char* kCall = "Coordinator::order_after";
  StreamState& state = stream.checked(kCall);
  Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  throw_failure(operation);
  if (record == nullptr || record->ended_already()) return false;
  if (record->unsubmitted() || record->is_group || !record->has_event)
    throw make_error(kCodeNotPermitted, kCall, describe(*record) + " has no end to wait for yet");
  const std::uint32_t index = stream_index(state);
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

std::vector<OperationHandle> Coordinator::Impl::newest(const std::vector<StreamRef>& streams,
                                                       OperationHandle& all_ordered,
                                                       std::uint64_t& records) {
  Lock lock(mutex_);
  std::vector<OperationHandle> result;
  std::vector<std::uint32_t> indices;
  for (StreamRef stream : streams) indices.push_back(stream_index(stream.checked("Barrier::pass")));
  for (std::uint32_t index : indices) {
    const OperationHandle last = streams_[index].last;
    OperationRecord* record = last.id().valid() ? live(last) : nullptr;
    if (record != nullptr && !record->ended_already()) result.push_back(last);
  }
  const OperationHandle first = streams_[indices.front()].last;
  const auto ordered = [&](OperationHandle operation) {
    return std::all_of(indices.begin(), indices.end(), [&](std::uint32_t index) {
      return clocks_.implied(index, operation.record_->point);
    });
  };
  const OperationRecord* first_record = first.id().valid() ? live(first) : nullptr;
  const bool first_posted = first_record != nullptr && !first_record->named;
  if (first.id().valid() && !first_posted && std::all_of(result.begin(), result.end(), ordered)) {
    all_ordered = first;
    return {};
  }
  // Nothing can depend on a posted operation; in the stream of the barrier nothing needs to.
  if (first_posted) std::erase(result, first);
  for (OperationHandle operation : result) {
    OperationRecord& record = *operation.record_;
    record.named |= record.has_event;
    if (record.has_event || operation == first) continue;
    ++record.users;
    lock.unlock();
    const EventRef event = record.events->acquire();
    try {
      record.stream_ref.record(event);
    } catch (...) {
      record.events->release(event);
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

void Coordinator::Impl::sample_cost(std::uint64_t cost) {
  costs_[cost_count_++ % costs_.size()] = cost;
  cost_sum_ += static_cast<double>(cost);
}

// The public class

Coordinator::Coordinator(const Device& device, const CoordinatorOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {
  const std::lock_guard lock(coordinators().mutex);
  coordinators().all.push_back(this);
}

Coordinator::~Coordinator() {
  {
    const std::lock_guard lock(coordinators().mutex);
    std::erase(coordinators().all, this);
  }
  impl_->shut_down();
}

bool host_access(MemoryRange range, Access access) {
  const std::lock_guard lock(coordinators().mutex);
  if (coordinators().all.empty()) {
    find_observer();
    tell_access(observer(), COORD_NONE, COORD_NONE, reinterpret_cast<std::uintptr_t>(range.address),
                range.bytes, access == Access::kWrite, 0);
  }
  bool safe = true;
  for (Coordinator* coordinator : coordinators().all)
    safe = coordinator->host_access(range, access) && safe;
  return safe;
}

OperationHandle Coordinator::register_operation(const OperationOptions& options,
                                                std::source_location where) {
  bool begun = false;
  return impl_->add(options, where, true, false, false, begun);
}

OperationHandle Coordinator::open_group(const OperationOptions& options,
                                        std::source_location where) {
  bool begun = false;
  return impl_->add(options, where, true, true, false, begun);
}

void Coordinator::close_group(OperationHandle group) { impl_->close_group(group); }

void Coordinator::add_dependency(OperationHandle operation, OperationHandle after) {
  impl_->add_dependency(operation, after);
}

void Coordinator::begin(OperationHandle operation) { impl_->begin(operation); }

void Coordinator::complete(OperationHandle operation) { impl_->finish(operation); }

bool Coordinator::order_after(StreamRef stream, OperationHandle operation) {
  return impl_->order_after(stream, operation);
}

// The first stream gathers the others, and they wait for it.
OperationHandle Coordinator::pass_barrier(const std::vector<StreamRef>& streams,
                                          std::string_view name, const std::source_location& where,
                                          BarrierMetrics& metrics,
                                          std::span<const std::int64_t> arrivals) {
  OperationHandle passed;
  const std::vector<OperationHandle> newest = impl_->newest(streams, passed, metrics.records);
  if (passed.id().valid()) {
    metrics.elided += 2 * (streams.size() - 1);
    return passed;
  }
  const std::uint64_t placed = impl_->metrics().waits_placed;
  passed = submit(
      {.type = OperationType::kBarrier,
       .priority = OperationPriority::kCritical,
       .stream = streams.front(),
       .after = std::span(newest),
       .description = name},
      [](StreamRef) {}, where);
  ++metrics.records;
  std::vector<std::uint32_t> elided;
  for (std::size_t i = 0; i < streams.size(); ++i)
    elided.push_back(i == 0 || order_after(streams[i], passed) ? 0 : 1);
  tell_barrier(passed, streams, elided, name, arrivals);
  const std::uint64_t waits = impl_->metrics().waits_placed - placed;
  metrics.waits += waits;
  metrics.elided +=
      2 * (streams.size() - 1) - std::min<std::uint64_t>(waits, 2 * (streams.size() - 1));
  return passed;
}

bool Coordinator::cancel(OperationHandle operation) { return impl_->cancel(operation); }

bool Coordinator::completed(OperationHandle operation) { return impl_->completed(operation); }

void Coordinator::wait(OperationHandle operation) { impl_->wait(operation); }

bool Coordinator::wait_for(OperationHandle operation, Nanoseconds limit) {
  return impl_->wait_for(operation, limit);
}

void Coordinator::on_complete(OperationHandle operation, std::function<void(Outcome)> callback) {
  impl_->on_complete(operation, std::move(callback));
}

std::size_t Coordinator::poll() { return impl_->poll(); }

bool Coordinator::host_access(MemoryRange range, Access access) {
  return impl_->host_access(range, access);
}

std::vector<Race> Coordinator::races() const { return impl_->races(); }

std::optional<OperationInfo> Coordinator::info(OperationHandle operation) const {
  return impl_->info(operation);
}

CoordinatorMetrics Coordinator::metrics() const { return impl_->metrics(); }

PoolUtilization Coordinator::event_utilization() const { return impl_->event_utilization(); }

Coordinator::Submission::Submission(Coordinator& coordinator, const OperationOptions& options,
                                    const std::source_location& where, bool named)
    : impl_(*coordinator.impl_) {
  handle_ = impl_.add(options, where, named, false, true, ready_);
}

void Coordinator::Submission::fail() noexcept { impl_.abandon(handle_, std::current_exception()); }

OperationHandle Coordinator::Submission::finish() {
  try {
    impl_.finish(handle_);
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
