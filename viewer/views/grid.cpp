// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "views/grid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "views/widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kRowHeight = 24;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

}  // namespace

void Grid::set(std::vector<GridColumn> columns, std::vector<std::vector<GridCell>> rows) {
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  order_.resize(rows_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
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

bool Grid::begin(const Theme& theme, const char* id) {
  if (columns_.empty()) return false;
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_BordersInnerH |
                                     ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (!ImGui::BeginTable(id, static_cast<int>(columns_.size()), kFlags)) return false;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const GridColumn& column : columns_) {
    const ImGuiTableColumnFlags flags =
        (column.width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch) |
        (column.is_number ? ImGuiTableColumnFlags_PreferSortDescending : 0);
    ImGui::TableSetupColumn(column.title.c_str(), flags, theme.px(column.width));
  }
  draw_headings(theme);
  if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
      specs != nullptr && specs->SpecsDirty) {
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

// As ImGui's own, with numbers' headings over their right end.
void Grid::draw_headings(const Theme& theme) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, theme.px(kRowHeight));
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const std::string& title = columns_[i].title;
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableHeader("##title");
    ImGui::PopID();
    // Room on the right for the sign of the order.
    const bool sorted =
        (ImGui::TableGetColumnFlags(static_cast<int>(i)) & ImGuiTableColumnFlags_IsSorted) != 0;
    const float sign = sorted ? theme.px(14) : 0;
    const float width = std::min(theme.width(Face::kBody, title), room - sign);
    const float x = columns_[i].is_number ? at.x + room - width - sign : at.x;
    widgets::fit_text(*ImGui::GetWindowDrawList(), theme, Face::kBody, {x, at.y}, room - sign + 1,
                      theme.color(Color::kTextDim), title);
  }
}

bool Grid::next_rows() {
  if (!clipper_->Step()) return false;
  at_ = static_cast<size_t>(clipper_->DisplayStart);
  until_ = static_cast<size_t>(clipper_->DisplayEnd);
  return true;
}

bool Grid::draw_row(const Theme& theme, size_t row, bool selected) {
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
      ImGui::SetCursorScreenPos(at);
    }
    const float middle = at.y + (height - theme.px(6)) / 2;
    if (cell.bar >= 0) {
      const float width = std::round(room * std::min(cell.bar, 1.0f));
      draw.AddRectFilled({at.x, at.y + theme.px(1)}, {at.x + width, at.y + height - theme.px(7)},
                         theme.dim(theme.color(Category::kKernel), 0.3f));
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

void Grid::end() {
  clipper_.reset();
  ImGui::EndTable();
}

std::string Grid::csv() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i)
    text += (i > 0 ? "," : "") + csv_field(columns_[i].title);
  text += "\n";
  for (const size_t row : order_) {
    for (size_t i = 0; i < columns_.size(); ++i)
      text += (i > 0 ? "," : "") + csv_field(rows_[row][i].text);
    text += "\n";
  }
  return text;
}

void copy_button(const Theme& theme, const Grid& grid) {
  if (widgets::button(theme, "Copy as CSV", false)) ImGui::SetClipboardText(grid.csv().c_str());
}

}  // namespace streamscope::viewer
