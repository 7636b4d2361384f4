// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What recording cost the program, from the windows of `record --measure-cost`, and when recording
// was off for it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// How much longer the program took while it was recorded.
struct MeasuredCost {
  size_t windows = 0;  ///< that recorded and could be compared
  // Of the time without recording; valid if is_known(). [low, high] is a 95 % interval.
  double percent = 0, low_percent = 0, high_percent = 0;

  bool is_known() const { return windows >= kFewestWindows; }

  static constexpr size_t kFewestWindows = 10;
};

/// Windows of one process in order of time. Each recorded one is compared with the mean of its two
/// neighbors, so that a program that becomes slower or faster does not bias the result. The first
/// windows of a process, in which it warms up, and windows without progress are left out.
/// Estimate and interval are the median of these ratios and two of their ranks: phases of a program
/// and single delays move them little. O(n log n).
MeasuredCost cost_of_windows(std::span<const trace::CostWindow> windows);

/// The same for all processes of a trace.
MeasuredCost measured_cost(const trace::Trace& trace);

/// The median of logarithms of recorded to bare time, and a 95 % interval from their ranks.
MeasuredCost cost_of_ratios(std::vector<double> log_ratios);

/// Of each process, by its id, in order of time; empty if there are none.
std::vector<std::vector<trace::CostWindow>> windows_by_process(const trace::Trace& trace);

/// When recording was off to measure its cost.
struct OffWindow {
  trace::Ns start_ns;
  trace::Ns end_ns;  ///< the greatest time if it never ended
};
/// Those of each process, by its id; empty if there are none.
std::vector<std::vector<OffWindow>> off_windows(const trace::Trace& trace);
size_t count_off_windows(const trace::Trace& trace);

}  // namespace streamscope::analysis
