// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two traces on one axis, both from their first work on a device: streams of the same name below
// each other, and what takes longer, shorter, is new or gone, by stream and name.
#pragma once

#include "grouped_times.h"
#include "view.h"
#include "views/grid.h"

namespace streamscope::viewer {

class CompareView : public View {
 public:
  std::string_view name() const override { return "compare"; }
  std::string_view title() const override { return "Compare"; }
  void draw(const Document& document, ViewState& state, const Theme& theme) override;

 private:
  struct Pair {
    std::string title;
    const Lane* lanes[2] = {};  // of the first and the second trace; nullptr where it has none
  };
  void refresh(const Document& base, const Document& other, const Theme& theme);
  void draw_lanes(const Document& base, const Document& other, ViewState& state,
                  const Theme& theme);

  uint64_t prepared_[2] = {};
  ThemeKind prepared_theme_ = ThemeKind::kDark;
  std::vector<Pair> pairs_;
  Grid grid_;
  std::vector<Item> items_;  // by row of the grid, of the first trace
  std::optional<size_t> selected_;
  std::vector<DrawItem> bars_;  // reused
};

}  // namespace streamscope::viewer
