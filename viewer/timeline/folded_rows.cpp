// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "folded_rows.h"

#include <algorithm>

namespace streamscope::viewer {
namespace {

// Folded beyond each side of the window: a few pan steps.
constexpr double kMarginPx = 120;
// As far outside the window as fold() draws.
constexpr float kOutsidePx = 2;

}  // namespace

void FoldedRows::fold(const Row& row, const TimeWindow& window, double min_px,
                      std::vector<DrawItem>& out) {
  if (row.size() == 0) return;
  Kept& kept = kept_[&row];
  // Where the window begins in the kept range.
  const auto begin_px = [&] {
    return kept.window.to_px(window.begin_ns) + window.begin_fraction / window.ns_per_px;
  };
  double from = begin_px();
  if (kept.min_px != min_px || kept.window.ns_per_px != window.ns_per_px || from < 0 ||
      from + window.width_px > kept.window.width_px) {
    ++fold_count_;
    kept.window = window;
    kept.window.pan_px(kMarginPx);
    kept.window.width_px += 2 * kMarginPx;
    kept.min_px = min_px;
    kept.items.clear();
    viewer::fold(row, kept.window, min_px, kept.items);
    from = begin_px();
  }
  const auto shift = static_cast<float>(from);
  const float right = static_cast<float>(window.width_px) + kOutsidePx;
  auto item = std::ranges::partition_point(
      kept.items, [&](const DrawItem& each) { return each.x1 - shift < -kOutsidePx; });
  for (; item != kept.items.end() && item->x0 - shift < right; ++item) {
    DrawItem& moved = out.emplace_back(*item);
    moved.x0 = std::max(item->x0 - shift, -kOutsidePx);
    moved.x1 = std::min(item->x1 - shift, right);
  }
}

}  // namespace streamscope::viewer
