// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a Coordinator keeps of one operation, and the table of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clock_table.h"
#include "coord/operation.h"

namespace coord {

struct DeviceState;
class EventPool;

/// What few operations have.
struct OperationExtra {
  std::function<void(StreamRef)> function;  // of a deferred operation
  std::vector<std::function<void(Outcome)>> callbacks;
  std::exception_ptr error;
  std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC; 0: none
  std::vector<MemoryRange> reads, writes;
  OperationRecord* group = nullptr;
  // Of a group:
  bool open = false;
  std::uint32_t unsubmitted = 0, not_ended = 0;
  std::vector<OperationRecord*> last;  // the last member of each stream; used, see `users`
};

/// A slot of the table; a new id makes it a new operation. All under the Coordinator's lock but for
/// id and state, which may be read without.
struct OperationRecord {
  std::atomic<std::uint64_t> id{OperationId::kNone};
  std::atomic<OperationState> state{OperationState::kRegistered};
  OperationType type = OperationType::kKernel;
  OperationPriority priority = OperationPriority::kNormal;
  OperationPriority effective = OperationPriority::kNormal;
  bool is_group = false;
  bool named = true;  // false: nobody can consume its end
  bool has_event = false;
  bool has_ranges = false;
  bool dispatched = false;  // begun by make_ready(), not by its submitter
  bool retired = false;
  bool announced = false;     // the observer knows it already
  bool timed = false;         // its submission is one of the sample
  std::uint32_t users = 0;    // who still looks at this record: submissions, host waits, groups
  std::uint32_t missing = 0;  // dependencies that are not submitted
  std::uint32_t stream = 0;   // index
  std::uint64_t capture = 0;  // number of the capture it is part of, 0 if none
  StreamRef stream_ref;
  DeviceState* device = nullptr;
  EventPool* events = nullptr;
  Point point;  // ticket 0: not submitted
  ClockRef clock;
  EventRef event;
  std::uint64_t cost = 0;    // ticks, if timed
  std::uint64_t order = 0;   // take_order() at its begin
  std::uint64_t runner = 0;  // number of the thread that began it
  std::uint64_t created = 0, begun = 0, submitted = 0, ended = 0;  // stamps
  std::vector<OperationHandle> after;                              // dependencies
  std::size_t inferred_from = 0, inferred_to = 0;                  // those between were inferred
  std::vector<std::uint8_t> elisions;        // coord_elision of each; empty without an observer
  std::uint32_t outer = 0;                   // for the observer: whose function it is begun in
  std::vector<OperationRecord*> waits;       // what it waits for on the device; used until finished
  std::vector<OperationRecord*> dependants;  // which count it as missing
  std::string description;
  std::source_location where;
  std::unique_ptr<OperationExtra> extra;
  OperationRecord* next = nullptr;  // in its stream's queue of unproved ones, or among the free

  [[nodiscard]] bool ended_already() const noexcept {
    const OperationState now = state.load(std::memory_order_relaxed);
    return now == OperationState::kCompleted || now == OperationState::kFailed ||
           now == OperationState::kCancelled;
  }
  [[nodiscard]] bool unsubmitted() const noexcept {
    return state.load(std::memory_order_relaxed) < OperationState::kSubmitted;
  }
  [[nodiscard]] OperationExtra& more() {
    if (extra == nullptr) extra = std::make_unique<OperationExtra>();
    return *extra;
  }
};

/// Slots for operations. Those that ended are used again, the longest ended first, once `history`
/// of them are kept. Addresses stay; thread-compatible.
class OperationTable {
 public:
  explicit OperationTable(std::size_t history) : history_(history) {}

  /// A slot without an id. Its vectors and strings keep their memory.
  OperationRecord& take() {
    if (free_count_ > history_) {
      OperationRecord& record = *oldest_;
      oldest_ = record.next;
      if (oldest_ == nullptr) newest_ = nullptr;
      --free_count_;
      record.next = nullptr;
      return record;
    }
    return records_.emplace_back();
  }
  /// The operation has ended and nobody uses its record.
  void retire(OperationRecord& record) {
    record.next = nullptr;
    (newest_ != nullptr ? newest_->next : oldest_) = &record;
    newest_ = &record;
    ++free_count_;
  }
  [[nodiscard]] std::deque<OperationRecord>& all() noexcept { return records_; }
  [[nodiscard]] std::size_t live() const noexcept { return records_.size() - free_count_; }

 private:
  const std::size_t history_;
  std::deque<OperationRecord> records_;
  OperationRecord* oldest_ = nullptr;
  OperationRecord* newest_ = nullptr;
  std::size_t free_count_ = 0;
};

}  // namespace coord
