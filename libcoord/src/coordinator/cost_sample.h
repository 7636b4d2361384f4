// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times that a sample of submissions took.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coord/coordinator.h"
#include "host/ticks.h"

namespace coord {

/// In ticks; keeps the newest ones. Thread-compatible.
class CostSample {
 public:
  void add(std::uint64_t cost) {
    costs_[count_++ % costs_.size()] = cost;
    sum_ += static_cast<double>(cost);
  }
  /// Fills in the times of the metrics, if there are any.
  void report(CoordinatorMetrics& to) const {
    if (count_ == 0) return;
    const std::size_t kept = std::min<std::size_t>(count_, costs_.size());
    std::vector<std::uint64_t> costs(costs_.begin(),
                                     costs_.begin() + static_cast<std::ptrdiff_t>(kept));
    std::ranges::sort(costs);
    to.coordination_average =
        length_of_ticks(static_cast<std::uint64_t>(sum_ / static_cast<double>(count_)));
    to.coordination_median = length_of_ticks(costs[costs.size() / 2]);
    to.coordination_p99 = length_of_ticks(costs[(costs.size() - 1) * 99 / 100]);
  }

 private:
  std::array<std::uint64_t, 256> costs_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace coord
