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

// A time with a bar, and its share of the whole.
void add_share(Ns part, Ns whole, std::vector<GridCell>& cells) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  cells.push_back(time_cell(part));
  cells.back().bar = static_cast<float>(share);
  cells.push_back({.text = format_percent(share), .key = share});
}

}  // namespace

void StatisticsView::refresh(const TraceModel& model, const ViewState& state) {
  prepared_ = model.serial();
  range_ = state.nav.marked;
  rows_ = statistics(model, by_, range_);
  is_by_iteration_ = !range_ && model.diagnosis().has_iterations();
  std::vector<GridColumn> columns = {{.title = "Name"}, {.title = "Stream", .width = 130}};
  const std::vector<GridColumn> numbers =
      is_by_iteration_ ? std::vector{number_column("Iteration", 110), number_column("Share", 60),
                                     number_column("\u00b1", 80),     number_column("Worst", 86),
                                     number_column("Count", 64),      number_column("Run", 86),
                                     number_column("Run count", 80)}
                       : std::vector{number_column("Count", 80), number_column("Total", 110),
                                     number_column("Share", 60), number_column("Mean", 86),
                                     number_column("Min", 86)};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  for (const char* title : {"Median", "95 %", "Max"}) columns.push_back(number_column(title, 86));
  Ns total = 0;
  for (const StatisticsRow& row : rows_) total = add_ns(total, static_cast<double>(row.total_ns));
  std::vector<std::vector<GridCell>> rows;
  for (const StatisticsRow& row : rows_) {
    std::vector<GridCell>& cells = rows.emplace_back();
    cells = {{.text = row.name}, {.text = row.stream}};
    if (is_by_iteration_) {
      add_share(row.each.median_ns, model.diagnosis().iterations.median_ns, cells);
      cells.push_back(time_cell(distance_ns(row.each.low_ns, row.each.high_ns) / 2));
      cells.push_back(time_cell(row.each.most_ns));
      cells.push_back(count_cell(row.each.count));
      cells.push_back(time_cell(row.total_ns));
      cells.push_back(count_cell(row.count));
    } else {
      cells.push_back(count_cell(row.count));
      add_share(row.total_ns, total, cells);
      cells.push_back(time_cell(row.total_ns / static_cast<Ns>(row.count)));
      cells.push_back(time_cell(row.shortest_ns));
    }
    for (const Ns time : {row.median_ns, row.p95_ns, row.longest_ns})
      cells.push_back(time_cell(time));
  }
  grid_.set(std::move(columns), std::move(rows));
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
  if (is_by_iteration_)
    widgets::label_beside(theme, "of an iteration: median of the steady part; then of the run");
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
