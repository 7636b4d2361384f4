// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis.h"
#include "iteration_colors.h"
#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kBar = 28;
constexpr float kSwatch = 10;
constexpr float kStripTop = 16;  // room for durations of columns that are cut off
constexpr float kLeastColumns = 48, kMostColumns = 140;  // height of the highest column
constexpr float kStripBottom = 16;                       // room for numbers
constexpr float kMedianMargin = 74;                      // right of the columns, for the median
constexpr float kMostPitch = 32, kLeastPitch = 3;
constexpr float kKeyGap = 6, kKeySpacing = 16, kKeyLine = 20;
constexpr float kNumberSpacing = 30;

// A colored square, a text and a number.
struct Key {
  ImU32 color = 0;  // 0: no square
  std::string text, number = {};

  float text_left(const Theme& theme) const { return color == 0 ? 0 : theme.px(kSwatch + kKeyGap); }
  float width(const Theme& theme) const {
    return text_left(theme) + theme.width(Face::kSmall, text) +
           (number.empty() ? 0 : theme.px(kKeyGap) + theme.width(Face::kSmall, number));
  }
};

void draw_key(const Theme& theme, const Key& key) {
  const float swatch = theme.px(kSwatch);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme.text(Face::kSmall).size;
  const float top = at.y + std::round((height - swatch) / 2) + 1;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (key.color != 0) draw.AddRectFilled({at.x, top}, {at.x + swatch, top + swatch}, key.color);
  const float left = at.x + key.text_left(theme);
  widgets::text(draw, theme, Face::kSmall, {left, at.y}, theme.color(Color::kTextDim), key.text);
  widgets::text(draw, theme, Face::kSmall,
                {left + theme.width(Face::kSmall, key.text) + theme.px(kKeyGap), at.y},
                theme.color(Color::kText), key.number);
  ImGui::Dummy({key.width(theme), height});
}

// In as many lines as needed.
void draw_keys(const Theme& theme, const std::vector<Key>& keys) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) widgets::beside(keys[i].width(theme), theme.px(kKeySpacing));
    draw_key(theme, keys[i]);
  }
}

size_t lines_of(const Theme& theme, const std::vector<Key>& keys, float room) {
  size_t lines = 1;
  float used = 0;
  for (const Key& key : keys) {
    const float width = key.width(theme), gap = used > 0 ? theme.px(kKeySpacing) : 0;
    const bool fits = used == 0 || used + gap + width <= room;
    lines += !fits;
    used = fits ? used + gap + width : width;
  }
  return lines;
}

std::vector<Key> keys_of(const Theme& theme, const std::vector<report::IterationKey>& parts,
                         const std::vector<report::IterationColumn>& columns) {
  std::vector<Key> keys;
  keys.reserve(parts.size() + 2);
  for (const report::IterationKey& part : parts)
    keys.push_back({color_of(theme, part.part), part.text});
  keys.push_back({theme.color(Color::kAccent), "in the timeline"});
  if (const size_t each = columns.front().last + 1; each > 1)
    keys.push_back({0, "each column: the longest of " + format_count(static_cast<int64_t>(each))});
  return keys;
}

Ns total_of(const std::vector<report::ShareLine>& lines) {
  double total = 0;
  for (const report::ShareLine& line : lines) total += static_cast<double>(line.duration_ns);
  return add_ns(0, std::max(total, 1.0));
}

double share_of(const report::ShareLine& line, Ns total) {
  return static_cast<double>(line.duration_ns) / static_cast<double>(total);
}

}  // namespace

// One frame of the strip.
struct DiagnosisView::StripFrame {
  const TraceModel& model;
  const Theme& theme;
  ImDrawList& draw;
  ImVec2 min;                     // top left corner of the columns
  float bottom, right;            // foot of the columns, and the end of the last one
  float pitch;                    // from column to column
  std::optional<size_t> current;  // column
  std::optional<size_t> hovered;

  const analysis::Iterations& iterations() const { return model.diagnosis().iterations; }
  float x(size_t column) const { return min.x + std::round(pitch * static_cast<float>(column)); }
};

void DiagnosisView::draw_bar(const Theme& theme) const {
  ImGui::Dummy({0, theme.px(2)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(kBar);
  const Ns total = total_of(lines_);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  double begin = 0;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImGui::Dummy({std::max(width, 1.0f), height});
  const bool hovered = ImGui::IsItemHovered();
  for (const report::ShareLine& line : lines_) {
    const double share = share_of(line, total);
    const float x0 = at.x + std::round(width * static_cast<float>(begin));
    const float x1 = at.x + std::round(width * static_cast<float>(begin + share));
    begin += share;
    if (x1 <= x0) continue;
    const ImU32 fill = theme.color(line.share);
    draw.AddRectFilled({x0, at.y}, {std::max(x1 - 1, x0 + 1), at.y + height}, fill);
    const std::string percent = format_percent(share), whole = line.name + " " + percent;
    for (const std::string& label : {whole, percent}) {
      if (x1 - x0 < theme.width(Face::kBold, label) + theme.px(14)) continue;
      widgets::text(draw, theme, Face::kBold,
                    {x0 + theme.px(7), at.y + (height - theme.text(Face::kBold).size) / 2 - 1},
                    theme.on(fill), label);
      break;
    }
    if (!hovered || mouse.x < x0 || mouse.x >= x1) continue;
    const widgets::Tooltip tooltip;
    widgets::text(theme, Face::kBody, theme.color(Color::kText), whole + ", " + times_of(line));
  }
}

void DiagnosisView::draw_legend(const Theme& theme) const {
  const Ns total = total_of(lines_);
  std::vector<Key> keys;
  keys.reserve(lines_.size());
  for (const report::ShareLine& line : lines_)
    keys.push_back({theme.color(line.share), line.name,
                    format_percent(share_of(line, total)) + "  " + times_of(line)});
  draw_keys(theme, keys);
}

void DiagnosisView::draw_strip(const TraceModel& model, ViewState& state, const Theme& theme) {
  ImGui::Dummy({0, theme.px(2)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, theme.px(kMedianMargin) * 2);
  const float room = width - theme.px(kMedianMargin);
  const auto most = static_cast<size_t>(std::max(room / theme.px(kLeastPitch), 1.0f));
  if (columns_.empty() || most_columns_ != most)
    columns_ = report::iteration_columns(model.diagnosis().iterations, most);
  most_columns_ = most;
  const auto count = static_cast<float>(columns_.size());
  const std::vector<Key> keys = keys_of(theme, keys_, columns_);
  const auto lines = static_cast<float>(lines_of(theme, keys, width));
  // As high as there is space, unless the repairs are below.
  const float above = theme.px(is_cut_ ? kStripTop : 2);
  const float columns =
      std::clamp(ImGui::GetContentRegionAvail().y - above - theme.px(kStripBottom) -
                     lines * theme.px(kKeyLine),
                 theme.px(kLeastColumns), theme.px(is_beside_ ? kMostColumns : kLeastColumns));
  StripFrame frame{.model = model,
                   .theme = theme,
                   .draw = *ImGui::GetWindowDrawList(),
                   .min = {at.x, at.y + above},
                   .bottom = at.y + above + columns,
                   .right = 0,
                   .pitch = std::min(theme.px(kMostPitch), room / count),
                   .current = std::nullopt,
                   .hovered = std::nullopt};
  frame.right = frame.x(columns_.size());
  const size_t each = columns_.front().last + 1;
  if (const auto current = current_iteration(model, state)) frame.current = *current / each;
  ImGui::InvisibleButton(
      "strip", {std::max(frame.right - at.x, 1.0f), frame.bottom + theme.px(kStripBottom) - at.y});
  state.focus.stops.add_canvas(state.focus.on_canvas);
  widgets::focus_frame(theme);
  const float mouse = ImGui::GetIO().MousePos.x;
  if (ImGui::IsItemHovered() && mouse >= frame.min.x && mouse < frame.right)
    frame.hovered =
        std::min(static_cast<size_t>((mouse - frame.min.x) / frame.pitch), columns_.size() - 1);
  if (frame.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    go_to_iteration(model, state, columns_[*frame.hovered].longest);
  if (const int by = state.focus.steps.right; by != 0 && state.focus.on_canvas) {
    const auto last = static_cast<ptrdiff_t>(columns_.size()) - 1;
    const auto from =
        static_cast<ptrdiff_t>(frame.current.value_or(model.diagnosis().opening() / each));
    go_to_iteration(
        model, state,
        columns_[static_cast<size_t>(std::clamp<ptrdiff_t>(from + by, 0, last))].longest);
  }
  draw_columns(frame);
  draw_strip_labels(frame);
  draw_keys(theme, keys);
  if (!frame.hovered) return;
  const widgets::Tooltip tooltip;
  widgets::text(theme, Face::kBody, theme.color(Color::kText),
                report::column_title(frame.iterations(), columns_[*frame.hovered]));
  widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim), "click to go there");
}

void DiagnosisView::draw_columns(const StripFrame& frame) const {
  const Theme& theme = frame.theme;
  const float gap = frame.pitch >= theme.px(5) ? std::max(std::round(frame.pitch * 0.2f), 1.0f)
                    : frame.pitch >= 3         ? 1.0f
                                               : 0.0f;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const size_t iteration = columns_[column].longest;
    const double times = report::times_median(frame.iterations(), iteration);
    const auto part = static_cast<float>(std::clamp(times / height_, 0.01, 1.0));
    const float x0 = frame.x(column), x1 = std::max(frame.x(column + 1) - gap, x0 + 1);
    const float top = frame.bottom - std::round(part * (frame.bottom - frame.min.y));
    ImU32 fill = color_of(theme, report::part_of(frame.iterations(), iteration));
    if (column == frame.current) fill = theme.color(Color::kAccent);
    if (column == frame.hovered) fill = theme.color(Color::kText);
    frame.draw.AddRectFilled({x0, top}, {x1, frame.bottom}, fill);
    // A slanted cut through what is higher than the strip.
    if (times > height_) {
      const float y = frame.min.y + theme.px(9);
      frame.draw.AddQuadFilled({x0, y}, {x1, y - theme.px(4)}, {x1, y - theme.px(1)},
                               {x0, y + theme.px(3)}, theme.color(Color::kPanel));
    }
  }
}

void DiagnosisView::draw_strip_labels(const StripFrame& frame) const {
  const Theme& theme = frame.theme;
  const ImU32 dim = theme.color(Color::kTextDim);
  // The durations of columns that are cut off, where there is room for them.
  float free_from = frame.min.x;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const size_t iteration = columns_[column].longest;
    if (report::times_median(frame.iterations(), iteration) <= height_) continue;
    const std::string text = format_duration(frame.iterations().all[iteration].duration_ns());
    const float width = theme.width(Face::kSmall, text);
    const float x = std::max(frame.x(column) + std::round((frame.pitch - width) / 2), frame.min.x);
    if (x < free_from) continue;
    free_from = x + width + theme.px(8);
    widgets::text(frame.draw, theme, Face::kSmall, {x, frame.min.y - theme.px(kStripTop)}, dim,
                  text);
  }
  frame.draw.AddLine({frame.min.x, frame.bottom + 0.5f}, {frame.right, frame.bottom + 0.5f},
                     theme.color(Color::kBorder));
  // The median.
  const float y = frame.bottom -
                  std::round(static_cast<float>(1 / height_) * (frame.bottom - frame.min.y)) + 0.5f;
  for (float x = frame.min.x; x < frame.right; x += theme.px(7))
    frame.draw.AddLine({x, y}, {std::min(x + theme.px(3), frame.right), y},
                       theme.color(Color::kText));
  const float left = frame.right + theme.px(6), line = theme.text(Face::kSmall).size;
  widgets::text(frame.draw, theme, Face::kSmall, {left, y - line - 1}, dim, "median");
  widgets::text(frame.draw, theme, Face::kSmall, {left, y}, dim,
                format_duration(frame.iterations().median_ns));
  // Numbers below: the first, then round ones.
  const auto most =
      static_cast<size_t>(std::max((frame.right - frame.min.x) / theme.px(kNumberSpacing), 1.0f));
  const size_t step = report::number_step(frame.iterations().all.size(), most);
  float number_from = frame.min.x;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const size_t first = columns_[column].first + 1, last = columns_[column].last + 1;
    const size_t round = last / step * step;
    if (column > 0 && round < first) continue;
    const std::string text = format_count(static_cast<int64_t>(column == 0 ? 1 : round));
    const float width = theme.width(Face::kSmall, text);
    const float x = std::max(frame.x(column) + std::round((frame.pitch - width) / 2), frame.min.x);
    if (x < number_from) continue;
    number_from = x + width + theme.px(10);
    widgets::text(frame.draw, theme, Face::kSmall, {x, frame.bottom + theme.px(2)}, dim, text);
  }
}

}  // namespace streamscope::viewer
