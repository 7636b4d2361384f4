// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The record of one operation, and the table of records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "clock_table.h"
#include "coord/observer.h"
#include "coord/operation.h"

namespace coord {

struct DeviceState;
struct StreamEntry;

/// "file:line function".
std::string text_of(const std::source_location& where);

/// Rarely used fields.
struct OperationExtra {
  std::function<void(StreamRef)> function;  // of a deferred operation
  std::vector<std::function<void(Outcome)>> callbacks;
  std::exception_ptr error;
  std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC; 0: none
  std::vector<MemoryRange> reads, writes;
  OperationRecord* group = nullptr;
  // For a group:
  bool open = false;
  std::uint32_t unsubmitted = 0, not_ended = 0;
  std::vector<OperationRecord*> last;  // the last member of each stream; used, see `users`
};

/// Flags for rare cases, so that one test covers them all.
enum Special : std::uint8_t {
  kTimed = 1,       // its submission is in the timing sample
  kMilestone = 2,   // see kMilestoneEvery
  kDispatched = 4,  // begun by make_ready(), not by its submitter
  kWaits = 8,       // it waits on the device
  kRequested = 16,  // unsubmitted operations depend on it, or it has OperationExtra
  kCaptured = 32,   // it is part of a graph
};

/// The text of an operation's description; most are stored inline.
class Description {
 public:
  void assign(std::string_view text) {
    size_ = text.size();
    if (size_ >= few_.size()) [[unlikely]] {
      many_.assign(text);
      return;
    }
    std::memcpy(few_.data(), text.data(), size_);
    few_[size_] = '\0';
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const char* c_str() const noexcept {
    return size_ < few_.size() ? few_.data() : many_.c_str();
  }

 private:
  std::size_t size_ = 0;
  std::array<char, 32> few_{};
  std::string many_;
};

/// A slot of the table; a new id makes it a new operation. All fields are under the Coordinator's
/// lock, except id and state, which may be read without it.
///
/// Ordered by use: one cache line each for what others read and its position, for what it is, and
/// for its times; then its dependencies and rarely used fields.
struct alignas(64) OperationRecord {
  std::atomic<std::uint64_t> id{OperationId::kNone};
  std::atomic<OperationState> state{OperationState::kRegistered};
  OperationType type = OperationType::kKernel;
  OperationPriority priority = OperationPriority::kNormal;
  OperationPriority effective = OperationPriority::kNormal;
  bool named = true;  // false: nothing can wait for it
  // These start at 0 and are adjacent, so that one store writes them all:
  std::uint8_t special = 0;  // of Special
  bool is_group = false;
  bool has_ranges = false;
  bool described = false;
  bool has_event = false;
  bool announced = false;  // already reported to the observer
  bool retired = true;
  std::uint32_t users = 0;          // users of this record: submissions, host waits, groups
  std::uint32_t missing = 0;        // dependencies that are not submitted
  Point point;                      // ticket 0: not submitted
  OperationRecord* next = nullptr;  // in the queue of unproved ones, or the free list
  std::uint32_t coordinator = 0;    // number of the Coordinator that owns the table
  std::uint32_t named_by = 0;       // low half of the id of the last operation that named it

  ClockRef clock;
  EventRef event;  // has_event: recorded behind it; otherwise, once begun, to be recorded
  StreamRef stream_ref;
  StreamEntry* entry = nullptr;  // null for a group
  DeviceState* device = nullptr;
  std::unique_ptr<OperationExtra> extra;

  std::source_location where;
  // Stamps. `created` and `begun` are not adjacent, to avoid a wide load over two recent stores (a
  // stall).
  std::uint64_t created = 0, submitted = 0, begun = 0, ended = 0;
  std::uint64_t capture = 0;  // number of the capture it is part of, 0 if none
  std::uint64_t order = 0;    // take_order() at its begin, if simulated; otherwise see `begun`
  std::uint64_t runner = 0;   // number of the thread that began it

  std::uint32_t outer = 0;  // for the observer: the operation whose function it begins in
  Dependencies after;
  std::uint32_t inferred_from = 0, inferred_to = 0;  // inferred ones, if has_ranges
  std::vector<OperationRecord*> waits;       // what it waits for on the device; used until finished
  std::vector<OperationRecord*> dependents;  // operations that count it as missing
  std::uint64_t cost = 0;                    // ticks, if timed
  std::vector<coord_dependency_facts> elisions;  // of each dependency; empty without an observer
  Description description;                       // meaningless unless `described`

  /// The record of a handle, or null if it has been reused for another operation.
  static OperationRecord* of(const OperationHandle& operation) noexcept {
    OperationRecord* const record = operation.record_;
    return record->id.load(std::memory_order_relaxed) == operation.id_.value ? record : nullptr;
  }
  /// The same, but only of an operation that has not ended.
  static OperationRecord* unended(const OperationHandle& operation) noexcept {
    OperationRecord* const record = of(operation);
    return record != nullptr && !record->ended_already() ? record : nullptr;
  }
  [[nodiscard]] OperationHandle handle() noexcept {
    return {OperationId{id.load(std::memory_order_relaxed)}, this};
  }

  [[nodiscard]] bool is(Special one) const noexcept { return (special & one) != 0; }
  [[nodiscard]] const char* name() const noexcept { return described ? description.c_str() : ""; }
  [[nodiscard]] std::size_t name_bytes() const noexcept {
    return described ? description.size() : 0;
  }
  [[nodiscard]] bool ended_already() const noexcept {
    const OperationState now = state.load(std::memory_order_relaxed);
    return now >= OperationState::kCompleted && now <= OperationState::kCancelled;
  }
  [[nodiscard]] bool unsubmitted() const noexcept {
    return state.load(std::memory_order_relaxed) < OperationState::kSubmitted;
  }
  [[nodiscard]] OperationExtra& more() {
    special |= kRequested;
    if (extra == nullptr) extra = std::make_unique<OperationExtra>();
    return *extra;
  }
};

/// Slots for operations. Ended ones are reused, oldest first, once `history` of them are kept.
/// Addresses are stable; thread-compatible.
class OperationTable {
 public:
  OperationTable(std::size_t history, std::uint32_t coordinator)
      : history_(history), coordinator_(coordinator) {}

  /// A slot to fill. Its vectors and strings keep their memory.
  OperationRecord& take() {
    if (free_count_ > history_) [[likely]] {
      OperationRecord& record = *oldest_;
      oldest_ = record.next;
      if (oldest_ == nullptr) [[unlikely]]
        newest_ = nullptr;
      // Prefetches the next slot, so that its first fields are in the L1 cache when needed.
      for (int line = 0; line < 4; ++line)
        __builtin_prefetch(reinterpret_cast<const char*>(oldest_) + 64 * line, 1);
      --free_count_;
      return record;
    }
    if (count_ % kSlab == 0) slabs_.emplace_back();
    OperationRecord& record = slabs_.back()[count_++ % kSlab];
    record.coordinator = coordinator_;
    return record;
  }
  /// The operation has ended and its record is unused.
  void retire(OperationRecord& record) { retire(record, record, 1); }
  /// `count` of them, each the `next` of the one before.
  void retire(OperationRecord& first, OperationRecord& last, std::size_t count) {
    last.next = nullptr;
    (newest_ != nullptr ? newest_->next : oldest_) = &first;
    newest_ = &last;
    free_count_ += count;
  }
  /// All slots; those that hold no operation are `retired`.
  [[nodiscard]] auto all() noexcept { return slabs_ | std::views::join; }
  [[nodiscard]] std::size_t live() const noexcept { return count_ - free_count_; }

 private:
  static constexpr std::size_t kSlab = 32;  // slots in one slab

  const std::size_t history_;
  const std::uint32_t coordinator_;
  std::deque<std::array<OperationRecord, kSlab>> slabs_;
  OperationRecord* oldest_ = nullptr;
  OperationRecord* newest_ = nullptr;
  std::size_t count_ = 0, free_count_ = 0;
};

}  // namespace coord
