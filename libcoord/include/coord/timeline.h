// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A number that only grows. The host or a stream signals it, the host or a stream waits for it, in
// any order of the two calls.
//
// completed() includes a value only when the device or an event has proved that it and every
// smaller one were reached; signaled() includes promised values. On the device, a wait for a
// promised value becomes a wait for exactly the events that represent it, which CUDA can see; a
// wait for a value not promised yet becomes a wait for a word of page-locked memory.
//
// Memory order: whatever happens before a signal happens before the return of a wait it satisfies.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coord/device.h"
#include "coord/executor.h"
#include "coord/export.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

struct TimelineOptions {
  std::uint64_t initial = 0;
  /// Lets other processes of this user import it.
  bool shared = false;
  /// Shown in reports and traces.
  std::string_view name = "timeline";
};

/// Thread-safe, but calls on one stream need external synchronization. Keeps its device open. Must
/// not be destroyed while a thread waits for it; streams that wait for a value never signaled are
/// released.
class COORD_EXPORT TimelineSignal {
 public:
  /// For the host only: the functions that take a stream throw kNotSupported.
  explicit TimelineSignal(const TimelineOptions& options = {});
  /// For the host and streams of any device; its events and its word belong to `device`.
  explicit TimelineSignal(const Device& device, const TimelineOptions& options = {});
  ~TimelineSignal();
  TimelineSignal(const TimelineSignal&) = delete;
  TimelineSignal& operator=(const TimelineSignal&) = delete;

  /// The largest value reached, with all smaller ones. Takes a few nanoseconds. At most 20 us stale
  /// while anything waits (if a stream has promised the awaited value, a libcoord thread occupies a
  /// processor for this); otherwise as of the last wait or try_wait.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return completed_->load(std::memory_order_acquire);
  }
  /// The largest value for which a signal was submitted.
  [[nodiscard]] std::uint64_t signaled() const noexcept;

  /// Reaches `value` at once, or when smaller values promised by streams are reached. It must be
  /// larger than signaled(); otherwise throws kInvalidArgument. Never blocks.
  void signal(std::uint64_t value);
  /// Promises `value`, to be reached when all work now in `stream` has ended and all smaller values
  /// are reached. Enqueues only. `stream` must be of the timeline's device and not be captured.
  void signal(StreamRef stream, std::uint64_t value);

  /// True if `value` was reached; queries the device. Never blocks. Throws as wait() does.
  [[nodiscard]] bool try_wait(std::uint64_t value);
  /// Blocks until `value` is reached: spins for a few microseconds, then sleeps. Throws the error
  /// if the timeline has failed, and kDeadlock if libcoord finds that `value` can never be reached.
  void wait(std::uint64_t value);
  /// Blocks for at most `limit`; false if `value` was not reached by then.
  [[nodiscard]] bool wait_for(std::uint64_t value, Nanoseconds limit);
  /// Makes later work of `stream` wait for `value`. Enqueues only; nothing if it was already
  /// reached. Waiting for a value not promised yet blocks a hardware queue, and CUDA cannot see the
  /// order: block fewer streams this way than the device's connections less two.
  void wait(StreamRef stream, std::uint64_t value);

  /// No further value is reached: every current or later host wait throws `error`; streams that
  /// wait for values not promised resume. The first failure is kept. A device failure does this
  /// automatically.
  void fail(const std::exception_ptr& error);
  [[nodiscard]] bool failed() const noexcept;

  /// The argument of import() in another process. Throws kNotPermitted unless it is shared.
  [[nodiscard]] std::string share_name() const;
  /// Opens the timeline of another process. The host and streams (with `device`) may wait for it,
  /// and the host may signal it. If the process that created it ends, waits throw kCancelled.
  [[nodiscard]] static std::unique_ptr<TimelineSignal> import(const std::string& share_name);
  [[nodiscard]] static std::unique_ptr<TimelineSignal> import(const std::string& share_name,
                                                              const Device& device);

 private:
  class Impl;
  explicit TimelineSignal(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  const std::atomic<std::uint64_t>* completed_;
};

}  // namespace coord
