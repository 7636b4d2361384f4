// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lanes of repairs, above all others: how the median iteration would have run with each of them.

#include <algorithm>
#include <cmath>

#include "model/labels.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

constexpr float kHeight = 54;
constexpr float kRowPitch = 12;
constexpr float kBracket = 12;  // the duration, below the work

// "Repair 1", as the diagnosis numbers them.
std::string name_of(const Diagnosis& diagnosis, size_t finding) {
  const auto at = std::ranges::find(diagnosis.repairs, finding, &Repair::finding);
  return "Repair " + format_count(at - diagnosis.repairs.begin() + 1);
}

}  // namespace

float TimelineView::repairs_height(const Pane& pane) {
  return static_cast<float>(pane.state.schedules.size()) * pane.px(kHeight);
}

void TimelineView::draw_repairs(Pane& pane) {
  float top = pane.min.y;
  for (const auto& schedule : pane.state.schedules) {
    draw_repair(pane, *schedule, top);
    top += pane.px(kHeight);
  }
}

void TimelineView::draw_repair(Pane& pane, const RepairSchedule& schedule, float top) {
  const float bottom = top + pane.px(kHeight);
  PixelBackground& background = pane.state.drawn.background;
  background.fill({pane.min.x, bottom - 1}, {pane.max.x, bottom}, pane.color(Color::kGrid));
  const float used = static_cast<float>(schedule.rows.size()) * pane.px(kRowPitch);
  float y = top + std::round((bottom - top - pane.px(kBracket) - used) / 2);
  for (const Row& row : schedule.rows) {
    draw_predicted(pane, row, y, pane.px(kRowPitch - 2), 1);
    y += pane.px(kRowPitch);
  }
  // From begin to end as predicted, then what is saved.
  const auto clamped = [&](Ns at) { return std::clamp(pane.x(at), pane.min.x, pane.max.x); };
  const float begin = clamped(schedule.recorded.begin_ns), end = clamped(schedule.end_ns),
              recorded = clamped(schedule.recorded.end_ns);
  const float line = bottom - pane.px(8);
  background.fill({begin, line}, {end, line + pane.px(3)}, pane.color(Color::kAccent));
  background.fill({std::min(end, recorded), line}, {std::max(end, recorded), line + pane.px(3)},
                  pane.color(Color::kBorder));
  const Ns saved = distance_ns(schedule.end_ns, schedule.recorded.end_ns);
  std::string text = format_duration(schedule.predicted_ns());
  const auto size_of = [&](const std::string& label) {
    return widgets::chip(nullptr, pane.theme, Face::kSmall, {}, 0, 0, label);
  };
  const float room = pane.max.x - end - pane.px(14);
  if (const std::string longer = text + ", " + format_duration(saved) + " less than recorded";
      saved > 0 && size_of(longer).x <= room)
    text = longer;
  // Behind the end, or over the work where there is no space.
  const ImVec2 size = size_of(text);
  const float left = std::min(end + pane.px(6), pane.max.x - size.x - pane.px(8));
  if (end > pane.min.x && left > pane.min.x)
    widgets::chip(&pane.draw, pane.theme, Face::kSmall,
                  {left, top + std::round((line - top - size.y) / 2)},
                  pane.color(Color::kPanelRaised), pane.color(Color::kAccent), text);
}

void TimelineView::draw_repair_names(Pane& pane) {
  const Theme& theme = pane.theme;
  const Diagnosis& diagnosis = pane.model.diagnosis();
  const float left = pane.gutter_x + pane.px(12), room = pane.min.x - left - pane.px(10);
  float top = pane.min.y;
  for (const auto& schedule : pane.state.schedules) {
    const FindingLine& finding = pane.model.insights().findings[schedule->finding];
    const auto at = std::ranges::find(diagnosis.repairs, schedule->finding, &Repair::finding);
    widgets::fit_text(pane.draw, theme, Face::kBold, {left, top + pane.px(4)}, room,
                      pane.color(Color::kAccent), name_of(diagnosis, schedule->finding));
    if (at != diagnosis.repairs.end())
      widgets::fit_text(pane.draw, theme, Face::kSmall, {left, top + pane.px(20)}, room,
                        pane.color(Color::kText), with_units_kept("iteration " + at->gain));
    widgets::fit_text(pane.draw, theme, Face::kSmall, {left, top + pane.px(35)}, room,
                      pane.color(Color::kTextFaint), finding.title());
    top += pane.px(kHeight);
    pane.draw.AddLine({pane.gutter_x, top - 0.5f}, {pane.min.x, top - 0.5f},
                      pane.color(Color::kGrid));
  }
}

}  // namespace streamscope::viewer
