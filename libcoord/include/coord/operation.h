// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What an operation is: a named piece of work on one stream, with the operations it depends on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coord/export.h"
#include "coord/memory.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

enum class OperationType : std::uint8_t {
  kKernel,
  kMemoryTransfer,
  kSynchronization,
  kReduction,
  kBroadcast,
  kAllReduce,
  kBarrier,
};

enum class OperationPriority : std::uint8_t { kCritical, kHigh, kNormal, kLow, kCleanup };

struct OperationRecord;

/// Names an operation of one Coordinator. A value; stays meaningful after the operation has
/// completed, but must not be used after its Coordinator is gone.
class OperationHandle {
 public:
  OperationHandle() = default;
  [[nodiscard]] OperationId id() const noexcept { return id_; }
  friend bool operator==(OperationHandle a, OperationHandle b) noexcept { return a.id_ == b.id_; }

 private:
  friend class Coordinator;
  friend struct OperationRecord;
  OperationHandle(OperationId id, OperationRecord* record) : id_(id), record_(record) {}

  OperationId id_;
  OperationRecord* record_ = nullptr;  // reused by later operations: the id distinguishes them
};

/// A list of operations that keeps up to four without allocating.
class Dependencies {
 public:
  Dependencies() = default;
  Dependencies(const Dependencies&) = default;
  Dependencies(Dependencies&&) = default;
  Dependencies& operator=(Dependencies&&) = default;
  Dependencies& operator=(const Dependencies& other) {
    count_ = other.count_;
    if (count_ == 0) return *this;
    few_ = other.few_;
    if (count_ > few_.size()) [[unlikely]]
      many_ = other.many_;
    return *this;
  }
  ~Dependencies() = default;
  Dependencies(std::initializer_list<OperationHandle> list)
      : Dependencies(std::span(list.begin(), list.size())) {}
  Dependencies(const std::vector<OperationHandle>& list) : Dependencies(std::span(list)) {}
  Dependencies(std::span<const OperationHandle> list) {
    for (const OperationHandle& operation : list) push_back(operation);
  }

  void push_back(const OperationHandle& operation) {
    if (count_ < few_.size()) {
      few_[count_] = operation;
    } else {
      if (count_ == few_.size()) many_.assign(few_.begin(), few_.end());
      many_.push_back(operation);
    }
    ++count_;
  }
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] bool contains(OperationHandle operation) const noexcept {
    for (const OperationHandle& one : *this) {
      if (one == operation) return true;
    }
    return false;
  }
  [[nodiscard]] const OperationHandle& operator[](std::size_t i) const noexcept {
    return begin()[i];
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const OperationHandle* begin() const noexcept {
    if (count_ <= few_.size()) [[likely]]
      return few_.data();
    return many_.data();
  }
  [[nodiscard]] const OperationHandle* end() const noexcept { return begin() + count_; }

 private:
  std::size_t count_ = 0;
  std::array<OperationHandle, 4> few_;
  std::vector<OperationHandle> many_;  // all of them, if there are more than four
};

struct OperationOptions {
  OperationType type = OperationType::kKernel;
  OperationPriority priority = OperationPriority::kNormal;
  /// The stream of the operation's work. Required.
  StreamRef stream{};
  /// The operation's work starts after the work of these operations has ended.
  Dependencies after{};
  /// What the operation's work reads and writes. Two operations that access the same memory, at
  /// least one of them writing, need an order; without one they are reported as a race.
  std::vector<MemoryRange> reads{};
  std::vector<MemoryRange> writes{};
  /// Adds the dependencies that `reads` and `writes` require, instead of reporting races.
  bool infer_dependencies = false;
  /// The operation's group (Coordinator::open_group).
  OperationHandle group{};
  /// If its submission has not begun within this time after registration, it fails with kTimedOut.
  Nanoseconds timeout = Nanoseconds::max();
  /// Shown in traces and reports.
  std::string_view description{};
};

enum class OperationState : std::uint8_t {
  kRegistered = 0,  // known; its submission has not begun
  kBegun,           // its waits are placed, its function runs
  kSubmitted,       // all its work is in the stream
  kCompleted,       // the device proved that its work has ended
  kFailed,
  kCancelled,
  kCaptured,  // all its work is in a graph; it runs each time the graph is launched
};

[[nodiscard]] COORD_EXPORT const char* to_string(OperationType type) noexcept;
[[nodiscard]] COORD_EXPORT const char* to_string(OperationPriority priority) noexcept;
[[nodiscard]] COORD_EXPORT const char* to_string(OperationState state) noexcept;

/// How an operation ended; the argument of a completion callback.
struct Outcome {
  OperationHandle operation;
  OperationState state = OperationState::kCompleted;
  /// Error of a failed or cancelled operation; null if it completed.
  std::exception_ptr error;
};

/// Everything known about an operation.
struct OperationInfo {
  OperationId id;
  OperationType type = OperationType::kKernel;
  OperationPriority priority = OperationPriority::kNormal;
  /// At least as urgent as `priority`: dependent operations and waiting time raise it.
  OperationPriority effective_priority = OperationPriority::kNormal;
  OperationState state = OperationState::kRegistered;
  bool is_group = false;
  StreamId stream;
  /// Named and inferred dependencies.
  std::vector<OperationId> dependencies;
  std::string description;
  std::source_location where;
  // On the clock of its device (Device::now); 0 if it has not happened. `submitted` is kept if
  // CoordinatorOptions::submission_times is set, a profiler listens, or the device is simulated.
  TimeNs created, begun, submitted, ended;
};

}  // namespace coord
