// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What something takes in an iteration: the median over the steady part, and how much it varies.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

/// Over the steady iterations; quartiles as those of the iterations themselves.
struct PerIteration {
  Ns low_ns = 0, median_ns = 0, high_ns = 0, most_ns = 0;
  uint64_t count = 0;  ///< median of how often it happens
};

/// "± 120 µs", half of the range of the middle half; "" if it never varies.
std::string spread_text(const PerIteration& each);

/// Adds up what happens in each steady iteration.
class IterationSums {
 public:
  /// Of something that took this long and began then. False, and ignored, outside of the steady
  /// part.
  bool add(const analysis::Iterations& iterations, Ns at, Ns duration_ns);
  PerIteration over(const analysis::Iterations& iterations) const;

 private:
  std::vector<std::pair<uint32_t, Ns>> parts_;  // by iteration
};

}  // namespace streamscope::viewer
