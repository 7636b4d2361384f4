// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The fewest waits that order an operation after its dependencies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "operation_record.h"

namespace coord {

/// The operations to wait for; keeps its memory for the next operation. Thread-compatible.
class WaitSet {
 public:
  void clear() noexcept { all_.clear(); }
  void add(OperationRecord& before) {
    if (!contains(before)) all_.push_back(&before);
  }
  /// Drops those that another one implies.
  void drop_implied() {
    const auto implies = [](const OperationRecord& other, const OperationRecord& before) {
      return other.clock.covers(before.point) || (other.point.stream == before.point.stream &&
                                                  other.point.ticket > before.point.ticket);
    };
    needed_.clear();
    for (OperationRecord* before : all_) {
      const bool implied = std::ranges::any_of(all_, [&](const OperationRecord* other) {
        return other != before && implies(*other, *before);
      });
      if (!implied) needed_.push_back(before);
    }
    all_.swap(needed_);
  }
  [[nodiscard]] bool contains(const OperationRecord& one) const {
    return std::ranges::find(all_, &one) != all_.end();
  }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  std::vector<OperationRecord*> all_, needed_;
};

}  // namespace coord
