// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kGutter = 236, kLeastGutter = 140;
constexpr float kAxisTickSpacing = 130;
constexpr float kStripFoot = 2;     // pixels at the lower edge that a strip may color otherwise
constexpr size_t kHatchPeriod = 6;  // pixels from line to line
constexpr size_t kHatchLine = 2;

}  // namespace

Pixels pixels_of(float x0, float x1) {
  const float first = std::floor(x0 + 0.5f);
  return {first, std::max(std::floor(x1 + 0.5f), first + 1)};
}

Strip::Strip(const Plot& plot, float top, float bottom, const std::vector<ImU32>& grid)
    : plot_(plot), top_(top), bottom_(bottom), line_(grid), foot_(grid) {}

std::pair<size_t, size_t> Strip::columns(float x0, float x1) const {
  const Pixels pixels = pixels_of(x0, x1);
  const auto size = static_cast<float>(line_.size());
  const float first = std::clamp(pixels.first, 0.0f, size);
  const float end = std::clamp(std::max(pixels.end, first + 1), 0.0f, size);
  return {static_cast<size_t>(first), static_cast<size_t>(end)};
}

void Strip::fill(float x0, float x1, ImU32 color, ImU32 foot) {
  const auto [first, end] = columns(x0, x1);
  for (size_t i = first; i < end; ++i) {
    line_[i] = color;
    foot_[i] = foot;
  }
}

void Strip::hatch(float x0, float x1, ImU32 color, ImU32 line) {
  fill(x0, x1, color);
  const auto [first, end] = columns(x0, x1);
  if (first < end) hatched_.push_back({first, end, line});
}

void Strip::finish() const {
  const float foot = bottom_ - plot_.px(kStripFoot);
  if (hatched_.empty()) {
    plot_.background.repeat(plot_.min.x, top_, foot, line_);
    plot_.background.repeat(plot_.min.x, foot, bottom_, foot_);
    return;
  }
  size_t row = 0;
  for (float y = top_; y < bottom_; ++y, ++row) {
    std::vector<ImU32> pixels = y < foot ? line_ : foot_;
    for (const Hatched& each : hatched_) {
      // The lines move with the left end of what they fill.
      for (size_t i = each.first; i < each.end; ++i) {
        if ((i - each.first + row) % kHatchPeriod < kHatchLine) pixels[i] = each.line;
      }
    }
    plot_.background.repeat(plot_.min.x, y, std::min(y + 1, bottom_), pixels);
  }
}

void draw_ticks(const Plot& plot, std::vector<ImU32>& line) {
  const auto mark = [&](float x, Color color) {
    const float at = std::floor(x) - plot.min.x;
    if (at >= 0 && at < static_cast<float>(line.size()))
      line[static_cast<size_t>(at)] = plot.color(color);
  };
  const Ticks marks = ticks(plot.window, plot.px(kAxisTickSpacing));
  const float step =
      static_cast<float>(static_cast<double>(marks.minor_step_ns) / plot.window.ns_per_px);
  if (!marks.at.empty() && step >= plot.px(8)) {
    // Minor lines around the first tick in both directions, in whole minor steps from it, so never
    // beside a major line.
    const float first = plot.x(marks.at.front());
    const float begin = first - std::ceil((first - plot.min.x) / step) * step;
    for (float x = begin; x < plot.max.x; x += step) mark(x, Color::kGridMinor);
  }
  for (const Ns at : marks.at) mark(plot.x(at), Color::kGrid);
  plot.background.repeat(plot.min.x, plot.min.y, plot.max.y, line);
}

void draw_time_axis(const Plot& plot, float top) {
  const Theme& theme = plot.theme;
  const TimeWindow& window = plot.window;
  PixelBackground& background = plot.background;
  background.begin_section({plot.gutter_x, top}, {plot.max.x, plot.min.y});
  background.fill({plot.gutter_x, top}, {plot.max.x, plot.min.y}, plot.color(Color::kPanel));
  background.fill({plot.gutter_x, plot.min.y - 1}, {plot.max.x, plot.min.y},
                  plot.color(Color::kBorder));
  const Ticks marks = ticks(window, plot.px(kAxisTickSpacing));
  const TimeRange shown = window.range();
  const Ns largest = std::max(std::abs(std::max(shown.begin_ns, -std::numeric_limits<Ns>::max())),
                              std::abs(std::max(shown.end_ns, -std::numeric_limits<Ns>::max())));
  // Deep in a trace the labels are offsets from a base, which is shown at the left.
  const bool relative = !marks.at.empty() && largest / marks.step_ns >= 10'000;
  const Ns base = relative ? marks.at.front() : 0;
  const float y = std::round((top + plot.min.y - theme.text(Face::kMonoSmall).size) / 2);
  const ImVec2 cell{plot.gutter_x + plot.px(12), y};
  widgets::fit_text(
      plot.draw, theme, Face::kMonoSmall, cell, plot.min.x - cell.x, plot.color(Color::kTextDim),
      relative ? format_exact(base) + " +"
               : format_duration(distance_ns(shown.begin_ns, shown.end_ns)) + " in view");
  plot.draw.PushClipRect({plot.min.x, top}, {plot.max.x, plot.min.y}, true);
  for (const Ns at : marks.at) {
    const float x = std::floor(plot.x(at)) + 0.5f;
    plot.draw.AddLine({x, plot.min.y - plot.px(6)}, {x, plot.min.y}, plot.color(Color::kTextFaint));
    const std::string text = relative ? format_tick(at - base, marks.step_ns, marks.step_ns * 10)
                                      : format_tick(at, marks.step_ns, largest);
    if (x + plot.px(8) + theme.width(Face::kMonoSmall, text) > plot.max.x) continue;
    widgets::text(plot.draw, theme, Face::kMonoSmall, {x + plot.px(5), y},
                  plot.color(Color::kTextDim), text);
  }
  // The instant under the mouse, to the nanosecond.
  if (plot.mouse_in_plot) {
    const std::string text = format_exact(window.to_ns(plot.mouse.x - plot.min.x));
    const ImVec2 size = widgets::chip(nullptr, theme, Face::kMonoSmall, {}, 0, 0, text);
    const float x = std::clamp(plot.mouse.x - size.x / 2, plot.min.x,
                               std::max(plot.max.x - size.x, plot.min.x));
    widgets::chip(&plot.draw, theme, Face::kMonoSmall, {x, top + (plot.min.y - top - size.y) / 2},
                  plot.color(Color::kAccent), theme.on(plot.color(Color::kAccent)), text);
  }
  plot.draw.PopClipRect();
}

void draw_overview_window(const Plot& plot, TimeRange extent, float top, float bottom) {
  const float width = plot.max.x - plot.min.x;
  const double per_px = extent.span_ns() / width;
  const TimeRange shown = plot.window.range();
  const auto to_x = [&](Ns at) {
    return plot.min.x + static_cast<float>(std::clamp(
                            TimeRange{extent.begin_ns, at}.span_ns() / per_px, 0.0, double{width}));
  };
  float from = to_x(shown.begin_ns), to = to_x(shown.end_ns);
  if (to - from < plot.px(3)) {
    const float center = (from + to) / 2;
    from = center - plot.px(1.5f);
    to = center + plot.px(1.5f);
  }
  const ImU32 veil = Theme::fade(plot.color(Color::kPanel), 0.62f);
  plot.draw.AddRectFilled({plot.min.x, top}, {from, bottom}, veil);
  plot.draw.AddRectFilled({to, top}, {plot.max.x, bottom}, veil);
  plot.draw.AddRect({from, top + 1}, {to, bottom - 1}, plot.color(Color::kAccent), 0, 0, 1);
  plot.draw.AddLine({plot.gutter_x, bottom - 0.5f}, {plot.max.x, bottom - 0.5f},
                    plot.color(Color::kBorder));
}

void draw_scroll_bar(const Plot& plot, float scroll, float content_height) {
  const float page = plot.max.y - plot.min.y;
  if (content_height <= page) return;
  const float height = std::max(page * page / content_height, plot.px(24));
  const float top = plot.min.y + scroll / (content_height - page) * (page - height);
  plot.draw.AddRectFilled({plot.max.x - plot.px(5), top}, {plot.max.x - plot.px(1), top + height},
                          plot.color(Color::kTextFaint));
}

float gutter_width(const Theme& theme, float view_width) {
  return std::clamp(std::round(view_width * 0.44f), theme.px(kLeastGutter), theme.px(kGutter));
}

}  // namespace streamscope::viewer
