// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The work of one process in the order in which its calls were made: where iterations are looked
// for.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/compare/compared_work.h"

namespace streamscope::analysis {

/// A timed op with its issue time; if the trace does not contain its call, its start time.
struct IssuedOp {
  Ns issued_ns = 0, start_ns = 0, duration_ns = 0;
  uint32_t work = 0;  ///< group of WorkGroups
  Id id = kNoId;
};

/// Keeps a reference to the trace. Immutable, thread-safe.
struct IssuedWork {
  explicit IssuedWork(Analyses& analyses);

  /// The index of the first op issued at or after an instant.
  size_t first_issued(Ns at) const;

  const Trace& trace;
  WorkGroups groups;
  Id process = kNoId;         ///< the one with the most device time
  std::vector<IssuedOp> ops;  ///< of that process, as issued
  Ns device_ns = 0;           ///< of these
};

inline constexpr size_t kFewestIterations = 4;
inline constexpr double kLeastCovered = 0.5;  ///< share of device time and time in the iterations

template <class Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// False for a part of a step, such as a layer: it repeats quickly, then pauses for a while. Only
/// the newer half is to be passed, because compilation may delay the older one.
inline bool fills_the_time(double repetitions, Ns median_ns, Ns time_ns) {
  return repetitions * static_cast<double>(median_ns) >=
         kLeastCovered * static_cast<double>(time_ns);
}

}  // namespace streamscope::analysis
