// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds iterations that nothing marks: the longest sequence of work that repeats.
#pragma once

#include <vector>

#include "issued_work.h"

namespace streamscope::analysis {

/// A distance, in ops as issued, at which the same work recurs.
struct Period {
  size_t length = 0;            ///< ops
  double score = 0;             ///< 0 to 1: how much of the work came or comes again
  double ahead = 0;             ///< 0 to 1: how much comes again
  double device_share = 0;      ///< of the device time of the process, without data and results
  std::vector<size_t> matched;  ///< indexes of ops that recur one period later, ascending
  Ns median_ns = 0;             ///< from an op to its recurrence
  Ns usual_ns = 0;              ///< the same, upper quartile

  double count() const {
    return static_cast<double>(matched.size()) / static_cast<double>(length) + 1;
  }
  size_t most_pauses() const { return analysis::most_pauses(count(), device_share); }
};

/// Most likely first. Looks at the newest 262,144 ops.
std::vector<Period> find_periods(const IssuedWork& work);

}  // namespace streamscope::analysis
