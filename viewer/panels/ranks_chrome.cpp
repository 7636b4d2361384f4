// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What surrounds the lanes of ranks: the overview, the iterations, the names.

#include <algorithm>
#include <array>
#include <cmath>

#include "iteration_colors.h"
#include "model/job_facts.h"
#include "model/labels.h"
#include "ranks.h"

namespace streamscope::viewer {
namespace {

constexpr float kLeastTintedBand = 12;  // pixels
constexpr std::array<const char*, 2> kOrders = {"late first", "by number"};
constexpr const char* kOwnClock = "own clock";

}  // namespace

// Every other iteration.
void RanksView::tint(const Frame& frame) {
  const std::vector<JobIteration>& iterations = frame.job.iterations();
  const TimeRange shown = frame.window.range();
  const auto first = frame.job.iteration_at(shown.begin_ns);
  if (!first) return;
  const auto column = [&](Ns at) {
    return static_cast<ptrdiff_t>(
        std::clamp(std::round(frame.window.to_px(at)), 0.0, static_cast<double>(grid_.size())));
  };
  for (size_t i = *first; i < iterations.size(); ++i) {
    const TimeRange range = iterations[i].range;
    if (range.begin_ns > shown.end_ns) break;
    // Narrower ones would only make the lanes noisy.
    if (range.span_ns() / frame.window.ns_per_px < frame.px(kLeastTintedBand)) return;
    if (iterations[i].number % 2 == 1)
      std::fill(grid_.begin() + column(range.begin_ns), grid_.begin() + column(range.end_ns),
                band_tint(frame.theme));
  }
}

void RanksView::draw_iterations(Frame& frame, float top) {
  const Theme& theme = frame.theme;
  const std::vector<JobIteration>& iterations = frame.job.iterations();
  const float bottom = top + frame.px(kIterationsHeight);
  frame.background.begin_section({frame.gutter_x, top}, {frame.max.x, bottom});
  frame.background.fill({frame.gutter_x, top}, {frame.max.x, bottom}, frame.color(Color::kPanel));
  hovered_iteration_.reset();
  const auto current = current_iteration(frame.job, frame.state);
  const TimeRange shown = frame.window.range();
  const float y = std::round((top + bottom - theme.text(Face::kSmall).size) / 2) - 1;
  const bool pointed = ImGui::IsWindowHovered() && frame.mouse.y >= top && frame.mouse.y < bottom &&
                       frame.mouse.x >= frame.min.x;
  frame.draw.PushClipRect({frame.min.x, top}, {frame.max.x, bottom}, true);
  float drawn_to = frame.min.x;  // narrower ones share a pixel
  const ImU32 color = theme.color(Color::kCounter);
  for (size_t i = frame.job.iteration_at(shown.begin_ns).value_or(0); i < iterations.size(); ++i) {
    const TimeRange range = iterations[i].range;
    if (range.begin_ns > shown.end_ns) break;
    const float x0 = std::max(frame.x(range.begin_ns), frame.min.x),
                x1 = std::min(frame.x(range.end_ns), frame.max.x);
    if (x1 < drawn_to + 1) continue;
    drawn_to = x1;
    const bool hovered = pointed && frame.mouse.x >= x0 && frame.mouse.x < x1;
    if (hovered) hovered_iteration_ = i;
    const bool is_odd = iterations[i].number % 2 == 1;
    frame.background.fill(
        {x0, top + 1}, {std::max(x1, x0 + 1), bottom - 1},
        hovered ? frame.color(Color::kBorder) : theme.dim(color, is_odd ? 0.34f : 0.22f));
    if (current == i)
      frame.background.fill({x0, bottom - frame.px(3)}, {x1, bottom}, frame.color(Color::kAccent));
    const std::string text = format_count(static_cast<int64_t>(iterations[i].number) + 1);
    const float width = theme.width(Face::kSmall, text);
    if (width + frame.px(6) < x1 - x0)
      widgets::text(frame.draw, theme, Face::kSmall, {std::round((x0 + x1 - width) / 2), y},
                    frame.color(Color::kTextDim), text);
    ++frame.state.drawn.items;
  }
  frame.draw.PopClipRect();
  const std::string where =
      (current ? "iteration " + format_count(static_cast<int64_t>(iterations[*current].number) + 1)
               : format_count(iterations.size(), "iteration"));
  widgets::fit_text(frame.draw, theme, Face::kSmall, {frame.gutter_x + frame.px(12), y},
                    frame.min.x - frame.gutter_x - frame.px(20), frame.color(Color::kTextDim),
                    where);
  if (!hovered_iteration_ || drag_ == Drag::kPan) return;
  const JobIteration& hovered = iterations[*hovered_iteration_];
  const widgets::Tooltip tooltip;
  widgets::text(theme, Face::kBold, frame.color(Color::kText),
                "iteration " + format_count(static_cast<int64_t>(hovered.number) + 1) + ": " +
                    format_duration(hovered.range.duration_ns()));
  widgets::text(theme, Face::kSmall, frame.color(Color::kTextDim),
                "ranks wait " + format_percent(hovered.waited) +
                    " of it on average; click to fit it to the window");
}

// How much of each iteration ranks wait for others.
void RanksView::draw_overview(Frame& frame, float top) {
  constexpr double kFull = 0.5;  // of an iteration, that fills the height
  const Theme& theme = frame.theme;
  const float bottom = overview_bottom_;
  frame.background.begin_section({frame.gutter_x, top}, {frame.max.x, bottom});
  frame.background.fill({frame.gutter_x, top}, {frame.max.x, bottom}, frame.color(Color::kPanel));
  const TimeRange extent = frame.job.extent();
  const float width = frame.max.x - frame.min.x, foot = bottom - frame.px(4),
              height = foot - top - frame.px(5);
  const auto x_of = [&](Ns at) {
    return frame.min.x +
           static_cast<float>(TimeRange{extent.begin_ns, at}.span_ns() / extent.span_ns()) * width;
  };
  float drawn_to = frame.min.x;
  double most = 0;  // of those in one pixel
  for (const JobIteration& each : frame.job.iterations()) {
    most = std::max(most, std::min(each.waited / kFull, 1.0));
    const float x1 = std::round(x_of(each.range.end_ns));
    if (x1 < drawn_to + 1) continue;
    const float x0 = std::max(drawn_to, std::round(x_of(each.range.begin_ns)));
    frame.background.fill(
        {x0, foot - std::max(1.0f, std::round(height * static_cast<float>(most)))},
        {x1 - x0 > 3 ? x1 - 1 : x1, foot}, theme.dim(frame.color(Color::kWaiting), 0.75f));
    drawn_to = x1;
    most = 0;
  }
  widgets::fit_text(frame.draw, theme, Face::kSmall,
                    {frame.gutter_x + frame.px(12), top + frame.px(6)},
                    frame.min.x - frame.gutter_x - frame.px(16), frame.color(Color::kTextDim),
                    "Waiting of ranks, whole run");
  draw_order(frame, top + frame.px(23));
  draw_overview_window(frame, extent, top, bottom);
}

void RanksView::draw_order(Frame& frame, float top) {
  const Theme& theme = frame.theme;
  float x = frame.gutter_x + frame.px(12);
  const float from = x, height = frame.px(18);
  for (size_t i = 0; i < kOrders.size(); ++i) {
    const bool is_on = frame.state.job.by_number == (i == 1);
    const ImU32 back = frame.color(is_on ? Color::kAccent : Color::kPanelRaised);
    const ImU32 ink = is_on ? theme.on(back) : frame.color(Color::kTextDim);
    x += widgets::chip(&frame.draw, theme, Face::kSmall, {x, top}, back, ink, kOrders[i]).x +
         frame.px(4);
  }
  hovered_order_ = ImGui::IsWindowHovered() && frame.mouse.x >= from && frame.mouse.x < x &&
                   frame.mouse.y >= top && frame.mouse.y < top + height;
}

void RanksView::draw_gutter(Frame& frame) {
  const float right = frame.min.x;
  frame.draw.PushClipRect({frame.gutter_x, frame.min.y}, {right, frame.max.y}, true);
  frame.draw.AddRectFilled({frame.gutter_x, frame.min.y}, {right, frame.max.y},
                           frame.color(Color::kPanel));
  const auto [first, end] = rows_in_view(frame);
  for (size_t row = first; row < end; ++row) draw_name(frame, row);
  frame.draw.AddLine({right - 0.5f, frame.min.y}, {right - 0.5f, frame.max.y},
                     frame.color(Color::kBorder));
  frame.draw.PopClipRect();
  if (!hovered_row_ || drag_ == Drag::kPan) return;
  const ShownRank& row = frame.state.job.rows[*hovered_row_];
  const widgets::Tooltip tooltip(frame.px(440));
  widgets::text(frame.theme, Face::kBold, frame.color(Color::kText), name_of_row(frame.job, row));
  for (const std::string& line : hints_of_row(frame.job, row))
    widgets::text(frame.theme, Face::kBody, frame.color(Color::kTextDim), line);
}

void RanksView::draw_name(Frame& frame, size_t row) {
  const Theme& theme = frame.theme;
  const JobState& state = frame.state.job;
  const ShownRank& shown = state.rows[row];
  const float top = top_of(frame, row), bottom = top + frame.row_height(), right = frame.min.x;
  const bool unfolded = shown.is_fold && state.unfolded[shown.group];
  if (unfolded || row == hovered_row_)
    frame.draw.AddRectFilled({frame.gutter_x, top}, {right, bottom},
                             frame.color(Color::kPanelRaised));
  const bool selected =
      state.selection && state.row_of[frame.job.steps().rank_of(state.selection.step)] == row;
  if (selected)
    frame.draw.AddRectFilled({frame.gutter_x, top}, {frame.gutter_x + frame.px(3), bottom},
                             frame.color(Color::kAccent));
  const float left = frame.gutter_x + frame.px(12);
  if (shown.is_fold)
    widgets::disclosure(frame.draw, {left + frame.px(3), std::round(top + frame.px(15))},
                        frame.px(8), unfolded, frame.color(Color::kTextFaint));
  const float x = left + frame.px(shown.is_member ? 24 : 14);
  float end = right - frame.px(8);
  if (!frame.job.has_clock(shown.rank)) {
    const ImVec2 size = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, kOwnClock);
    end -= size.x;
    widgets::chip(&frame.draw, theme, Face::kSmall, {end, top + frame.px(5)},
                  frame.color(Color::kWarning), frame.color(Color::kOnWarning), kOwnClock);
    end -= frame.px(6);
  }
  const bool opens = row == hovered_row_ && !shown.is_fold;  // a click on it opens its trace
  widgets::fit_text(frame.draw, theme, Face::kBold, {x, top + frame.px(6)}, end - x,
                    frame.color(opens ? Color::kAccent : Color::kText),
                    name_of_row(frame.job, shown));
  widgets::fit_text(frame.draw, theme, Face::kSmall, {x, top + frame.px(24)},
                    right - frame.px(8) - x,
                    frame.color(is_late(frame.job, shown) ? Color::kWaiting : Color::kTextFaint),
                    detail_of_row(frame.job, shown));
  frame.draw.AddLine({frame.gutter_x, bottom - 0.5f}, {right, bottom - 0.5f},
                     frame.color(Color::kGrid));
}

}  // namespace streamscope::viewer
