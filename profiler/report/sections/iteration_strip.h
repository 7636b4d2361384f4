// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// All iterations as a strip of columns, each as high as its iteration took long: what the HTML page
// and the viewer draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/iterations/iterations.h"

namespace streamscope::report {

enum class IterationPart : uint8_t {
  kStartUp,
  kSteady,
  kOutlier,  ///< of the steady part
  kAfter,    ///< after the steady part
};
IterationPart part_of(const analysis::Iterations& iterations, size_t iteration);

/// How many times the median of the steady part an iteration took.
double times_median(const analysis::Iterations& iterations, size_t iteration);

/// "iteration 8: 2.00 ms, 2 times the median"
std::string iteration_title(const analysis::Iterations& iterations, size_t iteration);

/// A column of the strip: neighbors, of which the longest is drawn.
struct IterationColumn {
  size_t first = 0;
  size_t last = 0;
  size_t longest = 0;
};
/// One per iteration, or fewer of equally many each if there are more than `most`.
std::vector<IterationColumn> iteration_columns(const analysis::Iterations& iterations, size_t most);
/// The title of its longest iteration, and which iterations the column stands for.
std::string column_title(const analysis::Iterations& iterations, const IterationColumn& column);

/// The duration that fills the height of the strip, in times of the median. Longer iterations are
/// cut off, so that a long start-up does not flatten the rest.
double strip_height(const analysis::Iterations& iterations);

/// A key of the strip.
struct IterationKey {
  IterationPart part = IterationPart::kSteady;
  std::string text;  ///< "start-up: 1 to 3"
};
/// Only of the parts that there are.
std::vector<IterationKey> strip_keys(const analysis::Iterations& iterations);

/// A round distance between the numbers of a strip, so that at most `most` of them are shown: 1, 2,
/// 5, 10, 20, ...
size_t number_step(size_t count, size_t most);

}  // namespace streamscope::report
