// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "counter_pixels.h"

#include <cmath>

namespace streamscope::viewer {
namespace {

// Computed beyond each side of the window: a few pan steps.
constexpr double kCounterMarginPx = 120;
// Of a pixel: rounding of the window's begin.
constexpr double kSameHeight = 0.01;

}  // namespace

std::span<const Counter::Column> CounterPixels::of(const Counter& counter, const TimeWindow& window,
                                                   size_t width) {
  Kept& kept = kept_[&counter];
  // Where the window begins in the kept range.
  const double begin =
      kept.window.to_px(window.begin_ns) + window.begin_fraction / window.ns_per_px;
  double from = std::round(begin);
  if (kept.window.ns_per_px != window.ns_per_px || std::fabs(begin - from) > kSameHeight ||
      from < 0 || from + static_cast<double>(width) > static_cast<double>(kept.columns.size())) {
    ++computed_count_;
    from = kCounterMarginPx;
    kept.window = window;
    kept.window.pan_px(kCounterMarginPx);
    kept.columns.resize(width + 2 * static_cast<size_t>(kCounterMarginPx));
    counter.in_pixels(kept.window, kept.columns);
  }
  return std::span(kept.columns).subspan(static_cast<size_t>(from), width);
}

}  // namespace streamscope::viewer
