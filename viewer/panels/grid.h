// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A table that sorts by a click on a heading, reports which row was clicked and copies itself as
// CSV. Draws only the rows in view, so that millions of them cost only memory. For the keyboard its
// headings are one stop and its rows another, in which arrow keys move.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/theme.h"
#include "timeline/timeline_layout.h"
#include "window/tab_stops.h"

namespace streamscope::viewer {

struct GridCell {
  std::string text;
  double key = 0;  ///< what numbers are sorted by
  float bar = -1;  ///< share in [0, 1] that is drawn behind the text; negative: none
  ImU32 ink = 0;   ///< 0: the default
};

struct GridColumn {
  std::string title;
  bool is_number = false;  ///< right-aligned, sorted by key, largest first
  float width = 0;         ///< before scaling, less if space is short; 0 shares what is left
};

inline GridColumn number_column(const char* title, float width) {
  return {.title = title, .is_number = true, .width = width};
}
GridCell count_cell(uint64_t count);
GridCell time_cell(Ns duration_ns);

/// UI thread only.
class Grid {
 public:
  void set(std::vector<GridColumn> columns, std::vector<std::vector<GridCell>> rows);
  /// Sorts by the heading that was clicked in the table that is drawn next.
  void keep_sorted() { is_to_sort_ = true; }
  size_t row_count() const { return rows_.size(); }
  /// In pixels, of the heading and this many rows.
  static float height(const Theme& theme, size_t rows);
  double key(size_t row, size_t column) const { return rows_[row][column].key; }
  /// Draws into the space left in the current window; returns the row that was clicked, if any.
  /// `is_selected` returns which rows are marked.
  template <class IsSelected>
  std::optional<size_t> draw(const Theme& theme, TabStops& stops, const char* id,
                             IsSelected is_selected) {
    std::optional<size_t> clicked;
    if (!begin(theme, stops, id)) return clicked;
    bool takes_focus = stops.is_next();  // the first row that is drawn, or a marked one
    while (next_rows()) {
      for (; at_ < until_; ++at_) {
        const size_t row = order_[at_];
        const bool selected = is_selected(row);
        if (draw_row(theme, row, selected, takes_focus || (selected && stops.is_next())))
          clicked = row;
        takes_focus = false;
      }
    }
    end(stops);
    return clicked;
  }
  /// Headings and all rows in the order shown.
  std::string csv() const;

 private:
  bool begin(const Theme& theme, TabStops& stops, const char* id);
  void draw_headings(const Theme& theme, TabStops& stops);
  bool next_rows();
  bool draw_row(const Theme& theme, size_t row, bool selected, bool takes_focus);
  void end(TabStops& stops);
  void sort(size_t column, bool ascending);
  /// The width each column needs for its heading and its first cells.
  void measure(const Theme& theme);

  std::vector<GridColumn> columns_;
  std::vector<std::vector<GridCell>> rows_;
  std::vector<size_t> order_;
  std::optional<ImGuiListClipper> clipper_;
  size_t at_ = 0, until_ = 0;
  bool is_to_sort_ = false;
  bool heading_has_focus_ = false;  // keyboard focus
  std::vector<float> needed_;       // by column, in pixels at a scale; empty until needed
  float needed_scale_ = 0;
};

inline constexpr std::string_view kCopyTitle = "Copy as CSV";
/// A button with this title that copies the grid to the clipboard.
void copy_button(const Theme& theme, TabStops& stops, const Grid& grid);

}  // namespace streamscope::viewer
