// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

using report::Section;
using report::SectionKind;

constexpr float kTablesBesideFrom = 760;  // width from which the tables are beside the answers
constexpr float kTableHeight = 220;       // below them
constexpr float kNumberColumn = 84;

bool is_answer(const Section& section) { return section.kind == SectionKind::kAnswer; }

Grid grid_of(const Section& section) {
  std::vector<GridColumn> columns;
  for (const report::Column& column : section.columns)
    columns.push_back({.title = column.heading(),
                       .is_number = column.right,
                       .width = column.right ? kNumberColumn : 0});
  std::vector<std::vector<GridCell>> rows;
  rows.reserve(section.rows.size());
  for (size_t row = 0; row < section.rows.size(); ++row) {
    std::vector<GridCell>& cells = rows.emplace_back();
    for (size_t column = 0; column < section.rows[row].size(); ++column)
      cells.push_back({.text = with_units_kept(section.rows[row][column]),
                       .key = section.keys.empty() ? std::atof(section.rows[row][column].c_str())
                                                   : section.keys[row][column]});
  }
  Grid grid;
  grid.set(std::move(columns), std::move(rows));
  grid.keep_sorted();
  return grid;
}

}  // namespace

void JobView::refresh(std::shared_ptr<const JobModel> run) {
  // Of the same run, grown, the same table stays open.
  const std::string open =
      tables_.empty() ? "" : prepared_->document().sections[tables_[shown_]].title;
  prepared_ = std::move(run);
  grids_.clear();
  tables_.clear();
  shown_ = 0;
  const std::vector<Section>& sections = prepared_->document().sections;
  for (size_t i = 0; i < sections.size(); ++i) {
    grids_.push_back(sections[i].columns.empty() ? Grid() : grid_of(sections[i]));
    if (is_answer(sections[i])) continue;
    if (sections[i].kind == SectionKind::kRanks) shown_ = tables_.size();
    tables_.push_back(i);
  }
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (sections[tables_[i]].title == open) shown_ = i;
  }
}

void JobView::draw(const TraceModel&, ViewState& state, const Theme& theme) {
  if (!state.job.model)
    return widgets::empty_state(theme, "No run of many ranks is open",
                                "streamscope view DIR opens the folder of a run: which rank makes "
                                "the others wait, and what that costs.");
  const JobModel& job = *state.job.model;
  if (prepared_ != state.job.model) refresh(state.job.model);
  next_id_ = 0;
  const float width = ImGui::GetContentRegionAvail().x, gap = theme.px(24);
  const bool beside = width > theme.px(kTablesBesideFrom);
  if (beside) ImGui::BeginChild("answers", {std::round(width * 0.38f) - gap, 0});
  draw_answers(job, state, theme);
  if (beside) {
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("tables", {0, 0});
  } else {
    ImGui::Dummy({0, theme.px(4)});
  }
  draw_tables(job, state, theme, beside ? 0 : theme.px(kTableHeight));
  if (beside) ImGui::EndChild();
}

void JobView::draw_answers(const JobModel& job, ViewState& state, const Theme& theme) {
  const ImU32 ink = theme.color(Color::kText), dim = theme.color(Color::kTextDim);
  for (size_t i = 0; i < grids_.size(); ++i) {
    const Section& section = job.document().sections[i];
    if (!is_answer(section)) continue;
    const bool is_about_costs = i == 0;  // a remark for each delay
    if (is_about_costs) {
      widgets::text(theme, Face::kBold, ink, section.title);
    } else {
      widgets::heading(theme, section.title);
    }
    for (size_t remark = 0; remark < section.remarks.size(); ++remark) {
      const std::string text = with_units_kept(section.remarks[remark]);
      if (!is_about_costs || remark >= job.job().delays.size()) {
        widgets::wrapped(theme, Face::kBody, ink, text);
      } else if (widgets::wrapped_link(theme, state.focus.stops, Face::kBody, text, next_id_++)) {
        select_delay(job, state, remark);
      }
    }
    if (grids_[i].row_count() > 0) {
      const std::string id = "answer" + std::to_string(i);
      ImGui::BeginChild(id.c_str(), {0, Grid::height(theme, grids_[i].row_count())});
      grids_[i].draw(theme, state.focus.stops, id.c_str(), [](size_t) { return false; });
      ImGui::EndChild();
    }
    for (const std::string& footnote : section.footnotes)
      widgets::wrapped(theme, Face::kSmall, dim, with_units_kept(footnote));
  }
}

void JobView::draw_tables(const JobModel& job, ViewState& state, const Theme& theme, float height) {
  if (tables_.empty()) return;
  for (size_t i = 0; i < tables_.size(); ++i) {
    const std::string& title = job.document().sections[tables_[i]].title;
    if (i > 0) widgets::beside(widgets::button_width(theme, title));
    if (widgets::button(theme, state.focus.stops, title, shown_ == i)) shown_ = i;
  }
  Grid& grid = grids_[tables_[shown_]];
  widgets::beside(widgets::button_width(theme, kCopyTitle));
  copy_button(theme, state.focus.stops, grid);
  const Section& section = job.document().sections[tables_[shown_]];
  std::string footnotes;
  for (const std::string& footnote : section.footnotes)
    footnotes += (footnotes.empty() ? "" : "; ") + footnote;
  const float below = footnotes.empty() ? 0 : 2 * ImGui::GetTextLineHeightWithSpacing();
  const float room = height > 0 ? height : ImGui::GetContentRegionAvail().y;
  const bool links = section.kind == SectionKind::kRanks;
  const StepPart selection = state.job.selection;
  const std::string selected = links && selection && state.job.is_shown
                                   ? std::to_string(job.steps().rank_number(selection.step))
                                   : "";
  ImGui::BeginChild("table", {0, std::max(room - below, Grid::height(theme, 2))});
  const auto clicked = grid.draw(theme, state.focus.stops, section.title.c_str(), [&](size_t row) {
    return !selected.empty() && section.rows[row].front() == selected;
  });
  ImGui::EndChild();
  widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim), with_units_kept(footnotes));
  if (clicked && links) take_rank(job, state, *clicked);
}

// In the lanes, a rank is selected; from the trace of a rank, that of another is opened.
void JobView::take_rank(const JobModel& job, ViewState& state, size_t row) {
  const Section& section = job.document().sections[tables_[shown_]];
  const int32_t number = std::atoi(section.rows[row].front().c_str());
  const uint32_t rank_row = job.row_of(number).value();
  if (!state.job.is_shown) return open_rank(job, state, rank_row);
  select_rank(job, state, rank_row);
}

}  // namespace streamscope::viewer
