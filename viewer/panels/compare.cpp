// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "compare.h"

#include <algorithm>
#include <cmath>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

using analysis::WorkChange;

constexpr float kCompareGutter = 190;
constexpr float kAxis = 22;
constexpr float kTickSpacing = 110;
constexpr float kPitch = 38;
constexpr double kSameShare = 0.02;  // a smaller share of all counts as no difference

struct Meaning {
  Match match;
  const char* text;
  Color color;
};
constexpr std::array<Meaning, 4> kMeanings = {{{Match::kSlower, "slower", Color::kIncoming},
                                               {Match::kFaster, "faster", Color::kOutgoing},
                                               {Match::kAlone, "only in one", Color::kWarning},
                                               {Match::kSame, "the same", Color::kTextFaint}}};

ImU32 color_of(Match match, const Theme& theme) {
  const ImU32 color = theme.color(std::ranges::find(kMeanings, match, &Meaning::match)->color);
  return match == Match::kSame ? theme.dim(color, 0.6f) : color;
}

ImU32 color_of(Ns cost_ns, const Theme& theme) {
  return theme.color(cost_ns > 0 ? Color::kIncoming : Color::kOutgoing);
}

std::vector<GridCell> row_of(const WorkChange& change, const Theme& theme) {
  const Ns cost = change.cost_ns();
  const ImU32 ink = change.is_change() ? color_of(cost, theme) : theme.color(Color::kTextDim);
  return {{.text = change.label},
          {.text = change.stream},
          count_cell(change.base_count),
          count_cell(change.new_count),
          time_cell(change.base_total_ns),
          time_cell(change.new_total_ns),
          {.text = format_duration_change(cost), .key = static_cast<double>(cost), .ink = ink},
          {.text = std::string(change.verdict()), .ink = ink}};
}

}  // namespace

void CompareView::refresh(const Comparison& comparison, const Theme& theme) {
  std::ranges::copy(comparison.serials, prepared_);
  prepared_theme_ = theme.kind();
  std::vector<std::vector<GridCell>> rows;
  rows.reserve(comparison.work.size());
  for (const WorkChange& change : comparison.work) rows.push_back(row_of(change, theme));
  grid_.set({{.title = "Work"},
             {.title = "Stream", .width = 120},
             number_column("Count A", 66),
             number_column("Count B", 66),
             number_column("Total A", 80),
             number_column("Total B", 80),
             number_column("Difference", 88),
             {.title = "Change", .width = 76}},
            std::move(rows));
  selected_.reset();
  cursor_.reset();
}

void CompareView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (!state.compared) {
    return widgets::empty_state(
        theme, "One trace is open",
        "Shift+C, or streamscope view A.sqlite B.sqlite, compares two. Streams "
        "with the same name are drawn one below the other, and a table lists "
        "work that takes longer or shorter, is new or is gone.");
  }
  if (!state.comparison) return widgets::label(theme, "comparing\u2026");
  const Comparison& comparison = *state.comparison;
  if (!std::ranges::equal(prepared_, comparison.serials) || prepared_theme_ != theme.kind())
    refresh(comparison, theme);
  draw_head(model, state, theme);
  const float wanted =
      theme.px(kAxis) + theme.px(kPitch) * static_cast<float>(comparison.lanes.size());
  ImGui::BeginChild("lanes", {0, std::min(wanted, ImGui::GetContentRegionAvail().y * 0.55f)}, false,
                    ImGuiWindowFlags_NoScrollWithMouse);
  draw_lanes(model, state, theme);
  ImGui::EndChild();
  ImGui::Spacing();
  ImGui::BeginChild("differences", {0, 0});
  if (const auto clicked = grid_.draw(theme, state.focus.stops, "compare",
                                      [&](size_t row) { return selected_ == row; })) {
    const bool again = selected_ == clicked;
    selected_ = again ? std::nullopt : clicked;
    if (const Id op = comparison.work[*clicked].base_longest; !again && op != kNoId)
      select(state, {ItemKind::kOp, op});
  }
  ImGui::EndChild();
}

void CompareView::draw_head(const TraceModel& model, ViewState& state, const Theme& theme) {
  const TraceModel& other = *state.compared;
  const Ns before = model.work().duration_ns(), after = other.work().duration_ns();
  const double change =
      static_cast<double>(after - before) / static_cast<double>(std::max<Ns>(before, 1));
  copy_button(theme, state.focus.stops, grid_);
  const auto next = [&](Face face, Color color, std::string_view text) {
    widgets::beside(theme.width(face, text), theme.px(20));
    widgets::text(theme, face, theme.color(color), text);
  };
  const auto name = [](const TraceModel& of) { return of.trace().file.filename().string(); };
  next(Face::kBody, Color::kText, "A  " + name(model) + "   " + format_duration(before));
  next(Face::kBody, Color::kText, "B  " + name(other) + "   " + format_duration(after));
  if (std::fabs(change) < kSameShare) {
    next(Face::kBold, Color::kTextDim, "same duration");
  } else {
    next(Face::kBold, change > 0 ? Color::kIncoming : Color::kOutgoing,
         format_duration_change(after - before) + " (" + format_percent(std::fabs(change)) +
             (change > 0 ? " longer)" : " shorter)"));
  }
  // The legend, at the right if there is space.
  float width = 0;
  for (const Meaning& each : kMeanings)
    width += theme.px(34) + theme.width(Face::kSmall, each.text);
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < width) return ImGui::NewLine();
  ImVec2 at = ImGui::GetCursorScreenPos();
  at.x += ImGui::GetContentRegionAvail().x - width;
  at.y += ImGui::GetStyle().FramePadding.y + theme.px(1);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float size = theme.text(Face::kSmall).size, box = theme.px(10);
  for (const Meaning& each : kMeanings) {
    const float top = std::round(at.y + (size - box) / 2);
    draw.AddRectFilled({at.x + theme.px(18), top}, {at.x + theme.px(18) + box, top + box},
                       color_of(each.match, theme));
    widgets::text(draw, theme, Face::kSmall, {at.x + theme.px(34), at.y},
                  theme.color(Color::kTextDim), each.text);
    at.x += theme.px(34) + theme.width(Face::kSmall, each.text);
  }
  ImGui::NewLine();
}

void CompareView::draw_lanes(const TraceModel& model, ViewState& state, const Theme& theme) {
  const Comparison& comparison = *state.comparison;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size{
      ImGui::GetContentRegionAvail().x,
      theme.px(kAxis) + theme.px(kPitch) * static_cast<float>(comparison.lanes.size())};
  Plot plot{.min = {origin.x + theme.px(kCompareGutter), origin.y},
            .max = {origin.x + size.x, origin.y + size.y},
            .first_ns = {model.work().begin_ns, state.compared->work().begin_ns}};
  const float width = std::max(plot.max.x - plot.min.x, 16.0f);
  if (state.nav.window.width_px <= 1) first_fit(model, state, width);
  plot.window = state.nav.window;
  plot.window.begin_ns = add_ns(0, difference_ns(plot.first_ns[0], state.nav.window.begin_ns));
  plot.window.resize(width);
  const auto top_of = [&](size_t pair, size_t side) {
    return origin.y + theme.px(kAxis) + theme.px(kPitch) * static_cast<float>(pair) +
           theme.px(kBar + 2) * static_cast<float>(side);
  };
  for (size_t pair = 0; pair < comparison.lanes.size(); ++pair) {
    widgets::fit_text(draw, theme, Face::kBody, {origin.x, top_of(pair, 0) + theme.px(6)},
                      theme.px(kCompareGutter - 36), theme.color(Color::kText),
                      comparison.lanes[pair].title);
    for (const size_t side : {0u, 1u}) {
      const float top = top_of(pair, side);
      widgets::text(draw, theme, Face::kSmall, {plot.min.x - theme.px(20), top},
                    theme.color(Color::kTextFaint), side == 0 ? "A" : "B");
      draw.AddRectFilled({plot.min.x, top}, {plot.max.x, top + theme.px(kBar)},
                         theme.color(Color::kBackground));
    }
  }
  draw_axis(plot, theme);
  ImGui::SetCursorScreenPos(plot.min);
  ImGui::InvisibleButton("plot", {width, size.y});
  state.focus.stops.add_canvas(state.focus.on_canvas);
  hit_.reset();
  draw.PushClipRect(plot.min, plot.max, true);
  for (size_t pair = 0; pair < comparison.lanes.size(); ++pair) {
    for (const size_t side : {0u, 1u})
      draw_bars(plot, top_of(pair, side), comparison.lanes[pair], side, state, theme);
  }
  if (state.focus.on_canvas) {
    handle_keys(model, plot, state);
    if (cursor_) draw_cursor(plot, top_of(cursor_->pair, cursor_->side), *cursor_, state, theme);
  }
  draw.PopClipRect();
  if (state.focus.on_canvas) {
    widgets::focus_frame(theme);
  } else {
    handle_input(model, plot, state);
  }
  if (hit_) draw_tooltip(model, state, theme);
}

TimeWindow CompareView::Plot::of(size_t side) const {
  TimeWindow own = window;
  own.begin_ns = add_ns(first_ns[side], static_cast<double>(window.begin_ns));
  return own;
}

void CompareView::draw_axis(const Plot& plot, const Theme& theme) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const Ticks marks = ticks(plot.window, theme.px(kTickSpacing));
  for (const Ns at : marks.at) {
    const float x = std::floor(plot.min.x + static_cast<float>(plot.window.to_px(at))) + 0.5f;
    draw.AddLine({x, plot.min.y + theme.px(2)}, {x, plot.max.y}, theme.color(Color::kGrid));
    const std::string text = format_tick(at, marks.step_ns, marks.at.back());
    if (x + theme.px(4) + theme.width(Face::kMonoSmall, text) > plot.max.x) continue;
    widgets::text(draw, theme, Face::kMonoSmall, {x + theme.px(5), plot.min.y + theme.px(2)},
                  theme.color(Color::kTextDim), text);
  }
}

void CompareView::draw_bars(const Plot& plot, float top, const Comparison::Lanes& lanes,
                            size_t side, ViewState& state, const Theme& theme) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (!lanes.has[side]) {
    return widgets::text(draw, theme, Face::kSmall, {plot.min.x + theme.px(8), top},
                         theme.color(Color::kTextFaint), "no such stream");
  }
  const float bottom = top + theme.px(kBar);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered =
      ImGui::IsItemHovered() && !state.focus.on_canvas && mouse.y >= top && mouse.y < bottom;
  for (const Row& row : lanes.bands[side]) {
    bars_.clear();
    fold(row, plot.of(side), 1, bars_);
    state.drawn.items += bars_.size();
    for (const DrawItem& bar : bars_) {
      const Id op = unpack(row.item[bar.first]).id;
      const bool is_chosen = !selected_ || state.comparison->sides[side].work_of[op] == *selected_;
      const ImU32 color = color_of(static_cast<Match>(bar.kind), theme);
      const float x0 = plot.min.x + bar.x0, x1 = std::max(plot.min.x + bar.x1, x0 + 1);
      // A gap of a pixel separates neighbors.
      draw.AddRectFilled({x0, top}, {x1 - x0 > 3 ? x1 - 1 : x1, bottom},
                         theme.dim(color, (0.35f + 0.65f * bar.coverage) * (is_chosen ? 1 : 0.3f)));
      if (hovered && mouse.x >= x0 && mouse.x < std::max(x1, x0 + 2)) hit_ = {side, op, bar.count};
    }
  }
}

// As in the timeline, which shows the same time.
void CompareView::handle_input(const TraceModel& model, const Plot& plot, ViewState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  // Pixels of the timeline, which has another width.
  const double px = state.nav.window.width_px / plot.window.width_px;
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    if (io.KeyCtrl) {
      ImGui::SetScrollY(ImGui::GetScrollY() - io.MouseWheel * ImGui::GetTextLineHeight() * 3);
    } else {
      zoom(model, state, (io.MousePos.x - plot.min.x) * px, std::pow(kZoomStep, io.MouseWheel));
    }
  }
  if (ImGui::IsItemActivated()) dragged_ = false;
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    dragged_ = true;
    pan(model, state, io.MouseDelta.x * px);
  }
  if (!ImGui::IsItemDeactivated() || dragged_ || !hit_) return;
  const Id op = hit_->side == 0 ? hit_->op : state.comparison->counterpart(1, hit_->op);
  selected_ = state.comparison->sides[hit_->side].work_of[hit_->op];
  if (op != kNoId) select(state, {ItemKind::kOp, op});
}

void CompareView::draw_tooltip(const TraceModel& model, const ViewState& state,
                               const Theme& theme) {
  const Comparison& comparison = *state.comparison;
  const ImU32 dim = theme.color(Color::kTextDim);
  const WorkChange& work = comparison.work[comparison.sides[hit_->side].work_of[hit_->op]];
  const widgets::Tooltip tooltip;
  widgets::text(theme, Face::kBold, theme.color(Color::kText),
                ellipsize(work.label, 100) + " on " + ellipsize(work.stream, 60));
  if (hit_->count > 1) {
    widgets::text(theme, Face::kBody, dim,
                  "one of " + format_count(hit_->count) + " in this pixel; zoom in to see each");
  } else {
    widgets::text(theme, Face::kBody, dim,
                  "number " + format_count(static_cast<int64_t>(
                                  comparison.number(hit_->side, hit_->op) + 1)));
    for (const size_t side : {0u, 1u}) {
      const Id op = side == hit_->side ? hit_->op : comparison.counterpart(hit_->side, hit_->op);
      const auto range = (side == 0 ? model : *state.compared).items().time({ItemKind::kOp, op});
      widgets::text(theme, Face::kBody, theme.color(Color::kText),
                    std::string(side == 0 ? "A  " : "B  ") +
                        (range ? format_duration(range->duration_ns()) : "none"));
    }
  }
}

}  // namespace streamscope::viewer
