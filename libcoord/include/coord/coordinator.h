// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Submits operations and places exactly the waits that their dependencies need.
//
// A dependency on an operation of another stream or device becomes a wait of the stream, on the
// device; the host never waits for it. A wait that is already implied (by the same stream, by an
// earlier wait through any chain of operations, or by work that the host knows has completed) is
// not issued. A wait covers the operation it names and nothing submitted after it. A dependency on
// an operation that is not submitted yet defers the operation, or is refused; it is never ignored.
//
// Order within a stream is the order in which operations are submitted to it. While a stream is
// being captured, the same program makes a graph with only the edges that its dependencies need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coord/device.h"
#include "coord/event_pool.h"
#include "coord/executor.h"
#include "coord/export.h"
#include "coord/operation.h"

namespace coord {

/// How to treat an operation that depends on one that is not submitted yet.
enum class Unsubmitted {
  kDefer,   // its function is kept and called by the thread that submits the last dependency
  kRefuse,  // kNotPermitted
};

/// How to treat an operation whose waits would block more streams than the device's hardware queues
/// less two: beyond that, streams that wait for nothing may stall or hang.
enum class Connections {
  kReport,  // it is submitted, counted in `over_connections`, and marked in traces
  kHold,    // it is deferred until enough blocked streams resume; except operations of type
            // kSynchronization and kBarrier, which streams rely on immediately
};

struct CoordinatorOptions {
  Unsubmitted unsubmitted = Unsubmitted::kDefer;
  Connections connections = Connections::kReport;
  /// A ready operation rises by one priority level for each interval of this length that it waits.
  Nanoseconds ageing = std::chrono::milliseconds(10);
  /// Where callbacks run; null: Executor::shared().
  std::shared_ptr<Executor> executor{};
  /// Callbacks run in wait(), poll() and the destructor instead, on the calling thread; libcoord
  /// starts no thread.
  bool polled = false;
  /// Minimum number of ended operations whose info() is kept.
  std::size_t history = 1024;
  /// Keeps when each submission ended (OperationInfo::submitted) even without a profiler: costs
  /// about 20 ns per operation.
  bool submission_times = false;
  /// The events that mark the operations' ends.
  EventPoolOptions events{};
};

/// Counts since the Coordinator was created.
struct CoordinatorMetrics {
  std::uint64_t registered = 0;
  std::uint64_t begun = 0;
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;  // proved so far
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t deferred = 0;             // operations whose submission had to wait
  std::uint64_t blocked_now = 0;          // registered, waiting for others to be submitted
  std::uint64_t records = 0;              // events recorded
  std::uint64_t waits_placed = 0;         // stream waits issued
  std::uint64_t waits_elided = 0;         // dependencies that needed no wait
  std::uint64_t inferred = 0;             // dependencies that came from memory ranges
  std::uint64_t races = 0;                // conflicting accesses that nothing orders
  std::uint64_t host_waits = 0;           // event synchronizations by wait()
  std::uint64_t priority_inversions = 0;  // operations raised by a more urgent dependent
  std::uint64_t over_connections = 0;     // operations beyond what the hardware queues allow
  std::uint64_t deadlock_reports = 0;
  // Time that submitting an operation took without its function, for a sample of the operations.
  Nanoseconds coordination_average{0}, coordination_median{0}, coordination_p99{0};
};

/// Two unordered accesses to the same memory, at least one of them a write.
struct Race {
  OperationId earlier, later;  // `later` is empty if it was the host
  MemoryRange range;
  std::string text;  // both operations with their call sites
};

struct BarrierMetrics;

/// Thread-safe, but submissions to one stream need external synchronization. Keeps the devices of
/// its streams open; the streams of its operations must live until those have been submitted.
/// Functions of operations and callbacks may use the Coordinator.
class COORD_EXPORT Coordinator {
 public:
  explicit Coordinator(const Device& device, const CoordinatorOptions& options = {});
  /// Cancels operations that have not begun, waits for operations with pending callbacks, and
  /// returns when these callbacks have run. Not to be called from a callback.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Places the waits for the operation's dependencies, calls `function(options.stream)`, which
  /// enqueues the operation's work and nothing else on that stream, and records its end. Returns
  /// without waiting for the work.
  ///
  /// If a dependency is not submitted yet, `function` is kept (moved or copied, so it must not
  /// refer to objects that end before the call) and called later, on the thread that submits the
  /// last dependency; ready ones in order of priority. If `function` throws, the operation fails;
  /// the exception also propagates if `function` was called at once.
  ///
  /// Throws kInvalidHandle for a null or destroyed stream, or a dependency that is null or of
  /// another Coordinator; the error of a failed dependency; kNotPermitted according to Unsubmitted.
  template <typename Function>
  OperationHandle submit(const OperationOptions& options, Function&& function,
                         std::source_location where = std::source_location::current()) {
    return submit_function(options, address_of(function), kCallsOf<Function>, where, true);
  }
  /// The same without a handle: nothing can depend on the operation or wait for it, so no event is
  /// recorded behind it (unless another operation depends on it through its memory ranges).
  template <typename Function>
  void post(const OperationOptions& options, Function&& function,
            std::source_location where = std::source_location::current()) {
    submit_function(options, address_of(function), kCallsOf<Function>, where, false);
  }

  /// The same in three steps. Operations may depend on one that is only registered.
  [[nodiscard]] OperationHandle register_operation(
      const OperationOptions& options,
      std::source_location where = std::source_location::current());
  /// Adds a dependency to an operation that has not begun. Throws kCycle, with the cycle, if
  /// `after` already depends on it.
  void add_dependency(OperationHandle operation, OperationHandle after);
  /// Places its waits: what the calling thread then enqueues on its stream is its work. Throws
  /// kNotPermitted if a dependency is not submitted yet.
  void begin(OperationHandle operation);
  /// Ends its submission, not its work.
  void complete(OperationHandle operation);

  /// An operation that represents others: those whose options name it as their group. They inherit
  /// its dependencies; depending on it means depending on all of them.
  [[nodiscard]] OperationHandle open_group(
      const OperationOptions& options = {},
      std::source_location where = std::source_location::current());
  /// Closes the group to new members. Until then the group counts as not submitted.
  void close_group(OperationHandle group);

  /// Makes later work of `stream` wait for a submitted operation. Enqueues at most one wait; none
  /// if it is implied. True if one was placed.
  bool order_after(StreamRef stream, OperationHandle operation);

  /// Submits a registered operation, as begin(), `function(stream)` and complete() do; if a
  /// dependency is not submitted yet, `function` is kept as in the other submit().
  void submit(OperationHandle operation, std::function<void(StreamRef)> function);

  /// Cancels an operation that has not begun, and those that depend on it. False if it has begun or
  /// has ended: work on a device cannot be revoked.
  bool cancel(OperationHandle operation);

  /// True once the device has proved that the operation's work has ended. Never blocks. Throws if
  /// it failed.
  [[nodiscard]] bool completed(OperationHandle operation);
  /// Blocks until the operation's work has ended. Throws its error if it failed (kDeviceFailure,
  /// kCancelled and so on), kDeadlock if libcoord finds that it can never end.
  void wait(OperationHandle operation);
  /// Blocks for at most `limit`. False if it had not ended by then.
  [[nodiscard]] bool wait_for(OperationHandle operation, Nanoseconds limit);

  /// Calls `callback` once the operation has completed, failed or been cancelled: on the executor,
  /// never on a thread of the driver. It must not throw, and should not block.
  void on_complete(OperationHandle operation, std::function<void(Outcome)> callback);
  /// Checks which operations with callbacks have ended and, if `polled`, runs the callbacks. Never
  /// waits for the device. Returns how many callbacks became due or ran.
  std::size_t poll();

  /// Declares that the calling thread now reads or writes this memory. True if all conflicting
  /// operations have ended; otherwise the race is added to races().
  bool host_access(MemoryRange range, Access access);
  /// The races found so far, at most the first 1000.
  [[nodiscard]] std::vector<Race> races() const;

  /// Makes no query: a kSubmitted operation may have ended without libcoord having noticed. An
  /// operation whose info is no longer kept is kCompleted or kFailed.
  [[nodiscard]] OperationState state(OperationHandle operation) const;
  /// Information about an operation; empty if it ended too long ago to be kept.
  [[nodiscard]] std::optional<OperationInfo> info(OperationHandle operation) const;
  [[nodiscard]] CoordinatorMetrics metrics() const;
  [[nodiscard]] PoolUtilization event_utilization() const;

 private:
  friend class Barrier;
  friend class Section;
  friend class StreamOrderedAllocator;
  class Impl;

  /// `arrivals`: when each stream's host thread arrived, from arrival_time(); empty: now.
  OperationHandle pass_barrier(const std::vector<StreamRef>& streams, std::string_view name,
                               const std::source_location& where, BarrierMetrics& metrics,
                               std::span<const std::int64_t> arrivals);
  /// For a profiler; 0 without one.
  [[nodiscard]] std::int64_t arrival_time() const;
  /// Description of a stream's newest operation, with its call site; "" if it is no longer kept.
  struct LastOperation {
    std::uint64_t id = 0;
    std::string text;
  };
  [[nodiscard]] LastOperation last_operation(StreamRef stream) const;
  static void notify_barrier(OperationHandle passed, std::span<const StreamRef> streams,
                             std::span<const std::uint32_t> elided, std::string_view name,
                             std::span<const std::int64_t> arrivals);

  // For Repeated. The newest operation of each stream, unless all streams come after all of them;
  // the host's time, as the device sees it.
  [[nodiscard]] std::vector<OperationHandle> newest(const std::vector<StreamRef>& streams);
  [[nodiscard]] bool simulated() const;
  [[nodiscard]] TimeNs now() const;

  /// Calls an operation's function in place, or moves it to the heap for later.
  struct Calls {
    void (*call)(void* function, StreamRef stream);
    std::function<void(StreamRef)> (*keep)(void* function);
  };
  OperationHandle submit_function(const OperationOptions& options, void* function,
                                  const Calls& calls, const std::source_location& where,
                                  bool named);

  template <typename Function>
  static void* address_of(Function& function) {
    return const_cast<void*>(reinterpret_cast<const volatile void*>(std::addressof(function)));
  }
  template <typename Function>
  static std::function<void(StreamRef)> keep(Function&& function) {
    if constexpr (std::is_copy_constructible_v<std::decay_t<Function>>) {
      return std::forward<Function>(function);
    } else {
      auto kept = std::make_shared<std::decay_t<Function>>(std::forward<Function>(function));
      return [kept](StreamRef stream) { (*kept)(stream); };
    }
  }

  /// `Function`: as deduced for a forwarding reference.
  template <typename Function>
  static constexpr Calls kCallsOf{
      [](void* function, StreamRef stream) {
        (*reinterpret_cast<std::remove_reference_t<Function>*>(function))(stream);
      },
      [](void* function) {
        return keep(std::forward<Function>(
            *reinterpret_cast<std::remove_reference_t<Function>*>(function)));
      }};

  std::unique_ptr<Impl> impl_;
};

/// Declares to all Coordinators that the calling thread now reads or writes this memory (see
/// Coordinator::host_access). True if none of them finds a conflict. Thread-safe.
COORD_EXPORT bool host_access(MemoryRange range, Access access);

}  // namespace coord
