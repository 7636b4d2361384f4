// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How arrow keys move from bar to bar in two compared traces.

#include <algorithm>
#include <cmath>

#include "compare.h"
#include "widgets.h"

namespace streamscope::viewer {

// The bar of a lane that begins nearest to a time after the first work.
std::optional<CompareView::Cursor> CompareView::nearest(const Comparison& comparison,
                                                        const Plot& plot, size_t pair, size_t side,
                                                        double since_first) const {
  const std::vector<Row>& bands = comparison.lanes[pair].bands[side];
  const Ns at = add_ns(plot.first_ns[side], since_first);
  std::optional<Cursor> best;
  double least = 0;
  for (size_t band = 0; band < bands.size(); ++band) {
    const auto& starts = bands[band].start_ns;
    const auto after = std::ranges::lower_bound(starts, at) - starts.begin();
    for (const ptrdiff_t i : {after - 1, after}) {
      if (i < 0 || i >= static_cast<ptrdiff_t>(starts.size())) continue;
      const auto index = static_cast<size_t>(i);
      const double away = std::fabs(difference_ns(at, starts[index]));
      if (best && away >= least) continue;
      least = away;
      best = {pair, side, band, index};
    }
  }
  return best;
}

// The next bar to begin after another, or the one that began before, in the same lane.
std::optional<CompareView::Cursor> CompareView::neighbor(const Comparison& comparison,
                                                         const Cursor& cursor, int by) {
  const std::vector<Row>& bands = comparison.lanes[cursor.pair].bands[cursor.side];
  const auto order = [&](size_t band, size_t index) {
    return std::pair(bands[band].start_ns[index], band);
  };
  const auto from = order(cursor.band, cursor.index);
  std::optional<Cursor> best;
  for (size_t band = 0; band < bands.size(); ++band) {
    const auto& starts = bands[band].start_ns;
    // The first of this band after the cursor; in the cursor's own band by index, as some begin
    // together.
    size_t after = cursor.index + 1;
    if (band < cursor.band)
      after = static_cast<size_t>(std::ranges::upper_bound(starts, from.first) - starts.begin());
    if (band > cursor.band)
      after = static_cast<size_t>(std::ranges::lower_bound(starts, from.first) - starts.begin());
    const size_t before = band == cursor.band ? cursor.index : after;
    if (by > 0 ? after == starts.size() : before == 0) continue;
    const size_t index = by > 0 ? after : before - 1;
    if (!best || (by > 0) == (order(band, index) < order(best->band, best->index)))
      best = {cursor.pair, cursor.side, band, index};
  }
  return best;
}

void CompareView::handle_keys(const TraceModel& model, const Plot& plot, ViewState& state) {
  const Comparison& comparison = *state.comparison;
  const CanvasSteps& steps = state.focus.steps;
  const auto since_first = [&](const Cursor& cursor) {
    const Row& row = comparison.lanes[cursor.pair].bands[cursor.side][cursor.band];
    return difference_ns(plot.first_ns[cursor.side], row.start_ns[cursor.index]);
  };
  std::optional<Cursor> next;
  if (cursor_ && steps.right != 0) next = neighbor(comparison, *cursor_, steps.right);
  if (!cursor_ || steps.down != 0) {
    // The lanes from top to bottom, each first of A, then of B; without a cursor, starting above
    // them.
    const double at = cursor_ ? since_first(*cursor_)
                              : static_cast<double>(plot.window.to_ns(plot.window.width_px / 2));
    const int by = steps.down < 0 ? -1 : 1;
    auto lane = cursor_ ? static_cast<ptrdiff_t>(cursor_->pair * 2 + cursor_->side) : ptrdiff_t{-1};
    for (lane += by;
         !next && lane >= 0 && lane < static_cast<ptrdiff_t>(comparison.lanes.size()) * 2;
         lane += by)
      next = nearest(comparison, plot, static_cast<size_t>(lane / 2), static_cast<size_t>(lane % 2),
                     at);
  }
  if (!next) return;
  cursor_ = next;
  const auto side = next->side;
  const Id op = unpack(comparison.lanes[next->pair].bands[side][next->band].item[next->index]).id;
  if (const Id own = next->side == 0 ? op : comparison.counterpart(1, op); own != kNoId)
    state.selection.item = {ItemKind::kOp, own};
  const double px = plot.window.to_px(add_ns(0, since_first(*next)));
  if (px < 0 || px >= plot.window.width_px)
    pan(model, state,
        (plot.window.width_px / 2 - px) * state.nav.window.width_px / plot.window.width_px);
}

void CompareView::draw_cursor(const Plot& plot, float top, const Cursor& cursor,
                              const ViewState& state, const Theme& theme) {
  const Row& row = state.comparison->lanes[cursor.pair].bands[cursor.side][cursor.band];
  const TimeWindow window = plot.of(cursor.side);
  const float x0 =
      std::floor(plot.min.x + static_cast<float>(window.to_px(row.start_ns[cursor.index])));
  const float x1 =
      std::ceil(plot.min.x + static_cast<float>(window.to_px(row.end_ns[cursor.index])));
  ImGui::GetWindowDrawList()->AddRect({x0 - 1, top - 1},
                                      {std::max(x1, x0 + 3) + 1, top + theme.px(kBar) + 1},
                                      theme.color(Color::kSelection), 0, 0, theme.px(2));
  hit_ = {cursor.side, unpack(row.item[cursor.index]).id, 1};
  const float from = std::clamp(x0, plot.min.x, plot.max.x), to = std::clamp(x1, from, plot.max.x);
  widgets::place_tooltip(theme, {from, top}, {to, top + theme.px(kBar)});
}

}  // namespace streamscope::viewer
