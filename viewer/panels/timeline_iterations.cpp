// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The iterations: a strip of bands with numbers above the axis, and the background of the lanes.

#include <algorithm>
#include <cmath>
#include <utility>

#include "iteration_colors.h"
#include "model/labels.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

using report::IterationPart;

constexpr float kNumberSpacing = 64;
constexpr float kLeastNumbered = 24;
constexpr float kLeastTinted = 12;  // pixels; narrower iterations would only make the lanes noisy

}  // namespace

void TimelineView::tint_grid(const Pane& pane) {
  for (const IterationBand& band : iterations_) {
    if (band.x1 - band.x0 < pane.px(kLeastTinted)) continue;
    const ImU32 tint =
        band.part == IterationPart::kOutlier ? outlier_tint(pane.theme)
        : band.part == IterationPart::kSteady
            ? (band.is_odd() ? band_tint(pane.theme) : pane.color(Color::kBackground))
            : pane.color(Color::kPanel);
    const auto size = static_cast<float>(grid_.size());
    const auto first = static_cast<size_t>(std::clamp(std::round(band.x0), 0.0f, size));
    const auto last = static_cast<size_t>(std::clamp(std::round(band.x1), 0.0f, size));
    std::fill(grid_.begin() + static_cast<ptrdiff_t>(first),
              grid_.begin() + static_cast<ptrdiff_t>(last), tint);
  }
}

void TimelineView::draw_iterations(Pane& pane, float top) {
  const Theme& theme = pane.theme;
  const float bottom = top + iterations_height_;
  PixelBackground& background = pane.state.drawn.background;
  background.begin_section({pane.gutter_x, top}, {pane.max.x, bottom});
  background.fill({pane.gutter_x, top}, {pane.max.x, bottom}, pane.color(Color::kPanel));
  const bool pointed = pane.mouse.x >= pane.min.x && pane.mouse.x < pane.max.x &&
                       pane.mouse.y >= top && pane.mouse.y < bottom && ImGui::IsWindowHovered();
  hovered_iteration_.reset();
  const auto current = current_iteration(pane.model, pane.state);
  pane.draw.PushClipRect({pane.min.x, top}, {pane.max.x, bottom}, true);
  for (const IterationBand& band : iterations_) {
    const float x0 = pane.min.x + std::round(band.x0);
    const float x1 = std::max(pane.min.x + std::round(band.x1), x0 + 1);
    const bool hovered = pointed && pane.mouse.x >= x0 && pane.mouse.x < x1;
    if (hovered) hovered_iteration_ = band.first;
    const ImU32 fill =
        hovered && !band.is_run() ? pane.color(Color::kBorder) : color_of(theme, band);
    // The steady part stands out: what precedes and follows it is lower.
    const bool steady = band.part == IterationPart::kSteady || band.part == IterationPart::kOutlier;
    background.fill({x0, top + pane.px(steady ? 1 : 7)}, {x1, bottom - pane.px(1)}, fill);
    if (x1 - x0 >= pane.px(4))
      background.fill({x0, top}, {x0 + 1, bottom}, pane.color(Color::kBorder));
    if (!band.is_run() && band.first == current)
      background.fill({x0, bottom - pane.px(3)}, {x1, bottom}, pane.color(Color::kAccent));
  }
  pane.state.drawn.items += iterations_.size();
  draw_iteration_labels(pane, top);
  pane.draw.PopClipRect();
  const analysis::Iterations& iterations = pane.model.diagnosis().iterations;
  const std::string where =
      (current ? "iteration " + format_count(static_cast<int64_t>(*current + 1)) + " of "
               : "iterations: ") +
      format_count(static_cast<int64_t>(iterations.all.size()));
  const float y = std::round((top + bottom - theme.text(Face::kSmall).size) / 2) - 1;
  widgets::fit_text(pane.draw, theme, Face::kSmall, {pane.gutter_x + pane.px(12), y},
                    pane.min.x - pane.gutter_x - pane.px(20), pane.color(Color::kTextDim), where);
  if (!hovered_iteration_ || drag_ == Drag::kPan) return;
  const auto band = std::ranges::find(iterations_, *hovered_iteration_, &IterationBand::first);
  const widgets::Tooltip tooltip;
  if (band != iterations_.end() && band->is_run()) {
    widgets::text(theme, Face::kBold, pane.color(Color::kText),
                  "iterations " + format_count(static_cast<int64_t>(band->first + 1)) + " to " +
                      format_count(static_cast<int64_t>(band->last + 1)));
  } else {
    widgets::text(theme, Face::kBold, pane.color(Color::kText),
                  report::iteration_title(iterations, *hovered_iteration_));
  }
  widgets::text(theme, Face::kSmall, pane.color(Color::kTextDim), "click to fit it to the window");
}

// The title of each iteration or its number, whatever fits; and where the start-up and what follows
// the steady part begin.
void TimelineView::draw_iteration_labels(Pane& pane, float top) {
  const Diagnosis& diagnosis = pane.model.diagnosis();
  const analysis::Iterations& iterations = diagnosis.iterations;
  const float y =
      std::round(top + (iterations_height_ - pane.theme.text(Face::kSmall).size) / 2) - 1;
  float free_from = pane.min.x;
  const auto draw = [&](float x, Color color, const std::string& text) {
    const float width = pane.theme.width(Face::kSmall, text);
    if (x < free_from || x + width > pane.max.x) return;
    free_from = x + width + pane.px(8);
    widgets::text(pane.draw, pane.theme, Face::kSmall, {x, y}, pane.color(color), text);
  };
  // Of the iterations [first, last), at their left end if they are wide enough.
  const auto draw_part = [&](size_t first, size_t last, const std::string& text) {
    if (first >= last) return;
    const float x0 = std::max(pane.x(diagnosis.range(first).begin_ns), pane.min.x),
                x1 = std::min(pane.x(diagnosis.range(last - 1).end_ns), pane.max.x);
    if (x1 - x0 >= pane.theme.width(Face::kSmall, text) + pane.px(8))
      draw(std::round(x0) + pane.px(4), Color::kTextFaint, text);
  };
  std::vector<size_t> numbered =
      numbered_iterations(diagnosis, pane.state.nav.window, pane.px(kNumberSpacing));
  // Outliers have their number wherever it fits.
  for (const IterationBand& band : iterations_) {
    if (band.part == IterationPart::kOutlier && band.x1 - band.x0 >= pane.px(kLeastNumbered))
      numbered.push_back(band.first);
  }
  std::ranges::sort(numbered);
  numbered.erase(std::ranges::unique(numbered).begin(), numbered.end());
  bool after = false;
  draw_part(0, iterations.steady_from, "start-up");
  for (const size_t iteration : numbered) {
    if (iteration >= iterations.steady_to && !std::exchange(after, true))
      draw_part(iterations.steady_to, iterations.all.size(), "after");
    const TimeRange range = diagnosis.range(iteration);
    const float x0 = std::max(pane.x(range.begin_ns), pane.min.x),
                x1 = std::min(pane.x(range.end_ns), pane.max.x);
    std::string text = report::iteration_title(iterations, iteration);
    if (pane.theme.width(Face::kSmall, text) + pane.px(10) > x1 - x0)
      text = format_count(static_cast<int64_t>(iteration + 1));
    const float width = pane.theme.width(Face::kSmall, text);
    const bool fits = width + pane.px(6) <= x1 - x0;
    const bool outlier = report::part_of(iterations, iteration) == IterationPart::kOutlier;
    draw(fits ? std::round((x0 + x1 - width) / 2) : std::round(x0) + pane.px(2),
         outlier ? Color::kError : Color::kTextDim, text);
  }
}

}  // namespace streamscope::viewer
