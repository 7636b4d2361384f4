// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "grid.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/labels.h"
#include "render/imgui_compat.h"
#include "report/export/export.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kRowHeight = 24;
// Minimum width of columns that share what is left, and the most they want for their texts. The
// others shrink first, then the table scrolls.
constexpr float kLeastShare = 110, kMostShare = 340;
constexpr float kBarRoom = 40;   // beside the text of a cell with a bar
constexpr float kSignRoom = 14;  // for the sort arrow, beside the heading
constexpr size_t kMostMeasured = 300;

// No no-break spaces before units, which other programs do not read as spaces.
std::string csv_field(std::string text, bool is_number) {
  constexpr std::string_view kNoBreak = "\u00a0";
  for (size_t at = 0; (at = text.find(kNoBreak, at)) != std::string::npos;)
    text.replace(at, kNoBreak.size(), " ");
  return report::csv_text(text, is_number);
}

}  // namespace

GridCell count_cell(uint64_t count) {
  return {.text = format_count(static_cast<int64_t>(count)), .key = static_cast<double>(count)};
}

GridCell time_cell(Ns duration_ns) {
  return {.text = format_duration(duration_ns), .key = static_cast<double>(duration_ns)};
}

void Grid::set(std::vector<GridColumn> columns, std::vector<std::vector<GridCell>> rows) {
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  order_.resize(rows_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  needed_.clear();
}

float Grid::height(const Theme& theme, size_t rows) {
  return theme.px(kRowHeight) * static_cast<float>(rows + 1) + theme.px(4);
}

void Grid::measure(const Theme& theme) {
  needed_scale_ = theme.scale();
  needed_.assign(columns_.size(), 0);
  for (size_t i = 0; i < columns_.size(); ++i) {
    float widest = theme.width(Face::kBody, columns_[i].title) + theme.px(kSignRoom);
    for (size_t row = 0; row < std::min(rows_.size(), kMostMeasured); ++row)
      widest = std::max(widest, theme.width(Face::kBody, rows_[row][i].text) +
                                    (rows_[row][i].bar >= 0 ? theme.px(kBarRoom) : 0));
    widest = std::ceil(widest) + theme.px(2);
    needed_[i] = columns_[i].width > 0
                     ? std::min(widest, theme.px(columns_[i].width))
                     : std::clamp(widest, theme.px(kLeastShare), theme.px(kMostShare));
  }
}

void Grid::sort(size_t column, bool ascending) {
  const bool number = columns_[column].is_number;
  const auto less = [&](size_t a, size_t b) {
    const GridCell &x = rows_[a][column], &y = rows_[b][column];
    return number ? x.key < y.key : x.text < y.text;
  };
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](size_t a, size_t b) { return ascending ? less(a, b) : less(b, a); });
}

bool Grid::begin(const Theme& theme, TabStops& stops, const char* id) {
  if (columns_.empty()) return false;
  const float room = ImGui::GetContentRegionAvail().x;
  const float pads = 2 * ImGui::GetStyle().CellPadding.x * static_cast<float>(columns_.size());
  if (needed_.empty() || needed_scale_ != theme.scale()) measure(theme);
  float shared = 0, full = 0, needed = 0, least = pads;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool fixed = columns_[i].width > 0;
    (fixed ? needed : shared) += needed_[i];
    full += fixed ? theme.px(columns_[i].width) : 0;
    least += fixed ? needed_[i] : theme.px(kLeastShare);
  }
  // In eighths: how far fixed-width columns are from the width they need to their full width.
  const float spare = (room - pads - shared - needed) / std::max(full - needed, 1.0f);
  const int eighths = static_cast<int>(std::clamp(spare * 8, 0.0f, 8.0f));
  const bool scrolls = room < least;
  const ImGuiTableFlags flags =
      ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate | ImGuiTableFlags_ScrollY |
      ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerH |
      ImGuiTableFlags_NoBordersInBodyUntilResize | (scrolls ? ImGuiTableFlags_ScrollX : 0);
  // ImGui stores the widths of a table by name, so each layout has its own name.
  const std::string name = std::string(id) + "/" + (scrolls ? "scrolls" : std::to_string(eighths));
  if (!ImGui::BeginTable(name.c_str(), static_cast<int>(columns_.size()), flags, {0, 0},
                         scrolls ? least : 0))
    return false;
  ImGui::TableSetupScrollFreeze(scrolls ? 1 : 0, 1);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const GridColumn& column = columns_[i];
    const ImGuiTableColumnFlags column_flags =
        (column.width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch) |
        (column.is_number ? ImGuiTableColumnFlags_PreferSortDescending : 0);
    const float most = column.width > 0 ? theme.px(column.width) : needed_[i];
    const float width = needed_[i] + (most - needed_[i]) * static_cast<float>(eighths) / 8;
    ImGui::TableSetupColumn(column.title.c_str(), column_flags, width);
  }
  draw_headings(theme, stops);
  if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
      specs != nullptr && (std::exchange(is_to_sort_, false) || specs->SpecsDirty)) {
    if (specs->SpecsCount > 0) {
      sort(static_cast<size_t>(specs->Specs[0].ColumnIndex),
           specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending);
    } else {
      std::iota(order_.begin(), order_.end(), size_t{0});
    }
    specs->SpecsDirty = false;
  }
  clipper_.emplace();
  clipper_->Begin(static_cast<int>(order_.size()), theme.px(kRowHeight));
  return true;
}

// Like ImGui's own, with the headings of numbers right-aligned.
void Grid::draw_headings(const Theme& theme, TabStops& stops) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, theme.px(kRowHeight));
  heading_has_focus_ = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const std::string& title = columns_[i].title;
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableHeader("##title");
    if (i == 0 && stops.is_next()) compat::focus_last_item();
    heading_has_focus_ |= ImGui::IsItemFocused();
    ImGui::PopID();
    // Space on the right for the sort arrow.
    const bool sorted =
        (ImGui::TableGetColumnFlags(static_cast<int>(i)) & ImGuiTableColumnFlags_IsSorted) != 0;
    const float sign = sorted ? theme.px(kSignRoom) : 0;
    const float width = std::min(theme.width(Face::kBody, title), room - sign);
    const float x = columns_[i].is_number ? at.x + room - width - sign : at.x;
    widgets::fit_text(*ImGui::GetWindowDrawList(), theme, Face::kBody, {x, at.y}, room - sign + 1,
                      theme.color(Color::kTextDim), title);
  }
  if (!rows_.empty()) stops.add_focused(heading_has_focus_);
}

bool Grid::next_rows() {
  if (!clipper_ || !clipper_->Step()) return false;
  at_ = static_cast<size_t>(clipper_->DisplayStart);
  until_ = static_cast<size_t>(clipper_->DisplayEnd);
  return true;
}

bool Grid::draw_row(const Theme& theme, size_t row, bool selected, bool takes_focus) {
  const float height = theme.px(kRowHeight);
  ImGui::TableNextRow(0, height);
  if (selected) {
    ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0,
                           Theme::fade(theme.color(Color::kAccent), 0.22f));
  }
  bool clicked = false;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImGui::PushID(static_cast<int>(row));
  for (size_t i = 0; i < columns_.size(); ++i) {
    ImGui::TableNextColumn();
    const GridCell& cell = rows_[row][i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    if (i == 0) {
      // One invisible item over the whole row takes the mouse.
      constexpr ImGuiSelectableFlags kFlags =
          ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap;
      clicked = ImGui::Selectable("##row", false, kFlags, {0, height - theme.px(6)});
      if (takes_focus) compat::focus_last_item();
      ImGui::SetCursorScreenPos(at);
    }
    const float middle = at.y + (height - theme.px(6)) / 2;
    if (cell.bar >= 0) {
      const float width = std::round(room * std::min(cell.bar, 1.0f));
      const float strength = selected ? 0.5f : 0.3f;  // visible on the selection color, too
      draw.AddRectFilled({at.x, at.y + theme.px(1)}, {at.x + width, at.y + height - theme.px(7)},
                         theme.dim(theme.color(Category::kKernel), strength));
    }
    const float y = std::round(middle - theme.text(Face::kBody).size / 2 - 1);
    const ImU32 ink = cell.ink != 0 ? cell.ink : theme.color(Color::kText);
    const float width =
        columns_[i].is_number ? std::min(theme.width(Face::kBody, cell.text), room) : 0;
    const float x = columns_[i].is_number ? at.x + room - width : at.x;
    widgets::fit_text(draw, theme, Face::kBody, {x, y}, room + 1, ink, cell.text);
  }
  ImGui::PopID();
  return clicked;
}

void Grid::end(TabStops& stops) {
  clipper_.reset();
  if (!rows_.empty()) stops.add_focused(ImGui::IsWindowFocused() && !heading_has_focus_, true);
  ImGui::EndTable();
}

std::string Grid::csv() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i)
    text += (i > 0 ? "," : "") + csv_field(columns_[i].title, false);
  text += "\n";
  for (const size_t row : order_) {
    for (size_t i = 0; i < columns_.size(); ++i)
      text += (i > 0 ? "," : "") + csv_field(rows_[row][i].text, columns_[i].is_number);
    text += "\n";
  }
  return text;
}

void copy_button(const Theme& theme, TabStops& stops, const Grid& grid) {
  if (widgets::button(theme, stops, kCopyTitle, false)) ImGui::SetClipboardText(grid.csv().c_str());
}

}  // namespace streamscope::viewer
