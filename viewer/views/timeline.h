// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline: lanes over a nanosecond axis, the overview strip above, the arrows of the selection
// on top.
//
// timeline.cpp lays out, scrolls and handles input; timeline_lanes.cpp draws the content of lanes;
// timeline_edges.cpp the arrows; timeline_chrome.cpp what is around: axis, overview, names of
// lanes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view.h"
#include "views/widgets.h"

namespace streamscope::viewer {

/// Everything that drawing one frame needs; made anew each frame.
struct Pane {
  ImDrawList& draw;
  const Document& document;
  ViewState& state;
  const Theme& theme;
  ImVec2 min, max;     ///< plot area, in screen pixels
  float gutter_x = 0;  ///< left edge of the names
  ImVec2 mouse;
  bool mouse_in_plot = false;

  float x(Ns at) const { return min.x + static_cast<float>(state.window.to_px(at)); }
  ImU32 color(Color meaning) const { return theme.color(meaning); }
  float px(float length) const { return theme.px(length); }
};

/// Distance from band to band, before scaling: what frames the work is lower than the work.
constexpr float band_pitch(BandKind kind) {
  return kind == BandKind::kRanges || kind == BandKind::kOperations ? 19 : 24;
}

/// A lane on the screen.
struct LaneBox {
  size_t lane = 0;
  float top = 0, bottom = 0;  ///< screen pixels, may lie outside the plot
};

/// What is under the mouse.
struct Hit {
  Item item;
  uint32_t folded = 0;  ///< more than 1: a run of so many items, of which `item` is one
  float coverage = 1;
  explicit operator bool() const { return static_cast<bool>(item); }
};

class TimelineView : public View {
 public:
  std::string_view name() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  void draw(const Document& document, ViewState& state, const Theme& theme) override;

 private:
  // timeline.cpp
  void lay_out(const Pane& pane);
  void scroll_to_selection(const Pane& pane);
  void handle_input(Pane& pane, bool gutter_hovered);
  void draw_overlays(Pane& pane);
  float lane_height(const Pane& pane, const Lane& lane, bool collapsed) const;
  const LaneBox* box_of(size_t lane) const;

  // timeline_lanes.cpp
  void draw_lane(Pane& pane, const LaneBox& box);
  void draw_bars(Pane& pane, const Lane& lane, const Band& band, float top, float bottom);
  /// Pixels for the narrow ones among `items_`; empty if there are few, which rectangles serve.
  std::span<ImU32> pixels_for_narrow(Pane& pane, float top, float bottom);
  void draw_waits(Pane& pane, const Lane& lane, float top, float bottom);
  void draw_markers(Pane& pane, const Lane& lane, float bottom);
  void draw_path(Pane& pane, const Lane& lane, float top);
  /// Vertical place of a band of an open lane.
  std::pair<float, float> band_span(const Pane& pane, const LaneBox& box, size_t band) const;
  ImU32 fill_of(const Pane& pane, Item item) const;
  void draw_tooltip(Pane& pane);

  // timeline_edges.cpp
  void draw_edges(Pane& pane);
  struct End {
    ImVec2 at;
    bool left = false, right = false, above = false, below = false;  ///< of the plot
  };
  std::optional<End> end_of(const Pane& pane, Item item, bool at_end) const;

  // timeline_chrome.cpp
  void draw_axis(Pane& pane, float top);
  void draw_grid(Pane& pane);
  void draw_overview(Pane& pane, ImVec2 min, ImVec2 max);
  void draw_gutter(Pane& pane);

  std::vector<LaneBox> boxes_;  // of all lanes not hidden in a collapsed one, top to bottom
  float content_height_ = 0;
  float scroll_ = 0;
  Hit hit_;
  std::vector<DrawItem> items_;  // reused each frame

  // A drag in progress.
  enum class Drag { kNone, kPending, kPan, kMark, kOverview };
  Drag drag_ = Drag::kNone;
  ImVec2 drag_from_;
  TimeWindow drag_window_;
  float drag_scroll_ = 0;
  bool drag_marks_ = false;
};

}  // namespace streamscope::viewer
