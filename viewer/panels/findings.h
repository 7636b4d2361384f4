// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the detectors found, most severe and most costly first: the problem, its cause, the gain
// from fixing it, and its location.
#pragma once

#include "grid.h"
#include "window/view.h"

namespace streamscope::viewer {

class FindingsView : public View {
 public:
  std::string_view name() const override { return "findings"; }
  std::string_view title() const override { return "Findings"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  void refresh(const TraceModel& model, const ViewState& state, const Theme& theme);
  void draw_details(const TraceModel& model, ViewState& state, const Theme& theme);

  uint64_t prepared_ = 0;  // serial of the model that the grid shows
  ThemeKind prepared_theme_ = ThemeKind::kDark;
  std::vector<size_t> prepared_repaired_;
  Grid grid_;
  std::vector<size_t> shown_;                            // findings by row of the grid
  std::array<bool, 3> severities_ = {true, true, true};  // note, warning, error
  bool possible_ = false;                                // possible ones are listed, too
};

}  // namespace streamscope::viewer
