// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Submits work to a stream by deadline: of the waiting pieces of work, the one with the earliest
// deadline is submitted next.
//
// Work in a stream can no longer be overtaken. So only a few pieces are in flight at a time, enough
// to keep the device busy; the rest waits here, where later work can still overtake it. Each piece
// is an operation of a Coordinator: others may depend on it, wait for it or cancel it by its
// handle, and traces show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string_view>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/operation.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

struct DeadlineQueueOptions {
  /// Maximum number of pieces in the stream that have not ended. 1 gives the best order, but leaves
  /// the device idle between pieces.
  std::size_t in_flight = 2;
};

/// Counts since the queue was created.
struct DeadlineQueueMetrics {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;  // or cancelled
  std::uint64_t missed = 0;  // completed after their deadline
  Nanoseconds worst_lateness{0};
  std::size_t waiting = 0, in_flight = 0;  // now
};

/// Thread-safe; while it lives, other submissions to the stream need external synchronization. The
/// Coordinator and the stream must outlive it.
class COORD_EXPORT DeadlineQueue {
 public:
  /// Throws kInvalidHandle for a null or destroyed stream, kInvalidArgument if `in_flight` is 0.
  DeadlineQueue(Coordinator& coordinator, StreamRef stream,
                const DeadlineQueueOptions& options = {});
  /// Cancels waiting pieces, and returns when the rest has ended. Not to be called from a function
  /// or callback.
  ~DeadlineQueue();
  DeadlineQueue(const DeadlineQueue&) = delete;
  DeadlineQueue& operator=(const DeadlineQueue&) = delete;

  /// Keeps a piece of work until its turn: then `function` enqueues it on the stream, on this
  /// thread or on one of the Coordinator's executor. `deadline` is a time of the device
  /// (Device::now); equal deadlines run in order of submission. The stream of `options` is the
  /// queue's. A piece whose dependencies are not submitted yet when it is its turn holds its place
  /// among those in flight. What `function` throws fails the piece, not this call. Returns at once.
  OperationHandle submit(TimeNs deadline, std::function<void(StreamRef)> function,
                         const OperationOptions& options = {},
                         std::source_location where = std::source_location::current());

  /// Blocks until all pieces have ended. Then throws the error of the first piece that failed since
  /// the last wait(), if any; throws kDeadlock as Coordinator::wait() does.
  void wait();

  [[nodiscard]] DeadlineQueueMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
