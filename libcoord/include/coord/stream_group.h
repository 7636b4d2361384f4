// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that work together: each runs its work in the order of submission, even while some of it
// waits for work that other streams have not received yet.
//
// Each piece of work is an operation of a Coordinator and gets its position in the stream when it
// is submitted or registered. A stream depends on another stream's work so far, never on the stream
// itself: B after A, and later A after B, is no cycle. Only registered work that is not submitted
// can close a cycle; that throws an error that names its members.
//
// To inspect, cancel or wait for a piece, use the Coordinator with the piece's handle.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/operation.h"
#include "coord/stream.h"

namespace coord {

struct StreamGroupOptions {
  /// Threads of execute_parallel(), started at first use; 0: one per stream, but no more than there
  /// are processors.
  std::size_t threads = 0;
  /// Name of its barriers in traces.
  std::string_view name = "group";
};

/// Thread-safe, but calls on one stream need external synchronization; a barrier is a call on all
/// of them. The Coordinator and the streams must outlive it; submitted work continues after it is
/// destroyed.
class COORD_EXPORT StreamGroup {
 public:
  /// Throws kInvalidArgument without streams, or if one is named twice.
  StreamGroup(Coordinator& coordinator, std::span<const StreamRef> streams,
              const StreamGroupOptions& options = {});
  ~StreamGroup();
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] StreamRef operator[](std::size_t index) const;

  /// Submits a piece of work to the stream of `options`, as Coordinator::submit() does, after all
  /// earlier pieces of the stream: if one of those is not submitted yet, this one is deferred. A
  /// failed dependency of the stream fails this piece, and no later one. Throws kInvalidHandle if
  /// the stream is not of the group.
  template <typename Function>
  OperationHandle submit(const OperationOptions& options, Function&& function,
                         std::source_location where = std::source_location::current()) {
    const OperationHandle piece = coordinator_.submit(
        take_dependencies(options, "StreamGroup::submit"), std::forward<Function>(function), where);
    give(options.stream, piece);
    return piece;
  }
  /// Reserves a position for work whose function follows with Coordinator::submit(piece, function).
  /// Later pieces of the stream come after it.
  [[nodiscard]] OperationHandle register_operation(
      const OperationOptions& options,
      std::source_location where = std::source_location::current());

  /// Later pieces of `stream` come after all pieces of `on` so far. Enqueues nothing by itself, and
  /// never closes a cycle; Coordinator::add_dependency() between registered pieces can, and then
  /// throws kCycle. Throws kInvalidHandle if a stream is not of the group.
  void add_dependency(StreamRef stream, StreamRef on);
  /// The stream's newest piece that has not failed; a null handle if there is none.
  [[nodiscard]] OperationHandle last(StreamRef stream) const;

  /// Later pieces of all streams come after all earlier pieces of every one of them: as
  /// Barrier::pass(), but if some pieces are not submitted yet, the barrier is deferred too.
  OperationHandle barrier(std::source_location where = std::source_location::current());

  /// Submits `pieces[i]` to stream i modulo size(). One of the group's threads submits all pieces
  /// of a stream, with the stream's device current (see CurrentDevice). Returns when all are
  /// submitted or deferred, not when their work has ended. If functions throw, the others are still
  /// submitted, and the first error is thrown. Must not be called by such a function.
  std::vector<OperationHandle> execute_parallel(
      std::span<const std::function<void(StreamRef)>> pieces, std::string_view description = {},
      std::source_location where = std::source_location::current());

  /// Calls `function` on the Coordinator's executor once all pieces so far have ended: with the
  /// outcome of the first that failed or was cancelled, otherwise with that of a completed one.
  void on_complete(std::function<void(Outcome)> function);
  /// Blocks until all pieces so far have ended, then throws the first error, if any; throws
  /// kDeadlock as Coordinator::wait() does.
  void wait();

 private:
  [[nodiscard]] OperationOptions take_dependencies(const OperationOptions& options,
                                                   const char* call);
  void give(StreamRef stream, OperationHandle piece);

  class Impl;
  Coordinator& coordinator_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
