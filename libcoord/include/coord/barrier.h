// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A point that several streams, of one or several devices, pass together: what they get after it
// comes after all that any of them got before it. The device does the waiting, not the host.
//
// It is made of what a Coordinator has recorded anyway: N - 1 waits of one stream for the last
// operations of the others, one record, and N - 1 waits for that, less whatever is implied already;
// nothing at all if no stream got anything since the last barrier. Work that was enqueued outside
// of operations is not known to the Coordinator, nor to its barriers.
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

/// May be used again and again. Thread-safe, but calls on one stream need outside order. The
/// Coordinator and the streams must outlive it.
class COORD_EXPORT Barrier {
 public:
  /// Throws kInvalidArgument without streams, or if one is named twice.
  Barrier(Coordinator& coordinator, std::span<const StreamRef> streams,
          std::string_view name = "barrier");
  ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// All streams pass the barrier. Enqueues only; at most 2N - 1 calls to the driver, and one more
  /// for each stream whose last operation was posted. What is returned has completed when all work
  /// before the barrier has.
  OperationHandle pass(std::source_location where = std::source_location::current());

  /// For threads that submit to one stream each: blocks the calling thread until all of them have
  /// arrived, that is, have submitted their work; the last one lets the streams pass. `stream` is
  /// one of the barrier's, and has not arrived yet this time. Throws kDeadlock if libcoord sees
  /// that another participant can never arrive, and what passing throws.
  OperationHandle arrive_and_wait(StreamRef stream,
                                  std::source_location where = std::source_location::current());

  [[nodiscard]] BarrierMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
