// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_bands.h"

#include <algorithm>

namespace streamscope::viewer {
namespace {

using analysis::Iterations;
using report::IterationPart;

// The iterations that are in the window, as [first, last).
struct Visible {
  size_t first, last;
  size_t count() const { return last - first; }
};
Visible visible_in(const Iterations& iterations, TimeRange shown) {
  const auto& all = iterations.all;
  const auto first =
      std::ranges::upper_bound(all, shown.begin_ns, {}, &analysis::Iteration::end_ns);
  const auto last =
      std::ranges::lower_bound(first, all.end(), shown.end_ns, {}, &analysis::Iteration::start_ns);
  return {static_cast<size_t>(first - all.begin()), static_cast<size_t>(last - all.begin())};
}

// Index after the last iteration that may be merged with `first`: the next part or outlier begins
// there.
size_t end_of_run(const Diagnosis& diagnosis, size_t first) {
  const Iterations& iterations = diagnosis.iterations;
  if (first < iterations.steady_from) return iterations.steady_from;
  if (first >= iterations.steady_to) return iterations.all.size();
  if (report::part_of(iterations, first) == IterationPart::kOutlier) return iterations.steady_to;
  const auto next = std::ranges::lower_bound(diagnosis.outliers, first);
  return next == diagnosis.outliers.end() ? iterations.steady_to : size_t{*next};
}

}  // namespace

std::vector<IterationBand> iteration_bands(const Diagnosis& diagnosis, const TimeWindow& window,
                                           double min_px) {
  std::vector<IterationBand> bands;
  const Iterations& iterations = diagnosis.iterations;
  const auto& all = iterations.all;
  const Visible visible = visible_in(iterations, window.range());
  const auto x_of = [&](Ns at) {
    return static_cast<float>(std::clamp(window.to_px(at), -1.0, window.width_px + 1));
  };
  for (size_t i = visible.first; i < visible.last; i = bands.back().last + 1) {
    IterationBand band{.x0 = x_of(all[i].start_ns),
                       .x1 = x_of(all[i].end_ns),
                       .first = i,
                       .last = i,
                       .part = report::part_of(iterations, i)};
    const double begin_px = window.to_px(all[i].start_ns);
    if (window.to_px(all[i].end_ns) - begin_px < min_px) {
      const auto limit =
          all.begin() + static_cast<ptrdiff_t>(std::min(end_of_run(diagnosis, i), visible.last));
      const auto next = std::ranges::lower_bound(all.begin() + static_cast<ptrdiff_t>(i) + 1, limit,
                                                 window.to_ns(begin_px + min_px), {},
                                                 &analysis::Iteration::start_ns);
      band.last = static_cast<size_t>(next - all.begin()) - 1;
      band.x1 = x_of(all[band.last].end_ns);
    }
    bands.push_back(band);
  }
  return bands;
}

std::vector<size_t> numbered_iterations(const Diagnosis& diagnosis, const TimeWindow& window,
                                        double min_spacing_px) {
  const Visible visible = visible_in(diagnosis.iterations, window.range());
  const double most = std::max(1.0, window.width_px / min_spacing_px);
  const size_t step = report::number_step(visible.count(), static_cast<size_t>(most));
  std::vector<size_t> numbered;
  for (size_t number = (visible.first / step + 1) * step; number <= visible.last; number += step)
    numbered.push_back(number - 1);
  return numbered;
}

}  // namespace streamscope::viewer
