// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that work together: each keeps the order in which it was given its work, also while some
// of it waits for what other streams have not been given yet.
//
// Each piece of work is an operation of a Coordinator and takes its place in the stream when it is
// submitted or registered. A stream depends on what another one has been given by then, never on
// the stream as such: B after A, and later A after B, is no cycle. Only work that is registered and
// not submitted can close one; that is refused, with its members named.
//
// What is known about a piece, cancelling it, waiting for it: ask the Coordinator, by its handle.
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
  /// Of execute_parallel(), started at its first use; 0: one for each stream, but not more than
  /// there are processors.
  std::size_t threads = 0;
  /// Of its barriers, in traces.
  std::string_view name = "group";
};

/// Thread-safe, but calls on one stream need outside order; a barrier is a call on all of them. The
/// Coordinator and the streams must outlive it; what they were given goes on without it.
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

  /// Gives the stream of `options` a piece of work, as Coordinator::submit() does, after all that
  /// it was given before: if some of that is not submitted yet, neither is this. A dependency of
  /// the stream that has failed fails this piece, and no later one. Throws kInvalidHandle if the
  /// stream is not of the group.
  template <typename Function>
  OperationHandle submit(const OperationOptions& options, Function&& function,
                         std::source_location where = std::source_location::current()) {
    const OperationHandle piece = coordinator_.submit(
        take_dependencies(options, "StreamGroup::submit"), std::forward<Function>(function), where);
    give(options.stream, piece);
    return piece;
  }
  /// Keeps a place for work whose function follows: Coordinator::submit(piece, function). What the
  /// stream is given from now on comes after it.
  [[nodiscard]] OperationHandle register_operation(
      const OperationOptions& options,
      std::source_location where = std::source_location::current());

  /// What `stream` is given from now on comes after all that `on` has been given. Enqueues nothing
  /// by itself, and never closes a cycle; between registered pieces Coordinator::add_dependency()
  /// can, and throws kCycle. Throws kInvalidHandle if a stream is not of the group.
  void add_dependency(StreamRef stream, StreamRef on);
  /// The newest piece that the stream was given and that has not failed; none if there is none.
  [[nodiscard]] OperationHandle last(StreamRef stream) const;

  /// What the streams are given from now on comes after all that any of them has been given: as
  /// Barrier::pass(), but also if some of it is not submitted yet, and then is not either.
  OperationHandle barrier(std::source_location where = std::source_location::current());

  /// Submits `pieces[i]` to stream i modulo size(), each stream's by one of the group's threads, on
  /// which the stream's device is current (see CurrentDevice). Returns when all are submitted or
  /// deferred, not when their work has ended. If functions throw, the others are submitted all the
  /// same, and the error of the first is thrown. Not to be called by one of them.
  std::vector<OperationHandle> execute_parallel(
      std::span<const std::function<void(StreamRef)>> pieces, std::string_view description = {},
      std::source_location where = std::source_location::current());

  /// Calls `function` once all that the streams have been given so far has ended, on the
  /// Coordinator's executor: with the first that failed or was cancelled, else with one that
  /// completed.
  void on_complete(std::function<void(Outcome)> function);
  /// Blocks until all that the streams have been given so far has ended. Throws the first error,
  /// when all has; and kDeadlock as Coordinator::wait() does.
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
