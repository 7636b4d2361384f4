// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What recording cost a program that ran in turns with and without it. For costs that windows of
// one run cannot show: of CUPTI, which stays loaded, and of graphs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/usage/cost_windows.h"

namespace streamscope::analysis {

/// How far a run had come at which time.
struct RunProgress {
  struct Point {
    double seconds = 0;
    double progress = 0;  ///< calls, or ends of the named range
  };
  std::vector<Point> points;  ///< the first is 0, 0; both grow
};

/// Of the process that came furthest; no points if none has windows with progress. O(windows).
RunProgress progress_of_run(const trace::Trace& trace);

struct PairOfRuns {
  RunProgress bare, recorded;
  /// False if calls were counted by different means: then equal shares of the runs are equal work.
  bool counted_alike = true;
};

struct ComparedRuns {
  double bare_s = 0, recorded_s = 0;  ///< until the end of the work that both did
  double log_ratio = 0;  ///< of recorded to bare time: the median over parts of equal work
};
/// Nothing if one of them worked for less than ten windows. O(windows).
std::optional<ComparedRuns> compare_runs(const PairOfRuns& runs);

/// With fewer pairs, no interval between two of them is one of 95 %.
inline constexpr int kFewestPairs = 6;
/// `windows` counts pairs.
MeasuredCost cost_of_pairs(std::span<const ComparedRuns> pairs);

}  // namespace streamscope::analysis
