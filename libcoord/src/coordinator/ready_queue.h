// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Deferred operations whose dependencies are submitted, by effective priority.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "coord/operation.h"
#include "coord/types.h"
#include "operation_record.h"

namespace coord {

/// Thread-compatible.
class ReadyQueue {
 public:
  /// One that is already here with another priority moves.
  void add(OperationRecord& record) {
    queues_[static_cast<std::size_t>(record.effective)].push_back(record.handle());
    ++count_;
  }
  /// Possibly only stale entries.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Takes the most urgent operation whose stream is free, or null; one priority level is worth
  /// `ageing` of waiting time until `now`, a stamp.
  OperationRecord* take(std::uint64_t now, Nanoseconds ageing);

 private:
  std::array<std::deque<OperationHandle>, 5> queues_;  // by effective priority
  std::size_t count_ = 0;                              // their entries, stale ones too
};

}  // namespace coord
