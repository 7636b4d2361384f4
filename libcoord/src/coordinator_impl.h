// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The inside of a Coordinator. Its functions are in four files: coordinator.cpp registers and
// submits, coordinator_order.cpp decides what waits for what, coordinator_end.cpp finds out what
// has ended, coordinator_tell.cpp tells a profiler.
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
#include "memory_accesses.h"
#include "nvtx.h"
#include "observer.h"
#include "operation_record.h"
#include "poller.h"
#include "wait_graph.h"

namespace coord {

/// "file:line function".
std::string text_of(const std::source_location& where);

class Coordinator::Impl {
 public:
  Impl(const Device& device, const CoordinatorOptions& options);
  ~Impl();

  // coordinator.cpp
  OperationHandle add(const OperationOptions& options, const std::source_location& where,
                      bool named, bool is_group, bool begin_if_ready, bool& begun);
  void keep(OperationHandle operation, std::function<void(StreamRef)> function);
  void begin(OperationHandle operation);
  void finish(OperationHandle operation);
  void abandon(OperationHandle operation, const std::exception_ptr& error) noexcept;
  void close_group(OperationHandle group);
  bool order_after(StreamRef stream, OperationHandle operation);
  /// The newest operation of each stream that has any and is not over, in their order; an event is
  /// recorded behind those that have none. None of them if each stream comes after all of them
  /// already, and then the first stream's in `all_ordered`.
  std::vector<OperationHandle> newest(const std::vector<StreamRef>& streams,
                                      OperationHandle& all_ordered, std::uint64_t& records);

  // coordinator_order.cpp
  void add_dependency(OperationHandle operation, OperationHandle after);
  bool cancel(OperationHandle operation);
  bool host_access(const MemoryRange& range, Access access);

  // coordinator_end.cpp
  bool completed(OperationHandle operation);
  void wait(OperationHandle operation);
  bool wait_for(OperationHandle operation, Nanoseconds limit);
  void on_complete(OperationHandle operation, std::function<void(Outcome)> callback);
  std::size_t poll();
  void shut_down() noexcept;
  std::optional<OperationInfo> info(OperationHandle operation) const;
  CoordinatorMetrics metrics() const;
  std::vector<Race> races() const;
  PoolUtilization event_utilization() const;
  void tell_waits(WaitGraph& graph) const;
  [[nodiscard]] const std::shared_ptr<DeviceState>& device() const { return device_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Proof { kQuery, kWait };

  struct StreamEntry {
    std::uint64_t id = 0;
    StreamState* state = nullptr;
    EventPool* events = nullptr;
    DeviceState* device = nullptr;
    OperationRecord* oldest = nullptr;  // submitted and not proved, in order
    OperationRecord* newest = nullptr;
    std::uint32_t open = 0;     // operations whose functions run now
    bool dispatched = false;    // one of them is a deferred one, on another's thread maybe
    std::uint64_t capture = 0;  // number of the capture that the stream is part of
    ClockRef outside;           // its row before that
    std::uint64_t count = 0;    // operations submitted
    OperationHandle last;       // of them
    std::deque<std::pair<OperationRecord*, Point>> milestones;
    std::vector<OperationHandle> held_by;  // what its last waits are for
  };
  struct Due {
    std::function<void(Outcome)> callback;
    Outcome outcome;
  };
  struct HostWait {
    std::uint64_t thread;
    OperationHandle operation;
  };

  // Lookup. All with the lock held, as everything private that does not take a Lock.
  OperationRecord* find(OperationHandle operation, const char* call) const;
  OperationHandle handle(OperationRecord& record) const;
  OperationRecord* live(OperationHandle operation) const;
  std::uint32_t stream_index(StreamState& stream);
  std::string describe(const OperationRecord& record) const;
  std::uint64_t stamp(const DeviceState& device) const;
  TimeNs time_of(std::uint64_t stamp, const OperationRecord& record) const;
  std::int64_t observer_time(const DeviceState& device) const;
  void throw_failure(OperationHandle operation) const;

  // Order
  void depend(OperationRecord& record, OperationRecord& on, bool inferred);
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
  bool over_connections(Lock& lock, OperationRecord& record);
  std::size_t blocked_streams(const DeviceState& device);
  bool waits_needed(const OperationRecord& record);
  void find_candidates(OperationRecord& record);
  void place(OperationRecord& record);
  void enter_capture(OperationRecord& record);

  // Submission
  void issue_waits(OperationRecord& record);
  void await_stream(Lock& lock, OperationRecord& record);
  void start(Lock& lock, OperationRecord& record);
  void run_deferred(Lock& lock, OperationRecord& record);

  // What a profiler is told (coordinator_tell.cpp). Without one each is a branch.
  void announce(OperationRecord& record) const {
    if (observer().operation_registered != nullptr) tell_registered(record);
  }
  void tell_dependency(const OperationRecord& record, OperationHandle on, bool inferred) const;
  /// Keeps for enter() why each dependency is waited for or not: before the waits in candidates_
  /// have become part of the stream's clock.
  void note_elisions(OperationRecord& record) {
    if (observer().dependency != nullptr) find_elisions(record);
  }
  /// From here on, what the thread calls belongs to the operation.
  void enter(OperationRecord& record) const {
    if (nvtx_) nvtx::push(record.description.c_str());
    if (observer().operation_begin != nullptr) tell_begun(record);
  }
  /// Back to the operation around it, if there is one.
  void leave(const OperationRecord& record) const {
    if (nvtx_) nvtx::pop();
    if (observer().operation_end != nullptr) tell_left(record);
  }
  void tell_state(const OperationRecord& record) const {
    if (observer().operation_state != nullptr) tell_new_state(record);
  }
  void tell_registered(OperationRecord& record) const;
  std::uint8_t elision(const OperationRecord& record, OperationRecord& before) const;
  void find_elisions(OperationRecord& record);
  void tell_begun(OperationRecord& record) const;
  void tell_left(const OperationRecord& record) const;
  void tell_new_state(const OperationRecord& record) const;

  // Ends
  bool ask(Lock& lock, OperationRecord& record, Proof proof);
  void prove(Point point, const ClockRef& clock);
  void end(OperationRecord& record, OperationState state,
           const std::exception_ptr& error = nullptr);
  void end_captured(std::uint64_t capture);
  void fail_dependants(OperationRecord& record);
  void fail_all(const DeviceState& device, const std::exception_ptr& error);
  void drop_user(OperationRecord& record);
  void retire_if_over(OperationRecord& record);
  void housekeep(Lock& lock, StreamEntry& stream);
  std::size_t deliver(Lock& lock);
  Look look();
  void expire();
  void ask_watched(Lock& lock);
  void look_at_held(Lock& lock);
  void unlink_and_fail(OperationRecord& record, const std::exception_ptr& error);
  void wake_poller();
  void sample_cost(std::uint64_t cost);

  const std::shared_ptr<DeviceState> device_;
  const CoordinatorOptions options_;
  const std::uint64_t number_;
  const bool nvtx_;  // operations are ranges: for profilers that do not know libcoord

  mutable std::mutex mutex_;         // never held during a call of the backend that may block
  std::condition_variable changed_;  // an operation was submitted or has ended, a stream is free
  ClockTable clocks_;
  std::deque<StreamEntry> streams_;
  std::unordered_map<std::uint64_t, std::uint32_t> stream_indices_;  // by stream id
  std::vector<std::pair<std::shared_ptr<DeviceState>, std::unique_ptr<EventPool>>> pools_;
  OperationTable operations_;
  std::unordered_map<std::uint64_t, std::exception_ptr> failures_;  // by id
  std::array<std::deque<OperationHandle>, 5> ready_;                // by effective priority
  std::vector<OperationHandle> held_;                               // for the hardware queues
  std::uint64_t connection_checks_ = 0;
  bool was_over_ = false;
  std::vector<OperationHandle> watched_;    // with callbacks, not ended
  std::vector<OperationHandle> deadlines_;  // with a timeout, not begun
  std::vector<HostWait> host_waits_;
  std::deque<Due> due_;
  std::size_t callbacks_posted_ = 0;  // to the executor, not yet run
  std::uint64_t next_capture_ = 1;
  MemoryAccesses accesses_;
  std::vector<Race> races_;
  std::unordered_map<std::uint64_t, std::vector<OperationRecord*>> captured_;  // by capture
  std::vector<OperationRecord*> candidates_;                                   // scratch of place()
  CoordinatorMetrics metrics_;
  std::array<std::uint64_t, 256> costs_{};  // of a sample of the submissions, in ticks
  std::uint64_t cost_count_ = 0;
  double cost_sum_ = 0;
  std::shared_ptr<Executor> executor_;
  WaitGraphSource wait_graph_source_;
  std::unique_ptr<PollClient> poller_;  // the last member: ends first
};

}  // namespace coord
