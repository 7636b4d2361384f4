// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sql.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "model/labels.h"
#include "trace/error.h"
#include "trace/read/query.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kNumberWidth = 130;
constexpr size_t kMostRows = 100'000;  // larger results are for `streamscope query`

struct Example {
  const char* title;
  const char* sql;
};
constexpr std::array<Example, 4> kExamples = {
    {{"Longest operations",
      "SELECT id, kind, name, stream, start_ns, end_ns - start_ns AS duration_ns\n"
      "FROM v_op ORDER BY duration_ns DESC LIMIT 200"},
     {"Late starts",
      "SELECT op_id, cause, duration_ns, because_op_id FROM wait_cause\n"
      "ORDER BY duration_ns DESC LIMIT 200"},
     {"Work by stream",
      "SELECT stream_name, kind, count(*) AS count, sum(end_ns - start_ns) AS total_ns\n"
      "FROM v_op GROUP BY 1, 2 ORDER BY total_ns DESC"},
     {"Tables and views",
      "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')\n"
      "ORDER BY 1, 2"}}};

GridCell cell_of(const trace::Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell))
    return {.text = std::to_string(*number), .key = static_cast<double>(*number)};
  if (const auto* number = std::get_if<double>(&cell)) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.6g", *number);
    return {.text = text.data(), .key = *number};
  }
  if (const auto* text = std::get_if<std::string_view>(&cell))
    return {.text = std::string(text->substr(0, 4096))};
  if (const auto* blob = std::get_if<trace::Blob>(&cell))
    return {.text = format_bytes(static_cast<int64_t>(blob->bytes.size())) + " of data"};
  return {};
}

}  // namespace

SqlView::SqlView() { std::strncpy(text_.data(), kExamples[0].sql, text_.size() - 1); }

SqlView::~SqlView() { stop(); }

void SqlView::stop() {
  cancelled_ = true;
  {
    const std::lock_guard lock(mutex_);
    if (query_) query_->interrupt();
  }
  running_ = {};
  cancelled_ = false;
}

SqlView::Result SqlView::execute(const std::filesystem::path& file, const std::string& sql,
                                 SqlView& self) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  try {
    auto query = std::make_unique<trace::Query>(file, sql);
    trace::Query& running = *query;
    {
      const std::lock_guard lock(self.mutex_);
      self.query_ = std::move(query);
      if (self.cancelled_) running.interrupt();  // was set before there was a query to interrupt
    }
    result.columns = running.columns();
    while (running.next()) {
      if (result.rows.size() == kMostRows) {
        result.cut = true;
        break;
      }
      std::vector<GridCell>& row = result.rows.emplace_back();
      for (size_t i = 0; i < result.columns.size(); ++i) row.push_back(cell_of(running.cell(i)));
    }
  } catch (const Error& error) {
    result.error = error.cause() + (error.remedy().empty() ? "" : "; " + error.remedy());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void SqlView::run(const TraceModel& model) {
  stop();
  if (model.trace().file.empty()) {
    shown_ = {};
    shown_.error = "this trace has no file to query";
    return;
  }
  running_.start([this, file = model.trace().file, sql = std::string(text_.data())] {
    Result result = execute(file, sql, *this);
    const std::lock_guard lock(mutex_);
    query_.reset();
    return result;
  });
}

void SqlView::show(Result result) {
  shown_ = std::move(result);
  selected_.reset();
  id_column_.reset();
  std::vector<GridColumn> columns;
  for (size_t i = 0; i < shown_.columns.size(); ++i) {
    const std::string& name = shown_.columns[i];
    if (!id_column_ && (name == "op_id" || name == "id")) id_column_ = i;
    // A column contains numbers if its first value is one.
    const auto& rows = shown_.rows;
    const bool number = !rows.empty() && !rows[0][i].text.empty() &&
                        rows[0][i].text.find_first_not_of("0123456789+-.e") == std::string::npos;
    columns.push_back({.title = name, .is_number = number, .width = number ? kNumberWidth : 0});
  }
  grid_.set(std::move(columns), std::move(shown_.rows));
}

void SqlView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (prepared_ != model.serial()) {
    prepared_ = model.serial();
    run(model);
  }
  if (std::optional<Result> result = running_.take()) show(std::move(*result));
  if (running_.is_busy()) state.drawn.busy = true;
  state.drawn.result_rows = grid_.row_count();
  for (const Example& example : kExamples) {
    if (&example != kExamples.begin()) widgets::beside(widgets::button_width(theme, example.title));
    if (widgets::button(theme, state.focus.stops, example.title, false)) {
      text_.fill(0);
      std::strncpy(text_.data(), example.sql, text_.size() - 1);
      run(model);
    }
  }
  widgets::beside(widgets::button_width(theme, kCopyTitle));
  copy_button(theme, state.focus.stops, grid_);
  widgets::label_beside(theme, "docs/trace-format.md describes every table and view");
  widgets::push_mono(theme);
  if (state.focus.stops.is_next()) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextMultiline(
      "##sql", text_.data(), text_.size(), {-1, theme.px(64)},
      ImGuiInputTextFlags_CtrlEnterForNewLine | ImGuiInputTextFlags_EnterReturnsTrue);
  state.focus.stops.add_focused(ImGui::IsItemActive() || ImGui::IsItemFocused(), true);
  ImGui::PopFont();
  if (entered) run(model);
  if (widgets::button(theme, state.focus.stops, running_.is_busy() ? "Stop" : "Run  (Enter)",
                      !running_.is_busy())) {
    if (running_.is_busy()) {
      stop();
    } else {
      run(model);
    }
  }
  if (running_.is_busy()) {
    widgets::label_beside(theme, "running\u2026");
  } else if (!shown_.error.empty()) {
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kError), shown_.error);
    return;
  } else {
    widgets::label_beside(theme, format_count(grid_.row_count(), "row") + " in " +
                                     format_duration(static_cast<Ns>(shown_.seconds * 1e9)) +
                                     (shown_.cut ? "; truncated" : "") +
                                     (id_column_ ? "; click a row to select its operation" : ""));
  }
  if (const auto clicked = grid_.draw(theme, state.focus.stops, "result",
                                      [&](size_t row) { return selected_ == row; })) {
    selected_ = clicked;
    if (id_column_) {
      const auto id = static_cast<Id>(grid_.key(*clicked, *id_column_));
      const Item item{ItemKind::kOp, id};
      if (model.items().time(item)) go_to(model, state, item);
    }
  }
}

}  // namespace streamscope::viewer
