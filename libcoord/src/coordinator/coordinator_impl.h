// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a Coordinator. coordinator.cpp is its public interface; the rest is in
//   coordinator_submit.cpp     the path of every operation: registered, begun, finished
//   coordinator_special.cpp    rarely used options of operations
//   coordinator_order.cpp      the required waits, captures, hardware queues
//   coordinator_deferred.cpp   operations that cannot begin yet, groups, cycles, cancelling
//   coordinator_places.cpp     stream positions, to determine what comes after what
//   coordinator_memory.cpp     memory ranges: inferred dependencies, races
//   coordinator_end.cpp        proofs of completion, failures, host waits
//   coordinator_callbacks.cpp  completion callbacks
//   coordinator_report.cpp     state for info(), metrics() and find_deadlocks()
// and in its parts, which own their state:
//   stream_table.h       the streams that it has operations of, and their events
//   clock_table.h        what comes after what
//   wait_set.h           the fewest waits of one operation
//   ready_queue.h        deferred operations that may begin
//   memory_accesses.h    the last readers and writers of memory
//   operation_reports.h  reports to a profiler
//   cost_sample.h        times of submissions
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "clock_table.h"
#include "coord/coordinator.h"
#include "coord/error.h"
#include "cost_sample.h"
#include "device_state.h"
#include "host/poller.h"
#include "host/short_lock.h"
#include "memory_accesses.h"
#include "operation_record.h"
#include "operation_reports.h"
#include "ready_queue.h"
#include "stream_table.h"
#include "wait_graph.h"
#include "wait_set.h"

namespace coord {

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
  PoolUtilization event_utilization() const {
    const Lock lock(mutex_);
    return streams_.event_utilization();
  }
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
  static OperationRecord* live(const OperationHandle& operation) noexcept {
    return OperationRecord::of(operation);
  }
  OperationRecord* find(const OperationHandle& operation, const char* call) const {
    if (!operation.id_.valid() || operation.record_->coordinator != number_) [[unlikely]]
      refuse(operation, call);
    return live(operation);
  }
  void throw_failure(const OperationHandle& operation) const {
    if (failures_.empty()) [[likely]]
      return;
    if (auto found = failures_.find(operation.id_.value); found != failures_.end())
      std::rethrow_exception(found->second);
  }
  [[noreturn]] static void refuse(const OperationHandle& operation, const char* call);
  static bool capture_is_over(const StreamEntry& stream);
  std::string describe(const OperationRecord& record) const;
  TimeNs time_of(std::uint64_t stamp, const OperationRecord& record) const;

  // Order
  void depend(OperationRecord& record, OperationRecord& on, bool inferred);
  void await_submission(OperationRecord& record, OperationRecord& on);
  void infer(OperationRecord& record);
  void judge(OperationRecord& record);
  void note_race(const OperationRecord& earlier, const OperationRecord* later, MemoryRange where);
  void raise(OperationRecord& record, OperationPriority priority);
  std::vector<OperationRecord*> registered_members(const OperationRecord& group);
  bool depends_on(OperationRecord& record, const OperationRecord& on,
                  std::vector<const OperationRecord*>& path) const;
  void submitted_one(OperationRecord& record);
  void submit_group(OperationRecord& group);
  void make_ready(OperationRecord& record);
  void dispatch(Lock& lock);
  static OperationHandle last_of(const StreamEntry& stream);
  bool over_connections(Lock& lock, OperationRecord& record);
  std::size_t blocked_streams(const DeviceState& device);
  bool waits_needed(const OperationRecord& record);
  bool same_capture(const OperationRecord& record, const OperationRecord& before) const;
  void find_waits(StreamEntry& stream, OperationRecord& record, Need need);
  void find_candidates(OperationRecord& record);
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

  // Ends
  void check_to_ask(const OperationRecord& record, const char* call, const std::string& how) const;
  bool ask(Lock& lock, OperationRecord& record, Proof proof);
  void prove(Point point, const ClockRef& clock);
  void end(OperationRecord& record, OperationState state,
           const std::exception_ptr& error = nullptr);
  void end_plain_ones(StreamEntry& stream, std::uint64_t proved, std::uint64_t now);
  void end_captured(std::uint64_t capture);
  void end_group_if_over(OperationRecord& group);
  void fail_dependents(OperationRecord& record);
  void fail_all(const DeviceState& device, const std::exception_ptr& error);
  void drop_user(OperationRecord& record);
  void retire_if_over(OperationRecord& record);
  void retire(OperationRecord& record, bool captured);
  void housekeep(Lock& lock, StreamEntry& stream, OperationRecord& milestone);
  std::size_t deliver(Lock& lock);
  PollResult poll_once();
  void proceed(Lock& lock);
  void expire();
  void ask_watched(Lock& lock);
  void look_at_held(Lock& lock);
  void unlink_and_fail(OperationRecord& record, const std::exception_ptr& error);
  void wake_poller();

  const std::shared_ptr<DeviceState> device_;
  const CoordinatorOptions options_;
  const std::uint32_t number_;

  mutable ShortLock mutex_;  // never held during a call of the backend that may block
  std::condition_variable_any
      changed_;  // an operation was submitted or has ended, a stream is free
  std::uint64_t next_id_ = 0, end_id_ = 0;  // operation ids reserved from the process
  ClockTable clocks_;
  StreamTable streams_;
  OperationTable operations_;
  std::unordered_map<std::uint64_t, std::exception_ptr> failures_;  // by id
  ReadyQueue ready_;
  std::vector<OperationHandle> held_;  // for the hardware queues
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
  WaitSet waits_;  // of the operation that begins
  OperationReports reports_;
  CoordinatorMetrics metrics_;
  CostSample costs_;
  std::shared_ptr<Executor> executor_;
  WaitGraphSource wait_graph_source_;
  std::unique_ptr<PollClient> poller_;  // the last member: ends first
};

// Adds a dependency, unless the operation has it already.
inline void Coordinator::Impl::depend(OperationRecord& record, OperationRecord& on, bool inferred) {
  const OperationHandle dependency = on.handle();
  if (&record == &on || record.after.contains(dependency)) return;
  record.after.push_back(dependency);
  if (inferred) ++metrics_.inferred;
  if (on.unsubmitted()) await_submission(record, on);
}

}  // namespace coord
