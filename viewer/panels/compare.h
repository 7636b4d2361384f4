// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two traces on the axis of the timeline, each starting at its first work on a device: streams of
// the same name below each other with differences in color, and a table of work that takes longer,
// takes shorter, is new or is gone.
#pragma once

#include "grid.h"
#include "model/comparison.h"
#include "window/view.h"

namespace streamscope::viewer {

class CompareView : public View {
 public:
  std::string_view name() const override { return "compare"; }
  std::string_view title() const override { return "Compare"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  static constexpr float kBar = 13;  // height, before scaling
  /// The bars of all pairs of streams, and the axis above them.
  struct Plot {
    ImVec2 min, max;
    TimeWindow window;  ///< time since the first work of either
    Ns first_ns[2];     ///< that work

    /// The same range for one of the traces, on its own clock.
    TimeWindow of(size_t side) const;
  };
  /// A bar under the mouse.
  struct Hit {
    size_t side = 0;
    Id op = kNoId;
    uint32_t count = 0;  ///< more than 1: this many in a pixel
  };
  void refresh(const Comparison& comparison, const Theme& theme);
  void draw_head(const TraceModel& model, ViewState& state, const Theme& theme);
  void draw_lanes(const TraceModel& model, ViewState& state, const Theme& theme);
  void draw_axis(const Plot& plot, const Theme& theme);
  void draw_bars(const Plot& plot, float top, const Comparison::Lanes& lanes, size_t side,
                 ViewState& state, const Theme& theme);
  void handle_input(const TraceModel& model, const Plot& plot, ViewState& state);
  void draw_tooltip(const TraceModel& model, const ViewState& state, const Theme& theme);

  // compare_keys.cpp
  /// A bar that arrow keys move to.
  struct Cursor {
    size_t pair = 0;
    size_t side = 0;
    size_t band = 0, index = 0;
  };
  void handle_keys(const TraceModel& model, const Plot& plot, ViewState& state);
  std::optional<Cursor> nearest(const Comparison& comparison, const Plot& plot, size_t pair,
                                size_t side, double since_first) const;
  static std::optional<Cursor> neighbor(const Comparison& comparison, const Cursor& cursor, int by);
  /// Frames the bar and shows the same tooltip as the mouse.
  void draw_cursor(const Plot& plot, float top, const Cursor& cursor, const ViewState& state,
                   const Theme& theme);

  uint64_t prepared_[2] = {};
  ThemeKind prepared_theme_ = ThemeKind::kDark;
  Grid grid_;
  std::optional<size_t> selected_;  // work, as the comparison lists it: the rest is dimmed
  bool dragged_ = false;
  std::optional<Hit> hit_;
  std::optional<Cursor> cursor_;
  std::vector<DrawItem> bars_;  // reused
};

}  // namespace streamscope::viewer
