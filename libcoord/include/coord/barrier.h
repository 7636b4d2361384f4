// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A point that several streams, of one or several devices, pass together: all their later work
// comes after all earlier work of every one of them. The device waits, not the host.
//
// It uses events that a Coordinator records anyway: N - 1 waits of one stream for the last
// operations of the others, one record, and N - 1 waits for that record, without the waits that are
// already implied; no call at all if no stream has new work since the last barrier. The Coordinator
// and its barriers do not see work that was enqueued outside of operations.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/operation.h"
#include "coord/stream.h"

namespace coord {

struct BarrierMetrics {
  std::uint64_t uses = 0;
  std::uint64_t records = 0;  // made for it
  std::uint64_t waits = 0;    // issued
  std::uint64_t elided = 0;   // waits that were implied
};

/// Reusable. Thread-safe, but calls on one stream need external synchronization. The Coordinator
/// and the streams must outlive it.
class COORD_EXPORT Barrier {
 public:
  /// Throws kInvalidArgument without streams, or if one is named twice.
  Barrier(Coordinator& coordinator, std::span<const StreamRef> streams,
          std::string_view name = "barrier");
  ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// All streams pass the barrier. Enqueues only: at most 2N - 1 records and waits, plus one record
  /// for each stream but the first whose last operation was posted. The returned operation has
  /// completed when all work before the barrier has.
  OperationHandle pass(std::source_location where = std::source_location::current());

  /// For threads that submit to one stream each: blocks the calling thread until all of them have
  /// arrived, that is, have submitted their work; the last one to arrive passes the barrier.
  /// `stream` is one of the barrier's streams and must not have arrived in this round. Throws
  /// kDeadlock if libcoord finds that another participant can never arrive, and what pass() throws.
  OperationHandle arrive_and_wait(StreamRef stream,
                                  std::source_location where = std::source_location::current());

  [[nodiscard]] BarrierMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
