// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What surrounds the lanes: the axis, the overview strip, the names.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/labels.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

constexpr float kIndent = 14;
constexpr float kOverviewColumn = 2;  // pixels
constexpr size_t kMostSigns = 200;    // of findings

}  // namespace

void TimelineView::draw_grid(Pane& pane) {
  grid_.assign(static_cast<size_t>(std::max(pane.max.x - pane.min.x, 0.0f)),
               pane.color(Color::kBackground));
  tint_grid(pane);
  draw_ticks(pane, grid_);
}

void TimelineView::draw_overview(Pane& pane, ImVec2 min, ImVec2 max) {
  const Theme& theme = pane.theme;
  const TraceModel& model = pane.model;
  const float width = pane.max.x - pane.min.x;
  PixelBackground& background = pane.state.drawn.background;
  background.begin_section(min, max);
  background.fill(min, max, pane.color(Color::kPanel));
  widgets::text(pane.draw, theme, Face::kSmall, {min.x + pane.px(12), min.y + pane.px(8)},
                pane.color(Color::kTextDim), "Overview");
  widgets::text(pane.draw, theme, Face::kMonoSmall, {min.x + pane.px(12), min.y + pane.px(24)},
                pane.color(Color::kText), format_duration(model.extent().duration_ns()));

  // Kernels extend up from the middle line, copies down; both on the same scale, the maximum fills
  // its half.
  const float top = min.y + pane.px(4), bottom = max.y - pane.px(4);
  const Activity& activity = model.activity();
  const float middle = std::round(top + (bottom - top) * 0.6f);
  const auto columns = static_cast<size_t>(std::max(width / kOverviewColumn, 1.0f));
  const auto means = [&](const std::vector<float>& buckets) {
    std::vector<float> result(columns);
    for (size_t column = 0; column < columns; ++column) {
      const size_t first = column * buckets.size() / columns;
      const size_t last = std::max(first + 1, (column + 1) * buckets.size() / columns);
      result[column] = std::accumulate(buckets.begin() + static_cast<ptrdiff_t>(first),
                                       buckets.begin() + static_cast<ptrdiff_t>(last), 0.0f) /
                       static_cast<float>(last - first);
    }
    return result;
  };
  const std::vector<float> kernels = means(activity.kernels), copies = means(activity.copies);
  const float most =
      std::max({1e-6f, *std::ranges::max_element(kernels), *std::ranges::max_element(copies)});
  // Neighbors of the same height are merged into one rectangle.
  const auto draw_columns = [&](const std::vector<float>& values, float room, ImU32 color) {
    float from = pane.min.x, height = 0;
    for (size_t column = 0; column <= columns; ++column) {
      const float x = pane.min.x + width * static_cast<float>(column) / static_cast<float>(columns);
      float own = -1;  // past the end: differs from any height
      if (column < columns) {
        const float value = values[column];
        own = value <= 0 ? 0 : std::max(1.0f, std::round(value / most * std::fabs(room)));
      }
      if (own == height) continue;
      const float end = middle + std::copysign(height, room);
      if (height > 0)
        background.fill({from, std::min(middle, end)}, {x, std::max(middle, end)}, color);
      from = x;
      height = own;
    }
  };
  draw_columns(kernels, top - middle, theme.color(Category::kKernel));
  draw_columns(copies, bottom - middle, theme.color(Category::kCopyToDevice));
  draw_overview_window(pane, model.extent(), min.y, max.y);
}

void TimelineView::draw_gutter(Pane& pane) {
  const float right = pane.min.x;
  pane.draw.PushClipRect({pane.gutter_x, pane.min.y}, {right, pane.max.y}, true);
  pane.draw.AddRectFilled({pane.gutter_x, pane.min.y}, {right, pane.max.y},
                          pane.color(Color::kPanel));
  const auto lane = current_lane(pane.model, pane.state);
  const float scrolled = pane.min.y + pinned_height_;
  for (const bool pinned : {false, true}) {
    pane.draw.PushClipRect({pane.gutter_x, pinned ? pane.min.y : scrolled},
                           {right, pinned ? scrolled : pane.max.y}, true);
    for (const LaneBox& box : boxes_) {
      if (box.pinned == pinned && box.bottom > pane.min.y && box.top < pane.max.y)
        draw_name(pane, box, lane == box.lane);
    }
    pane.draw.PopClipRect();
  }
  draw_repair_names(pane);
  if (pinned_height_ > 0)
    pane.draw.AddRectFilled({pane.gutter_x, scrolled - pane.px(1)}, {right, scrolled + pane.px(1)},
                            pane.color(Color::kAccent));
  // Where a lane that is dragged would go.
  if (drag_ == Drag::kLane) {
    if (const LaneBox* box = box_at(pane.mouse.y)) {
      const float y = pane.mouse.y > drag_from_.y ? box->bottom : box->top;
      pane.draw.AddRectFilled({pane.gutter_x, y - pane.px(1)}, {right, y + pane.px(1)},
                              pane.color(Color::kAccent));
    }
  }
  pane.draw.AddLine({right - 0.5f, pane.min.y}, {right - 0.5f, pane.max.y},
                    pane.color(Color::kBorder));
  pane.draw.PopClipRect();
}

void TimelineView::draw_name(Pane& pane, const LaneBox& box, bool selected) {
  const Theme& theme = pane.theme;
  const float right = pane.min.x;
  const Lane& lane = pane.model.lanes()[box.lane];
  const bool group = is_group(lane.kind);
  const bool collapsed = pane.state.nav.is_collapsed(box.lane);
  if (group) {
    pane.draw.AddRectFilled({pane.gutter_x, box.top}, {right, box.bottom},
                            pane.color(Color::kPanelRaised));
  }
  if (selected) {
    pane.draw.AddRectFilled({pane.gutter_x, box.top}, {pane.gutter_x + pane.px(3), box.bottom},
                            pane.color(Color::kAccent));
  }
  const float left = pane.gutter_x + pane.px(12) +
                     static_cast<float>(std::max(lane.depth - 1, 0)) * pane.px(kIndent);
  const float center = (box.top + box.bottom) / 2;
  widgets::disclosure(
      pane.draw,
      {left + pane.px(3), std::round(group || collapsed ? center : box.top + pane.px(15))},
      pane.px(8), !collapsed, pane.color(Color::kTextFaint));
  const float text_left = left + pane.px(14);
  float text_right = right - pane.px(10);

  if (lane.busy_share >= 0) text_right -= draw_busy_share(pane, box, text_right);
  if (lane.kind == LaneKind::kCounter && !collapsed) text_right -= draw_scale(pane, box);
  const Face face = group ? Face::kBold : Face::kBody;
  if (group || collapsed) {
    const float y = std::round(center - theme.text(face).size / 2 - 1);
    const float used =
        widgets::fit_text(pane.draw, theme, face, {text_left, y}, text_right - text_left,
                          pane.color(Color::kText), lane.title);
    const float rest = text_left + used + pane.px(8);
    if (group) {
      widgets::fit_text(pane.draw, theme, Face::kSmall, {rest, y + pane.px(1.5f)},
                        text_right - rest, pane.color(Color::kTextDim), lane.detail);
    }
  } else {
    const float y = box.top + pane.px(6);
    widgets::fit_text(pane.draw, theme, face, {text_left, y}, text_right - text_left,
                      pane.color(Color::kText), lane.title);
    widgets::fit_text(pane.draw, theme, Face::kSmall, {text_left, y + pane.px(17)},
                      text_right - text_left, pane.color(Color::kTextFaint),
                      lane.host_times ? "no device times: shown when issued" : lane.detail);
    if (lane.kind == LaneKind::kStream && pane.state.prediction)
      widgets::fit_text(pane.draw, theme, Face::kSmall, {text_left, y + pane.px(31)},
                        text_right - text_left, pane.color(Color::kAccent), "below: if fixed");
  }
  pane.draw.AddLine({pane.gutter_x, box.bottom - 0.5f}, {right, box.bottom - 0.5f},
                    pane.color(Color::kGrid));
}

float TimelineView::draw_busy_share(Pane& pane, const LaneBox& box, float right) {
  const Theme& theme = pane.theme;
  const Lane& lane = pane.model.lanes()[box.lane];
  const bool one_line = is_group(lane.kind) || pane.state.nav.is_collapsed(box.lane);
  const float bar = std::min(pane.px(40), std::round((pane.min.x - pane.gutter_x) * 0.17f));
  const std::string text = format_percent(lane.busy_share);
  const float width = theme.width(Face::kSmall, text), height = theme.text(Face::kSmall).size;
  const float y =
      one_line ? std::round((box.top + box.bottom) / 2 - height / 2 - 1) : box.top + pane.px(8);
  widgets::text(pane.draw, theme, Face::kSmall, {right - width, y}, pane.color(Color::kTextDim),
                text);
  if (one_line) return width + pane.px(10);
  const float bar_y = y + height + pane.px(5);
  const auto busy = static_cast<float>(std::min(lane.busy_share, 1.0));
  pane.draw.AddRectFilled({right - bar, bar_y}, {right, bar_y + pane.px(3)},
                          pane.color(Color::kBorder));
  pane.draw.AddRectFilled({right - bar, bar_y},
                          {right - bar + std::round(bar * busy), bar_y + pane.px(3)},
                          theme.color(Category::kKernel));
  return std::max(width, bar) + pane.px(10);
}

float TimelineView::draw_scale(Pane& pane, const LaneBox& box) {
  const Theme& theme = pane.theme;
  const Lane& lane = pane.model.lanes()[box.lane];
  const auto mark = [&](int64_t value, float y) {
    const std::string text = lane.counter.text(value);
    const float width = theme.width(Face::kSmall, text);
    widgets::text(pane.draw, theme, Face::kSmall, {pane.min.x - pane.px(6) - width, y},
                  pane.color(Color::kTextDim), text);
    return width;
  };
  mark(0, box.bottom - theme.text(Face::kSmall).size - pane.px(3));
  return mark(lane.counter.top(), box.top + pane.px(2)) + pane.px(4);
}

// Findings: triangles on the axis, and the time of the selected one.
void TimelineView::draw_findings(Pane& pane) {
  const std::vector<FindingLine>& findings = pane.model.insights().findings;
  const float size = pane.px(9), top = pane.min.y - size;
  const auto x_of = [&](Ns at) {
    return std::clamp(pane.x(at), pane.min.x - size, pane.max.x + size);
  };
  hovered_finding_.reset();
  if (pane.state.selection.finding && *pane.state.selection.finding < findings.size()) {
    const FindingLine& finding = findings[*pane.state.selection.finding];
    if (const TimeRange time = finding.time(); time.begin_ns != trace::kUnknownNs) {
      const float from = x_of(time.begin_ns), to = std::max(x_of(time.end_ns), from + 1);
      pane.draw.PushClipRect(pane.min, pane.max, true);
      for (const float x : {from, to - 1})
        pane.draw.AddRectFilled({x, pane.min.y}, {x + 1, pane.max.y},
                                Theme::fade(pane.theme.color(finding.severity()), 0.7f));
      pane.draw.PopClipRect();
    }
  }
  // The most severe come first in the list, and later ones must not cover them.
  const size_t firm = pane.model.insights().firm_findings();
  std::vector<float> taken;
  for (size_t i = 0; i < firm && taken.size() < kMostSigns; ++i) {
    const Ns start = findings[i].time().begin_ns;
    if (start == trace::kUnknownNs) continue;
    const float x = pane.x(start);
    if (x < pane.min.x || x > pane.max.x) continue;
    if (std::ranges::any_of(taken, [&](float other) { return std::fabs(other - x) < size; }))
      continue;
    taken.push_back(x);
    const bool hovered = std::fabs(pane.mouse.x - x) <= size * 0.6f && pane.mouse.y >= top &&
                         pane.mouse.y < pane.min.y;
    const bool chosen = pane.state.selection.finding == i;
    widgets::finding_glyph(pane.draw, pane.theme, x, pane.min.y, size,
                           chosen || hovered ? pane.color(Color::kSelection)
                                             : pane.theme.color(findings[i].severity()));
    if (!hovered || pane.model.is_sketch()) continue;
    hovered_finding_ = i;
    const widgets::Tooltip tooltip(pane.px(440));
    widgets::text(pane.theme, Face::kBold, pane.theme.color(findings[i].severity()),
                  report::rule_name(*findings[i].advice.detector));
    widgets::text(pane.theme, Face::kBody, pane.color(Color::kText), findings[i].title());
  }
}

// Flags of bookmarks, at the upper edge of the axis.
void TimelineView::draw_bookmarks(Pane& pane, float top) {
  const float size = pane.px(8);
  for (const Bookmark& bookmark : pane.state.nav.bookmarks.all()) {
    const float x = pane.x(bookmark.range.begin_ns);
    if (x < pane.min.x || x > pane.max.x) continue;
    const ImU32 color = pane.color(Color::kAccent);
    pane.draw.AddRectFilled({x, top}, {x + 1, pane.min.y}, color);
    pane.draw.AddRectFilled({x, top}, {x + size, top + size * 0.7f}, color);
    if (std::fabs(pane.mouse.x - x - size / 2) > size || pane.mouse.y < top ||
        pane.mouse.y >= pane.min.y)
      continue;
    const widgets::Tooltip tooltip(pane.px(440));
    widgets::text(pane.theme, Face::kBody, pane.color(Color::kText),
                  bookmark.note.empty() ? "Bookmark" : bookmark.note);
  }
}

// Where the work would end with the findings fixed.
void TimelineView::draw_prediction(Pane& pane) {
  if (!pane.state.prediction || pane.state.prediction->end_ns == trace::kUnknownNs) return;
  const float x = std::round(pane.x(pane.state.prediction->end_ns));
  if (x >= pane.min.x && x < pane.max.x)
    pane.draw.AddRectFilled({x, pane.min.y}, {x + pane.px(2), pane.max.y},
                            pane.color(Color::kAccent));
}

}  // namespace streamscope::viewer
