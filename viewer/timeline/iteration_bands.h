// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations on the time axis: bands, and the numbers that fit. Costs pixels, not iterations.
#pragma once

#include <cstddef>
#include <vector>

#include "model/diagnosis.h"
#include "report/sections/iteration_strip.h"
#include "timeline_layout.h"

namespace streamscope::viewer {

/// An iteration, or a run of iterations that are too narrow to see.
struct IterationBand {
  float x0 = 0, x1 = 0;  ///< from the left of the window; those of its ends are near its edges
  size_t first = 0;
  size_t last = 0;
  report::IterationPart part = report::IterationPart::kSteady;  ///< of the first

  bool is_run() const { return first < last; }
  /// For bands in alternating colors.
  bool is_odd() const { return first % 2 == 1; }
};

/// The bands in the window, left to right, without gaps. Iterations narrower than `min_px` are
/// merged, but only those of one part; an outlier begins a band of its own.
std::vector<IterationBand> iteration_bands(const Diagnosis& diagnosis, const TimeWindow& window,
                                           double min_px);

/// The iterations in the window whose numbers are shown: all, or those with round numbers, about
/// `min_spacing_px` apart.
std::vector<size_t> numbered_iterations(const Diagnosis& diagnosis, const TimeWindow& window,
                                        double min_spacing_px);

}  // namespace streamscope::viewer
