// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What an operation is: a named piece of work on one stream, with the operations it depends on.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "coord/export.h"
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

/// Names an operation of one Coordinator. A value; stays meaningful after the operation has
/// completed.
class OperationHandle {
 public:
  OperationHandle() = default;
  [[nodiscard]] OperationId id() const noexcept { return id_; }
  friend bool operator==(OperationHandle a, OperationHandle b) noexcept { return a.id_ == b.id_; }

 private:
  friend class Coordinator;
  OperationHandle(OperationId id, std::uint32_t coordinator, std::uint64_t index)
      : id_(id), index_(index), coordinator_(coordinator) {}

  OperationId id_;
  std::uint64_t index_ = 0;
  std::uint32_t coordinator_ = 0;
};

/// A list of operations that keeps up to four without allocating.
class Dependencies {
 public:
  Dependencies() = default;
  Dependencies(std::initializer_list<OperationHandle> list)
      : Dependencies(std::span(list.begin(), list.size())) {}
  Dependencies(const std::vector<OperationHandle>& list) : Dependencies(std::span(list)) {}
  Dependencies(std::span<const OperationHandle> list) {
    for (OperationHandle operation : list) push_back(operation);
  }

  void push_back(OperationHandle operation) {
    if (many_.empty() && count_ < few_.size()) {
      few_[count_] = operation;
    } else {
      if (many_.empty()) many_.assign(few_.begin(), few_.end());
      many_.push_back(operation);
    }
    ++count_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const OperationHandle* begin() const noexcept {
    return many_.empty() ? few_.data() : many_.data();
  }
  [[nodiscard]] const OperationHandle* end() const noexcept { return begin() + count_; }

 private:
  std::array<OperationHandle, 4> few_;
  std::vector<OperationHandle> many_;
  std::size_t count_ = 0;
};

struct OperationOptions {
  OperationType type = OperationType::kKernel;
  OperationPriority priority = OperationPriority::kNormal;
  /// Where the operation's work goes. Required.
  StreamRef stream{};
  /// Work of these operations ends before work of this one starts.
  Dependencies after{};
  /// Shown in traces.
  std::string_view description{};
};

enum class OperationState : std::uint8_t {
  kBegun = 1,  // its waits are placed, its function runs
  kSubmitted,  // all its work is in the stream
  kCompleted,  // the device proved that its work has ended
  kFailed,
};

/// How an operation ended, as a completion callback gets it.
struct Outcome {
  OperationHandle operation;
  OperationState state = OperationState::kCompleted;
  /// Why it failed; null if it completed.
  std::exception_ptr error;
};

}  // namespace coord
