// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A number that only grows, signaled by the host or by a stream, waited for by the host or by a
// stream, in any order of the two calls.
//
// completed() counts a value only when the device or an event has proved that it, and every smaller
// one, was reached; signaled() counts what was promised. On the device a wait for a value that is
// promised becomes a wait for exactly the events that stand for it, which CUDA can see; one for a
// value that nobody has promised yet becomes a wait on a word of page-locked memory.
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

/// Thread-safe, but calls on one stream need outside order. Keeps its device open. Must not be
/// destroyed while a thread waits for it; streams that wait for a value that never came are let go.
class COORD_EXPORT TimelineSignal {
 public:
  /// For the host only: the functions that take a stream throw kNotSupported.
  explicit TimelineSignal(const TimelineOptions& options = {});
  /// For the host, and for streams of any device; its events and its word are of `device`.
  explicit TimelineSignal(const Device& device, const TimelineOptions& options = {});
  ~TimelineSignal();
  TimelineSignal(const TimelineSignal&) = delete;
  TimelineSignal& operator=(const TimelineSignal&) = delete;

  /// The largest value reached, and all smaller ones with it. Some nanoseconds; at most 20 us stale
  /// while anything waits, for which one thread of libcoord takes a processor if that is promised
  /// by a stream; else as of the last wait or try_wait.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return completed_->load(std::memory_order_acquire);
  }
  /// The largest value that a signal was submitted for.
  [[nodiscard]] std::uint64_t signaled() const noexcept;

  /// Reaches `value` at once, or when the smaller values that streams have promised are reached. It
  /// must be larger than signaled(), else kInvalidArgument. Never blocks.
  void signal(std::uint64_t value);
  /// Promises `value`, to be reached when all work now in `stream` has ended, and all smaller
  /// values were reached. Enqueues only. `stream` must be of the timeline's device and not be
  /// captured.
  void signal(StreamRef stream, std::uint64_t value);

  /// True if `value` was reached; asks the device. Never blocks. Throws as wait().
  [[nodiscard]] bool try_wait(std::uint64_t value);
  /// Blocks until `value` was reached: first spinning for some microseconds, then asleep. Throws
  /// what the timeline has failed with, and kDeadlock if it never can be, as far as libcoord knows.
  void wait(std::uint64_t value);
  /// Blocks no longer than `limit`; false if `value` was not reached by then.
  [[nodiscard]] bool wait_for(std::uint64_t value, Nanoseconds limit);
  /// Makes later work of `stream` wait for `value`. Enqueues only; nothing if it was reached
  /// already. A value that is not promised yet blocks a hardware queue, and CUDA cannot see the
  /// order: keep fewer streams so blocked than the device has connections, less two.
  void wait(StreamRef stream, std::uint64_t value);

  /// Nothing will be reached any more: every wait of the host, now or later, throws `error`;
  /// streams that wait for values not promised go on. The first failure stays. A failure of the
  /// device does this by itself.
  void fail(std::exception_ptr error);
  [[nodiscard]] bool failed() const noexcept;

  /// What another process calls import() with. Throws kNotPermitted unless it is shared.
  [[nodiscard]] std::string share_name() const;
  /// The timeline of another process. It may be waited for, by host and streams (with `device`),
  /// and signaled by the host. If the process that made it ends, waits throw kCancelled.
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
