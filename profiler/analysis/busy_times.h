// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// When any of some ops ran.
#pragma once

#include <algorithm>
#include <vector>

#include "stream_ops.h"

namespace streamscope::analysis {

class BusyTimes {
 public:
  /// By start.
  void add(Ns start_ns, Ns end_ns) {
    if (times_.empty() || start_ns > times_.back().end_ns) {
      times_.push_back({start_ns, end_ns});
    } else {
      times_.back().end_ns = std::max(times_.back().end_ns, end_ns);
    }
  }
  /// Within an interval.
  Ns busy_ns(Ns from, Ns to) const {
    Ns sum = 0;
    auto time = std::ranges::upper_bound(times_, from, {}, &Time::end_ns);
    for (; time != times_.end() && time->start_ns < to; ++time)
      sum += std::min(time->end_ns, to) - std::max(time->start_ns, from);
    return sum;
  }
  /// True if any ran in (from, to).
  bool is_busy(Ns from, Ns to) const {
    const auto time = std::ranges::upper_bound(times_, from, {}, &Time::end_ns);
    return time != times_.end() && time->start_ns < to;
  }

 private:
  struct Time {
    Ns start_ns, end_ns;
  };
  std::vector<Time> times_;  // ascending, disjoint
};

}  // namespace streamscope::analysis
