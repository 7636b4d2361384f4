// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a Coordinator. coordinator.cpp is its public interface; the rest is in
//   coordinator_submit.cpp     the path of every operation: registered, begun, finished
//   coordinator_special.cpp    rarely used options of operations
//   coordinator_streams.cpp    the streams that it has operations of, and their events
//   coordinator_order.cpp      the required waits, captures, hardware queues
//   coordinator_deferred.cpp   operations that cannot begin yet, groups, cycles, cancelling
//   coordinator_places.cpp     stream positions, to determine what comes after what
//   coordinator_memory.cpp     memory ranges: inferred dependencies, races
//   coordinator_end.cpp        proofs of completion, failures, host waits
//   coordinator_callbacks.cpp  completion callbacks
//   coordinator_report.cpp     state for info(), metrics() and find_deadlocks()
//   coordinator_notify.cpp     notifications to a profiler
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clock_table.h"
#include "coord/coordinator.h"
#include "coord/deadlock.h"
#include "coord/error.h"
#include "device_state.h"
#include "host/poller.h"
#include "host/short_lock.h"
#include "host/ticks.h"
#include "memory_accesses.h"
#include "nvtx.h"
#include "observer.h"
#include "operation_record.h"
#include "wait_graph.h"

namespace coord {

/// An event is recorded behind one in this many operations even if it is not needed, and the device
/// is queried for an old one: so ended operations are retired even if no one waits for them.
inline constexpr std::uint64_t kMilestoneEvery = 256;

/// "file:line function".
std::string text_of(const std::source_location& where);

/// The events for operations of one device. Events that may be recorded again are kept as spares
/// under the Coordinator's lock, so that most operations do not need the pool.
struct DeviceEvents {
  std::shared_ptr<DeviceState> device;
  std::unique_ptr<EventPool> pool;
  std::atomic<std::size_t>* spare_count = nullptr;  // of the pool; they do not count as in use
  std::array<EventRef, 2 * kMilestoneEvery> spare;

  /// A spare one, or none.
  EventRef take() noexcept {
    const std::size_t count = spare_count->load(std::memory_order_relaxed);
    if (count == 0) [[unlikely]]
      return {};
    spare_count->store(count - 1, std::memory_order_relaxed);
    return spare[count - 1];
  }
  void give_back(EventRef event) {
    const std::size_t count = spare_count->load(std::memory_order_relaxed);
    if (count == spare.size()) [[unlikely]]
      return pool->release(event);
    spare[count] = event;
    spare_count->store(count + 1, std::memory_order_relaxed);
  }
};

/// A kind of operations that the observer knows by a number: those of one stream that differ only
/// in number, stamps and dependencies.
struct alignas(64) KnownKind {
  static constexpr std::uint32_t kNone = 0, kMaking = ~0u;
  std::atomic<std::uint32_t> number{kNone};  // kMaking until all other fields are set
  // Not adjacent, so that an operation's bytes are compared as they were written: one by one.
  OperationType type{};
  std::uint8_t text_bytes = 0;
  OperationPriority priority{};
  std::source_location where;
  std::array<char, 32> text{};  // the description
};
/// By call site. The first kind at a place keeps it, so an entry never changes.
using KnownKinds = std::array<KnownKind, 8>;

/// A stream that a Coordinator has operations of. Addresses stay.
struct StreamEntry {
  std::uint64_t id = 0;
  std::uint32_t index = 0;
  std::uint32_t context = 0;  // of its device
  StreamState* state = nullptr;
  DeviceEvents* events = nullptr;
  DeviceState* device = nullptr;
  OperationRecord* oldest = nullptr;  // submitted and not proved to have ended, in order
  OperationRecord* newest = nullptr;
  std::uint32_t open = 0;   // operations whose functions run now
  bool dispatched = false;  // one of them is deferred, possibly on another thread
  bool stamped = false;     // the ends of its submissions are stamped
  std::uint64_t until_milestone = kMilestoneEvery;  // operations begun, outside of captures
  std::uint64_t capture = 0;     // number of the capture that the stream is part of
  OperationHandle last;          // of its operations
  ClockRef outside;              // its row before the capture
  OperationHandle outside_last;  // `last` before that
  std::deque<std::pair<OperationRecord*, Point>> milestones;
  std::vector<OperationHandle> held_by;     // operations its last waits are for
  std::unique_ptr<KnownKinds> known_kinds;  // null if the observer does not want any
};

class Coordinator::Impl {
 public:
  Impl(const Device& device, const CoordinatorOptions& options);
  ~Impl();

  // coordinator_submit.cpp
  /// How an operation is created.
  enum class Entry {
    kSubmitted,   // it begins at once if possible
    kRegistered,  // it begins with begin()
    kGroup,       // it only represents others
  };
  OperationHandle submit(const OperationOptions& options, void* function, const Calls& calls,
                         const std::source_location& where, bool named);
  template <Entry entry>
  OperationHandle add(const OperationOptions& options, const std::source_location& where);
  void begin(OperationHandle operation);
  void finish(const OperationHandle& operation);

  // coordinator_order.cpp
  bool order_after(StreamRef stream, OperationHandle operation);
  /// The newest unended operation of each stream that has one, in stream order; an event is
  /// recorded behind those without one. Empty if each stream already comes after all of them; then
  /// `all_ordered` is the first stream's.
  std::vector<OperationHandle> newest(const std::vector<StreamRef>& streams,
                                      OperationHandle& all_ordered, std::uint64_t& records);
  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }

  // coordinator_deferred.cpp
  void keep(OperationHandle operation, std::function<void(StreamRef)> function);
  void submit_registered(OperationHandle operation, std::function<void(StreamRef)> function);
  void close_group(OperationHandle group);
  void add_dependency(OperationHandle operation, OperationHandle after);
  bool cancel(OperationHandle operation);

  // coordinator_memory.cpp
  std::vector<Race> races() const;
  bool host_access(const MemoryRange& range, Access access);

  // coordinator_end.cpp
  bool completed(OperationHandle operation);
  void wait(OperationHandle operation);
  bool wait_for(OperationHandle operation, Nanoseconds limit);

  // coordinator_places.cpp
  /// Position of a stream: after all operations that were submitted to it or are being submitted.
  struct StreamPlace {
    std::uint32_t stream = 0;
    std::uint64_t ticket = 0;
    std::uint64_t capture = 0;  // the capture it is part of
    OperationHandle last;       // an operation at that position; may be null
    [[nodiscard]] Point point() const noexcept { return {stream, ticket}; }
  };
  [[nodiscard]] static StreamState& state_of(StreamRef stream, const char* call) {
    return stream.checked(call);
  }
  [[nodiscard]] StreamPlace place_of(StreamState& stream);
  /// Whether the next work of a stream, from `place` on, comes after a point or an operation, or
  /// the host knows that it has ended. Makes no driver call.
  [[nodiscard]] bool comes_after(const StreamPlace& place, Point point) const;
  [[nodiscard]] bool comes_after(const StreamPlace& place, const OperationHandle& operation) const;
  [[nodiscard]] bool known_ended(Point point) const;
  [[nodiscard]] bool known_ended(const OperationHandle& operation) const;
  /// Whether order_after() can place a wait for it.
  [[nodiscard]] bool can_order_after(const OperationHandle& operation) const;
  /// Throws unless it belongs to this Coordinator.
  void check(const OperationHandle& operation, const char* call) const;

  // coordinator_callbacks.cpp
  void on_complete(OperationHandle operation, std::function<void(Outcome)> callback);
  std::size_t poll();
  void shut_down() noexcept;

  // coordinator_report.cpp
  [[nodiscard]] OperationState state(OperationHandle operation) const;
  std::optional<OperationInfo> info(OperationHandle operation) const;
  CoordinatorMetrics metrics() const;
  LastOperation last_operation(StreamRef stream) const;
  PoolUtilization event_utilization() const;
  void notify_waits(WaitGraph& graph) const;

 private:
  using Lock = std::unique_lock<ShortLock>;
  static constexpr const char* kSubmit = "Coordinator::submit";
  enum class Proof { kQuery, kWait };

  /// What a dependency requires of an operation that is about to begin, in ascending order.
  enum class Need {
    kNothing,     // it has ended, or its order is implied
    kOrder,       // possibly a wait
    kSubmission,  // the dependency must be submitted first
  };

  struct Due {
    std::function<void(Outcome)> callback;
    Outcome outcome;
  };
  struct HostWait {
    std::uint64_t thread;
    OperationHandle operation;
  };

  // Lookup. All with the lock held, like every private function that does not take a Lock.
  /// The record of a handle, or null if it has been reused for another operation.
  static OperationRecord* live(const OperationHandle& operation) noexcept {
    return operation.record_->id.load(std::memory_order_relaxed) == operation.id_.value
               ? operation.record_
               : nullptr;
  }
  OperationRecord* find(const OperationHandle& operation, const char* call) const {
    if (!operation.id_.valid() || operation.record_->coordinator != number_) [[unlikely]]
      refuse(operation, call);
    return live(operation);
  }
  OperationHandle handle(OperationRecord& record) const noexcept {
    return {OperationId{record.id.load(std::memory_order_relaxed)}, &record};
  }
  void throw_failure(const OperationHandle& operation) const {
    if (failures_.empty()) [[likely]]
      return;
    if (auto found = failures_.find(operation.id_.value); found != failures_.end())
      std::rethrow_exception(found->second);
  }
  /// How many of the device's hardware queues may be blocked.
  static std::size_t connections_limit(const DeviceState& device) noexcept {
    const std::uint32_t connections = device.max_connections;
    return connections > 3 ? connections - 2 : 1;
  }
  [[noreturn]] static void refuse(const OperationHandle& operation, const char* call);
  /// A stream's entry in the table; fast for the one used last.
  StreamEntry& stream_entry(StreamState& stream) {
    StreamEntry* const known = last_stream_;
    if (known != nullptr && known->id == stream.id.load(std::memory_order_relaxed)) [[likely]]
      return *known;
    return find_stream(stream);
  }
  StreamEntry& find_stream(StreamState& stream);
  std::uint32_t stream_index(StreamState& stream);
  static bool capture_is_over(const StreamEntry& stream);
  std::uint32_t add_stream(StreamState& stream);
  DeviceEvents& events_of(DeviceState& device);
  std::string describe(const OperationRecord& record) const;
  TimeNs time_of(std::uint64_t stamp, const OperationRecord& record) const;

  // Order
  void depend(OperationRecord& record, OperationRecord& on, bool inferred);
  void await_submission(OperationRecord& record, OperationRecord& on);
  void infer(OperationRecord& record);
  void judge(const OperationRecord& record);
  void note_race(const OperationRecord& earlier, const OperationRecord* later, MemoryRange where);
  void raise(OperationRecord& record, OperationPriority priority);
  bool depends_on(OperationRecord& record, const OperationRecord& on,
                  std::vector<const OperationRecord*>& path) const;
  void submitted_one(OperationRecord& record);
  void make_ready(OperationRecord& record);
  OperationRecord* next_ready();
  void dispatch(Lock& lock);
  static OperationHandle last_of(const StreamEntry& stream);
  bool over_connections(Lock& lock, OperationRecord& record);
  std::size_t blocked_streams(const DeviceState& device);
  bool waits_needed(const OperationRecord& record);
  bool same_capture(const OperationRecord& record, const OperationRecord& before) const;
  void find_waits(StreamEntry& stream, OperationRecord& record, Need need);
  void find_candidates(OperationRecord& record);
  void drop_what_is_brought();
  void place(StreamEntry& stream, OperationRecord& record, Need need, std::uint64_t self);
  void take_waits(StreamEntry& stream, OperationRecord& record);
  void enter_capture(OperationRecord& record, bool capturing);

  // Submission
  void issue_waits(OperationRecord& record);
  void drop_waits(OperationRecord& record);
  template <Entry entry>
  Need need_of(const OperationRecord& on, const StreamEntry* stream) const;
  [[noreturn]] void refuse_dependency(const OperationRecord& on) const;
  template <Entry entry>
  Need check_dependencies(const Dependencies& after, const StreamEntry* stream, bool& again) const;
  void take_ids();
  template <Entry entry>
  OperationRecord& fresh_record(const OperationOptions& options, StreamEntry* stream,
                                const std::source_location& where, bool named, bool timed);
  template <Entry entry>
  OperationRecord& enlist(const OperationOptions& options, StreamEntry* stream,
                          const std::source_location& where, bool named, bool timed, Need& need);
  void check_special(const OperationOptions& options) const;
  void join_group(OperationRecord& record, OperationRecord& group);
  Need take_special(OperationRecord& record, const OperationOptions& options, Need need);
  void declare_special(OperationRecord& record, const OperationOptions& options);
  void await_stream(Lock& lock, OperationRecord& record);
  bool may_begin(Lock& lock, OperationRecord& record);
  void put_off(OperationRecord& record);
  bool clear_to_begin(Lock& lock, OperationRecord& record);
  void end_submission(StreamEntry& stream, OperationRecord& record, std::uint64_t self);
  void abandon(OperationHandle operation, const std::exception_ptr& error) noexcept;
  void end_specially(OperationRecord& record, std::uint64_t from);
  void check_to_begin(const OperationRecord* record, const char* call) const;
  void start(Lock& lock, OperationRecord& record);
  void issue(OperationRecord& record);
  void run_deferred(Lock& lock, OperationRecord& record);

  // Notifications to a profiler (coordinator_notify.cpp). Without one each costs a branch.
  void announce(OperationRecord& record) const {
    if (is_observed()) notify_registered(record);
  }
  void notify_dependency(const OperationRecord& record, OperationHandle on, bool inferred) const;
  /// Stores for enter() why each dependency needs a wait or not, before the waits in candidates_
  /// become part of the stream's clock.
  void note_elisions(OperationRecord& record) {
    if (listened_ && is_observed()) find_elisions(record);
  }
  /// From here on, the thread's calls belong to the operation.
  void enter(OperationRecord& record) {
    if (!listened_) [[likely]]
      return;
    if (nvtx_) nvtx::push(record.name());
    if (is_observed()) notify_begun(record);
  }
  /// Returns to the enclosing operation, if there is one.
  void leave(const OperationRecord& record) const {
    if (!listened_) [[likely]]
      return;
    if (nvtx_) nvtx::pop();
    if (is_observed()) notify_left(record);
  }
  /// The end of a submission: reports its state, and what leave() reports.
  void notify_submission(const OperationRecord& record) {
    if (listened_) [[unlikely]]
      notify_end_of_submission(record);
  }
  void notify_state(const OperationRecord& record) {
    if (listened_ && is_observed()) [[unlikely]]
      notify_new_state(record);
  }
  /// One of several that have completed: notify_completed() reports them together.
  void notify_one_completed(const OperationRecord& record) {
    if (!listened_) [[likely]]
      return;
    if (completed_device_ != record.device) [[unlikely]]
      return notify_first_completed(record);
    completed_ids_.push_back(static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed)));
    completed_stamp_ = record.ended;
  }
  /// Call after the last of several operation ends.
  void notify_completed() {
    if (completed_device_ != nullptr) [[unlikely]]
      notify_all_completed();
  }
  void notify_registered(OperationRecord& record) const;
  std::uint8_t elision(const OperationRecord& record, OperationRecord& before) const;
  void find_elisions(OperationRecord& record);
  void notify_begun(OperationRecord& record);
  void notify_begun_at_length(OperationRecord& record);
  void notify_announced_begun(OperationRecord& record);
  void notify_left(const OperationRecord& record) const;
  void notify_end_of_submission(const OperationRecord& record);
  void notify_new_state(const OperationRecord& record);
  void notify_first_completed(const OperationRecord& record);
  void notify_all_completed();

  // Ends
  bool ask(Lock& lock, OperationRecord& record, Proof proof);
  void prove(Point point, const ClockRef& clock);
  void end(OperationRecord& record, OperationState state,
           const std::exception_ptr& error = nullptr);
  void end_plain_ones(StreamEntry& stream, std::uint64_t proved, std::uint64_t now);
  void end_captured(std::uint64_t capture);
  void fail_dependents(OperationRecord& record);
  void fail_all(const DeviceState& device, const std::exception_ptr& error);
  void drop_user(OperationRecord& record);
  void retire_if_over(OperationRecord& record);
  void retire(OperationRecord& record, bool captured);
  void housekeep(Lock& lock, StreamEntry& stream, OperationRecord& milestone);
  std::size_t deliver(Lock& lock);
  PollResult poll_once();
  void expire();
  void ask_watched(Lock& lock);
  void look_at_held(Lock& lock);
  void unlink_and_fail(OperationRecord& record, const std::exception_ptr& error);
  void wake_poller();
  void sample_cost(std::uint64_t cost);

  const std::shared_ptr<DeviceState> device_;
  const CoordinatorOptions options_;
  const std::uint32_t number_;
  const bool nvtx_;      // operations are NVTX ranges, for profilers without libcoord support
  const bool listened_;  // by any profiler
  const bool stamps_submissions_;

  mutable ShortLock mutex_;  // never held during a call of the backend that may block
  std::condition_variable_any
      changed_;  // an operation was submitted or has ended, a stream is free
  std::uint64_t next_id_ = 0, end_id_ = 0;  // operation ids reserved from the process
  ClockTable clocks_;
  std::deque<StreamEntry> streams_;
  StreamEntry* last_stream_ = nullptr;                               // used last
  bool crowded_ = false;                                             // more than hardware queues
  std::unordered_map<std::uint64_t, std::uint32_t> stream_indices_;  // by stream id
  std::deque<DeviceEvents> events_;                                  // of each device
  OperationTable operations_;
  std::unordered_map<std::uint64_t, std::exception_ptr> failures_;  // by id
  std::array<std::deque<OperationHandle>, 5> ready_;                // by effective priority
  std::size_t ready_count_ = 0;                                     // entries of ready_
  std::vector<OperationHandle> held_;                               // for the hardware queues
  std::uint64_t connection_checks_ = 0;
  bool was_over_ = false;
  std::vector<OperationHandle> watched_;    // with callbacks, not ended
  std::vector<OperationHandle> deadlines_;  // with a timeout, not begun
  std::vector<HostWait> host_waits_;
  bool awaited_ = false;  // there may be entries in ready_, watched_ or host_waits_
  std::deque<Due> due_;
  std::size_t callbacks_posted_ = 0;  // to the executor, not yet run
  std::uint64_t next_capture_ = 1;
  MemoryAccesses accesses_;
  std::vector<Race> races_;
  std::unordered_map<std::uint64_t, std::vector<OperationRecord*>> captured_;  // by capture
  std::vector<OperationRecord*> candidates_, kept_;                            // scratch of place()
  std::vector<std::uint32_t> completed_ids_;       // about to be reported, all of one device
  const DeviceState* completed_device_ = nullptr;  // theirs; null if there are none
  std::uint64_t completed_stamp_ = 0;
  CoordinatorMetrics metrics_;
  std::array<std::uint64_t, 256> costs_{};  // of a sample of the submissions, in ticks
  std::uint64_t cost_count_ = 0;
  double cost_sum_ = 0;
  std::shared_ptr<Executor> executor_;
  WaitGraphSource wait_graph_source_;
  std::unique_ptr<PollClient> poller_;  // the last member: ends first
};

// Adds a dependency, unless the operation has it already.
inline void Coordinator::Impl::depend(OperationRecord& record, OperationRecord& on, bool inferred) {
  const OperationHandle dependency = handle(on);
  if (&record == &on || record.after.contains(dependency)) return;
  record.after.push_back(dependency);
  if (inferred) ++metrics_.inferred;
  if (on.unsubmitted()) await_submission(record, on);
}

}  // namespace coord
