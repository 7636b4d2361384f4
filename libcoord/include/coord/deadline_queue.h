// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Gives a stream the most pressing work first: pieces of work have deadlines, and of those that
// wait the one with the earliest deadline is submitted next.
//
// What a stream has been given cannot be overtaken any more. So only a few pieces are on their way
// at a time, enough that the device does not run dry; the rest waits here, where later work may
// still come first. Each piece is an operation of a Coordinator: others may depend on it, wait for
// it or cancel it by its handle, and traces show it.
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
  /// Pieces that the stream has been given and that have not ended, at most. 1 lets nothing be
  /// overtaken that could be, and leaves the device idle between pieces.
  std::size_t in_flight = 2;
};

/// Counts since the queue was made.
struct DeadlineQueueMetrics {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;  // or cancelled
  std::uint64_t missed = 0;  // of those completed: after their deadline
  Nanoseconds worst_lateness{0};
  std::size_t waiting = 0, in_flight = 0;  // now
};

/// Thread-safe; while it lives, nobody else submits to the stream without outside order. The
/// Coordinator and the stream must outlive it.
class COORD_EXPORT DeadlineQueue {
 public:
  /// Throws kInvalidHandle for a null or destroyed stream, kInvalidArgument for no piece in flight.
  DeadlineQueue(Coordinator& coordinator, StreamRef stream,
                const DeadlineQueueOptions& options = {});
  /// Cancels what waits, and returns when the rest has ended. Not to be called from a function or
  /// callback.
  ~DeadlineQueue();
  DeadlineQueue(const DeadlineQueue&) = delete;
  DeadlineQueue& operator=(const DeadlineQueue&) = delete;

  /// Keeps a piece of work until it is its turn: then `function` enqueues it on the stream, on this
  /// thread or on one of the Coordinator's executor. `deadline` is a time of the device
  /// (Device::now); of equal ones the first to come is first. The stream of `options` is the
  /// queue's. A piece whose dependencies are not submitted yet when it is its turn holds its place
  /// among those in flight. What `function` throws fails the piece, not this call. Returns at once.
  OperationHandle submit(TimeNs deadline, std::function<void(StreamRef)> function,
                         const OperationOptions& options = {},
                         std::source_location where = std::source_location::current());

  /// Blocks until all pieces have ended. Throws what the first that failed since the last wait()
  /// failed with, when all have ended; and kDeadlock as Coordinator::wait() does.
  void wait();

  [[nodiscard]] DeadlineQueueMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
