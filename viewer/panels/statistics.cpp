// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "statistics.h"

#include <algorithm>
#include <cmath>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

// A row of bars, the largest of which fills the height.
void draw_histogram(const Theme& theme, const StatisticsRow& row) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::min(ImGui::GetContentRegionAvail().x, theme.px(360));
  const float height = theme.px(64);
  const uint32_t most = std::max(*std::ranges::max_element(row.histogram), 1u);
  const float step = width / static_cast<float>(row.histogram.size());
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  for (size_t i = 0; i < row.histogram.size(); ++i) {
    const float x = at.x + step * static_cast<float>(i);
    const float bar =
        row.histogram[i] == 0
            ? 0
            : std::max(theme.px(2), std::round(height * static_cast<float>(row.histogram[i]) /
                                               static_cast<float>(most)));
    draw.AddRectFilled({x, at.y + height - bar}, {x + step - 1, at.y + height},
                       theme.color(Category::kKernel));
  }
  draw.AddLine({at.x, at.y + height + 0.5f}, {at.x + width, at.y + height + 0.5f},
               theme.color(Color::kBorder));
  ImGui::Dummy({width, height + theme.px(4)});
}

}  // namespace

void StatisticsView::refresh(const TraceModel& model, const ViewState& state) {
  prepared_ = model.serial();
  range_ = state.nav.marked;
  rows_ = statistics(model, by_, range_);
  Ns total = 0;
  for (const StatisticsRow& row : rows_) total = add_ns(total, static_cast<double>(row.total_ns));
  std::vector<std::vector<GridCell>> rows;
  for (const StatisticsRow& row : rows_) {
    const double share =
        total > 0 ? static_cast<double>(row.total_ns) / static_cast<double>(total) : 0;
    GridCell all = time_cell(row.total_ns);
    all.bar = static_cast<float>(share);
    rows.push_back({{.text = row.name},
                    {.text = row.stream},
                    count_cell(row.count),
                    std::move(all),
                    {.text = format_percent(share), .key = share},
                    time_cell(row.total_ns / static_cast<Ns>(row.count)),
                    time_cell(row.shortest_ns),
                    time_cell(row.median_ns),
                    time_cell(row.p95_ns),
                    time_cell(row.longest_ns)});
  }
  grid_.set({{.title = "Name"},
             {.title = "Stream", .width = 130},
             number_column("Count", 80),
             number_column("Total", 110),
             number_column("Share", 60),
             number_column("Mean", 86),
             number_column("Min", 86),
             number_column("Median", 86),
             number_column("95 %", 86),
             number_column("Max", 86)},
            std::move(rows));
  selected_.reset();
  if (!rows_.empty()) selected_ = 0;
}

void StatisticsView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (prepared_ != model.serial() || range_ != state.nav.marked) refresh(model, state);
  for (size_t i = 0; i < kGroupNames.size(); ++i) {
    if (i > 0) widgets::beside(widgets::button_width(theme, kGroupNames[i]));
    if (widgets::button(theme, state.focus.stops, kGroupNames[i], static_cast<size_t>(by_) == i)) {
      by_ = static_cast<GroupBy>(i);
      refresh(model, state);
    }
  }
  widgets::beside(widgets::button_width(theme, kCopyTitle));
  copy_button(theme, state.focus.stops, grid_);
  if (range_)
    widgets::label_beside(theme, "in the marked " + format_duration(range_->duration_ns()));
  if (rows_.empty()) {
    return widgets::empty_state(theme, "No data",
                                range_ ? "The marked time contains nothing of this kind; Escape "
                                         "clears the mark."
                                       : "This trace contains nothing of this kind.");
  }
  const float room = ImGui::GetContentRegionAvail().y;
  const float below = std::min(theme.px(132), room * 0.5f);
  ImGui::BeginChild("table", {0, room - below});
  if (const auto clicked = grid_.draw(theme, state.focus.stops, "statistics",
                                      [&](size_t row) { return selected_ == row; })) {
    selected_ = clicked;
    select(state, rows_[*clicked].longest);
  }
  ImGui::EndChild();
  ImGui::Spacing();
  if (!selected_ || *selected_ >= rows_.size()) return;
  const StatisticsRow& row = rows_[*selected_];
  widgets::wrapped(theme, Face::kBold, theme.color(Color::kText),
                   "Durations of " + ellipsize(row.name, 60));
  constexpr std::string_view kScale =
      "logarithmic scale, the same for all rows; click a row to select its longest item";
  widgets::beside(theme.width(Face::kSmall, kScale));
  widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim), kScale);
  draw_histogram(theme, row);
}

}  // namespace streamscope::viewer
