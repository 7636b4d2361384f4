// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline: lanes over a nanosecond axis, the overview strip above, the arrows of the selection
// on top.
//
// timeline.cpp does layout, scrolling and input; timeline_lanes.cpp draws the content of lanes;
// timeline_edges.cpp the arrows; timeline_chrome.cpp what is around them: axis, overview, lane
// names; timeline_iterations.cpp the iterations above the axis; timeline_repairs.cpp how one would
// run if repaired.
#pragma once

#include <optional>
#include <vector>

#include "plot.h"
#include "timeline/counter_pixels.h"
#include "timeline/folded_rows.h"
#include "timeline/iteration_bands.h"
#include "widgets.h"
#include "window/view.h"

namespace streamscope::viewer {

/// Everything that drawing one frame needs; rebuilt each frame.
struct Pane : Plot {
  const TraceModel& model;
  ViewState& state;

  /// The same with another draw list.
  Pane into(ImDrawList& other) const { return {Plot::into(other), model, state}; }
};

/// Distance from band to band, before scaling: bands that frame work are lower than the work.
constexpr float band_pitch(BandKind kind) {
  if (kind == BandKind::kTasks) return 12;  // many warps at a time
  if (kind == BandKind::kStates) return 9;
  if (kind == BandKind::kFunctions) return 16;  // many, and read by their labels
  return kind == BandKind::kRanges || kind == BandKind::kOperations || kind == BandKind::kGpuRanges
             ? 19
             : 24;
}

/// Space for the predicted run below the bands of a stream, before scaling.
inline constexpr float kPredictedPitch = 11;

/// A lane on the screen.
struct LaneBox {
  size_t lane = 0;
  float top = 0, bottom = 0;  ///< screen pixels, may lie outside the plot
  bool pinned = false;        ///< does not scroll
};

/// What is under the mouse.
struct Hit {
  Item item;
  uint32_t folded = 0;  ///< more than 1: a run of this many items, of which `item` is one
  float coverage = 1;
  bool instants = false;  ///< records or waits
  bool waiting = false;   ///< time spent waiting, not work
  bool is_tag = false;    ///< a tag for something out of view; a click goes there
  /// Its time, if not its own: predicted, or on the GPU for a range.
  std::optional<TimeRange> elsewhere;
  const Lane* counter = nullptr;          ///< if set, there is no item
  Counter::Column value;                  ///< of the counter in this pixel
  float at_x = 0, top_y = 0, foot_y = 0;  ///< of that pixel, and of the lane
  explicit operator bool() const { return static_cast<bool>(item); }
};

/// True while keys select a lane: the tooltip is for that lane, not for what is under the mouse.
inline bool is_by_keys(const Pane& pane) {
  return pane.state.focus.by_keys && pane.state.selection.has_lane() &&
         pane.state.focus.view == kTimeline;
}

class TimelineView : public View {
 public:
  /// Where an edge ends on the screen.
  struct End {
    ImVec2 at;
    bool left = false, right = false, above = false, below = false;  ///< of the plot
  };

  std::string_view name() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  // timeline.cpp
  void lay_out(const Pane& pane);
  void reveal(const Pane& pane);
  void draw_plot(Pane& pane);
  void handle_input(Pane& pane, bool gutter_hovered);
  void begin_drag(Pane& pane, bool gutter_hovered);
  void follow_drag(Pane& pane);
  void end_drag(Pane& pane);
  void draw_overlays(Pane& pane);
  float lane_height(const Pane& pane, const Lane& lane, bool collapsed) const;
  const LaneBox* box_of(size_t lane) const;
  const LaneBox* box_at(float y) const;

  // timeline_lanes.cpp
  void draw_lane(Pane& pane, const LaneBox& box);
  void draw_counter(Pane& pane, const Lane& lane, float top, float bottom);
  void draw_bars(Pane& pane, const Lane& lane, const Band& band, Strip& strip);
  void draw_label(Pane& pane, const Band& band, const DrawItem& bar, const Strip& strip,
                  ImU32 fill);
  void draw_outline(Pane& pane, const Row& row, const Strip& strip);
  void draw_waits(Pane& pane, const Lane& lane, Strip& strip);
  void draw_markers(Pane& pane, const Lane& lane, float bottom);
  void draw_path(Pane& pane, const Lane& lane, float top);
  /// Work as predicted; `strength` of its colors.
  void draw_predicted(Pane& pane, const Row& row, float top, float height, float strength);
  /// Vertical position of a band of an open lane.
  std::pair<float, float> band_span(const Pane& pane, const LaneBox& box, size_t band) const;
  ImU32 fill_of(const Pane& pane, const Band& band, const DrawItem& bar) const;
  void draw_tooltip(Pane& pane);
  void draw_counter_tooltip(Pane& pane);

  // timeline_edges.cpp
  class EdgePainter;
  void draw_edges(Pane& pane);
  std::optional<End> end_of(const Pane& pane, Item item, bool at_end) const;

  // timeline_iterations.cpp
  /// Colors the background of the lanes by iteration.
  void tint_grid(const Pane& pane);
  void draw_iterations(Pane& pane, float top);
  void draw_iteration_labels(Pane& pane, float top);

  // timeline_repairs.cpp
  static float repairs_height(const Pane& pane);
  void draw_repairs(Pane& pane);
  void draw_repair(Pane& pane, const RepairSchedule& schedule, float top);
  void draw_repair_names(Pane& pane);

  // timeline_chrome.cpp
  void draw_findings(Pane& pane);
  void draw_bookmarks(Pane& pane, float top);
  void draw_prediction(Pane& pane);
  void draw_grid(Pane& pane);
  void draw_overview(Pane& pane, ImVec2 min, ImVec2 max);
  void draw_gutter(Pane& pane);
  void draw_name(Pane& pane, const LaneBox& box, bool selected);
  /// The busy share of a lane, as a number over a small bar that ends at `right`; returns its
  /// width.
  float draw_busy_share(Pane& pane, const LaneBox& box, float right);
  /// The scale of a counter, beside its top and its bottom; returns its width.
  float draw_scale(Pane& pane, const LaneBox& box);

  std::vector<LaneBox> boxes_;  // of all lanes that are shown, top to bottom
  std::vector<int> box_index_;  // by lane, -1 if it is not shown
  float pinned_height_ = 0;     // of what does not scroll: lanes of repairs, then pinned lanes
  float content_height_ = 0;
  float scroll_ = 0;
  std::vector<ImU32> grid_;  // a line of pixels of an empty lane
  FoldedRows folded_;
  CounterPixels counters_;
  uint64_t folded_of_ = 0;  // serial of the model that these belong to
  Hit hit_;
  std::vector<DrawItem> bars_, waits_;     // reused for each lane
  std::vector<IterationBand> iterations_;  // in the window
  float iterations_height_ = 0;            // of their strip; 0: there are none

  // A drag in progress.
  enum class Drag { kNone, kPending, kPan, kMark, kOverview, kName, kLane, kIteration };
  Drag drag_ = Drag::kNone;
  ImVec2 drag_from_;
  TimeWindow drag_window_;
  float drag_scroll_ = 0;
  bool drag_marks_ = false;
  size_t drag_lane_ = 0;
  std::optional<size_t> drag_iteration_;
  std::optional<size_t> hovered_finding_, hovered_iteration_;
};

}  // namespace streamscope::viewer
