// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "views/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "labels.h"
#include "views/widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kGutter = 190;
constexpr float kBar = 13, kPitch = 38;
constexpr double kSame = 0.02;  // a difference below this share is none

std::string signed_duration(Ns ns) { return (ns > 0 ? "+" : "") + format_duration(ns); }

}  // namespace

void CompareView::refresh(const Document& base, const Document& other, const Theme& theme) {
  prepared_[0] = base.serial();
  prepared_[1] = other.serial();
  prepared_theme_ = theme.kind();
  pairs_.clear();
  std::map<std::string, size_t> by_title;
  for (const int side : {0, 1}) {
    for (const Lane& lane : (side == 0 ? base : other).lanes()) {
      if (lane.kind != LaneKind::kStream || lane.bands.empty()) continue;
      const auto [at, added] = by_title.emplace(lane.title, pairs_.size());
      if (added) pairs_.push_back({lane.title});
      const Lane*& place = pairs_[at->second].lanes[side];
      if (place == nullptr) place = &lane;
    }
  }
  struct Both {
    const StatisticsRow* rows[2] = {};
  };
  const std::vector<StatisticsRow> rows[2] = {statistics(base, GroupBy::kName, std::nullopt),
                                              statistics(other, GroupBy::kName, std::nullopt)};
  std::map<std::pair<std::string, std::string>, Both> groups;
  for (const int side : {0, 1}) {
    for (const StatisticsRow& row : rows[side]) groups[{row.stream, row.name}].rows[side] = &row;
  }
  std::vector<std::pair<Ns, const std::pair<const std::pair<std::string, std::string>, Both>*>>
      order;
  const auto total = [](const StatisticsRow* row) { return row != nullptr ? row->total_ns : 0; };
  for (const auto& group : groups)
    order.emplace_back(std::llabs(total(group.second.rows[1]) - total(group.second.rows[0])),
                       &group);
  std::ranges::stable_sort(order, std::greater{}, [](const auto& each) { return each.first; });
  std::vector<std::vector<GridCell>> cells;
  items_.clear();
  for (const auto& [size, group] : order) {
    const StatisticsRow* const* both = group->second.rows;
    const Ns before = total(both[0]), after = total(both[1]), delta = after - before;
    const bool is_new = both[0] == nullptr, is_gone = both[1] == nullptr;
    const double change = before > 0 ? static_cast<double>(delta) / static_cast<double>(before) : 0;
    const bool same = !is_new && !is_gone && std::fabs(change) < kSame;
    const ImU32 ink = same        ? theme.color(Color::kTextDim)
                      : delta > 0 ? theme.color(Color::kIncoming)
                                  : theme.color(Color::kOutgoing);
    const auto count = [](const StatisticsRow* row) {
      const uint64_t number = row != nullptr ? row->count : 0;
      return GridCell{.text = format_count(static_cast<int64_t>(number)),
                      .key = static_cast<double>(number)};
    };
    const auto time = [](Ns ns) {
      return GridCell{.text = format_duration(ns), .key = static_cast<double>(ns)};
    };
    cells.push_back(
        {{.text = group->first.second},
         {.text = group->first.first},
         count(both[0]),
         count(both[1]),
         time(before),
         time(after),
         {.text = signed_duration(delta), .key = static_cast<double>(delta), .ink = ink},
         {.text = is_new    ? "new"
                  : is_gone ? "gone"
                  : same    ? "same"
                            : (delta > 0 ? "+" : "\u2212") + format_percent(std::fabs(change)),
          .key = change,
          .ink = ink}});
    items_.push_back(both[0] != nullptr ? both[0]->longest : Item{});
  }
  const auto number = [](const char* title, float width) {
    return GridColumn{.title = title, .is_number = true, .width = width};
  };
  grid_.set({{.title = "Work"},
             {.title = "Stream", .width = 130},
             number("Count A", 76),
             number("Count B", 76),
             number("Total A", 96),
             number("Total B", 96),
             number("Difference", 106),
             number("Change", 76)},
            std::move(cells));
  selected_.reset();
}

void CompareView::draw(const Document& document, ViewState& state, const Theme& theme) {
  if (!state.compared) {
    return widgets::empty_state(
        theme, "One trace is open",
        "To see two side by side: streamscope view A.sqlite B.sqlite. Streams of the same name "
        "stand "
        "below each other, and a table tells what takes longer, shorter, is new or gone.");
  }
  const Document& other = *state.compared;
  if (prepared_[0] != document.serial() || prepared_[1] != other.serial() ||
      prepared_theme_ != theme.kind())
    refresh(document, other, theme);
  const Ns before = document.work().duration_ns(), after = other.work().duration_ns();
  const double change =
      static_cast<double>(after - before) / static_cast<double>(std::max<Ns>(before, 1));
  copy_button(theme, grid_);
  ImGui::SameLine(0, theme.px(20));
  widgets::text(
      theme, Face::kBody, theme.color(Color::kText),
      "A  " + document.trace().file.filename().string() + "   " + format_duration(before));
  ImGui::SameLine(0, theme.px(20));
  widgets::text(theme, Face::kBody, theme.color(Color::kText),
                "B  " + other.trace().file.filename().string() + "   " + format_duration(after));
  ImGui::SameLine(0, theme.px(28));
  const bool same = std::fabs(change) < kSame;
  widgets::text(theme, Face::kBold,
                theme.color(same         ? Color::kTextDim
                            : change > 0 ? Color::kIncoming
                                         : Color::kOutgoing),
                same ? "equally long"
                     : signed_duration(after - before) + " (" + format_percent(std::fabs(change)) +
                           (change > 0 ? " longer)" : " shorter)"));
  const float wanted = theme.px(kPitch) * static_cast<float>(pairs_.size()) + theme.px(8);
  ImGui::BeginChild("lanes", {0, std::min(wanted, ImGui::GetContentRegionAvail().y * 0.5f)});
  draw_lanes(document, other, state, theme);
  ImGui::EndChild();
  ImGui::Spacing();
  ImGui::BeginChild("differences", {0, 0});
  if (const auto clicked =
          grid_.draw(theme, "compare", [&](size_t row) { return selected_ == row; })) {
    selected_ = clicked;
    if (items_[*clicked]) {
      select(state, items_[*clicked]);
      zoom_to_selection(document, state);
    }
  }
  ImGui::EndChild();
}

void CompareView::draw_lanes(const Document& base, const Document& other, ViewState& state,
                             const Theme& theme) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, gutter = theme.px(kGutter);
  // Both from their own first work, over the longer of the two.
  const double span = std::max(base.work().span_ns(), other.work().span_ns());
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const float top = origin.y + theme.px(kPitch) * static_cast<float>(i);
    widgets::fit_text(draw, theme, Face::kBody, {origin.x, top + theme.px(8)},
                      gutter - theme.px(36), theme.color(Color::kText), pairs_[i].title);
    for (const int side : {0, 1}) {
      const Document& document = side == 0 ? base : other;
      const float y = top + theme.px(2) + theme.px(kBar + 2) * static_cast<float>(side);
      const float bottom = y + theme.px(kBar);
      widgets::text(draw, theme, Face::kSmall, {origin.x + gutter - theme.px(20), y},
                    theme.color(Color::kTextFaint), side == 0 ? "A" : "B");
      const ImVec2 min{origin.x + gutter, y};
      draw.AddRectFilled(min, {origin.x + width, bottom}, theme.color(Color::kBackground));
      if (pairs_[i].lanes[side] == nullptr) {
        widgets::text(draw, theme, Face::kSmall, {min.x + theme.px(8), y},
                      theme.color(Color::kTextFaint), "no such stream");
        continue;
      }
      TimeWindow window;
      window.width_px = std::max(width - gutter, 16.0f);
      window.show({document.work().begin_ns, add_ns(document.work().begin_ns, span)}, 0.005);
      for (const Band& band : pairs_[i].lanes[side]->bands) {
        bars_.clear();
        fold(band.row, window, 1, bars_);
        state.drawn_items += bars_.size();
        for (const DrawItem& bar : bars_) {
          const ImU32 fill = theme.color(document.category(unpack(band.row.item[bar.first])));
          draw.AddRectFilled(
              {min.x + bar.x0, y}, {min.x + bar.x1, bottom},
              bar.coverage < 1 ? theme.dim(fill, 0.35f + 0.65f * bar.coverage) : fill);
        }
      }
    }
  }
  ImGui::Dummy({width, theme.px(kPitch) * static_cast<float>(pairs_.size())});
}

}  // namespace streamscope::viewer
