// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job as lanes on one clock: above, the rank's own work; below, its collectives, and
// how long it waits in them; over all, the critical path, which jumps from lane to lane. It stands
// where the timeline does for a trace.
//
// ranks.cpp does layout and input, ranks_lanes.cpp draws the content of lanes, ranks_chrome.cpp
// what is around them. Only lanes in view cost anything.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "model/rank_lane.h"
#include "plot.h"
#include "widgets.h"
#include "window/view.h"

namespace streamscope::viewer {

class RanksView : public View {
 public:
  std::string_view name() const override { return kTimeline; }
  std::string_view title() const override { return "Ranks"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  struct Frame : Plot {
    const JobModel& job;
    ViewState& state;

    Frame into(ImDrawList& other) const { return {Plot::into(other), job, state}; }
    float row_height() const { return px(45); }
  };
  /// What is under the mouse.
  struct Under {
    StepPart part;
    uint32_t rank = 0;
    uint32_t folded = 0;  ///< more than 1: so many in a pixel
    float coverage = 1;
    bool waits = false;
    explicit operator bool() const { return static_cast<bool>(part); }
  };

  // ranks.cpp
  void scroll(Frame& frame);
  /// What a grown run has kept on top stays there.
  void keep_scrolled(Frame& frame);
  void handle_input(Frame& frame, bool hovered);
  void end_drag(Frame& frame);
  float top_of(const Frame& frame, size_t row) const;
  std::optional<size_t> row_at(const Frame& frame, float y) const;
  /// The rows that are in view, and the one after them.
  std::pair<size_t, size_t> rows_in_view(const Frame& frame) const;

  // ranks_lanes.cpp
  const RankLane& lane(const JobModel& job, uint32_t rank);
  void draw_plot(Frame& frame);
  void draw_lane(Frame& frame, size_t row);
  void draw_work(Frame& frame, const ShownRank& shown, const RankLane& lane, float top);
  void draw_collectives(Frame& frame, const ShownRank& shown, const RankLane& lane, float top);
  void draw_label(Frame& frame, const DrawItem& bar, float top, float bottom, ImU32 fill,
                  std::string_view text);
  void draw_outline(Frame& frame, float x0, float x1, float top, float bottom);
  void look(const Frame& frame, const DrawItem& bar, float top, float bottom, const Under& what);
  void draw_path(Frame& frame);
  void draw_tooltip(Frame& frame);

  // ranks_chrome.cpp
  void tint(const Frame& frame);
  void draw_iterations(Frame& frame, float top);
  void draw_gutter(Frame& frame);
  void draw_name(Frame& frame, size_t row);
  void draw_overview(Frame& frame, float top);
  void draw_order(Frame& frame, float top);

  std::shared_ptr<const JobModel> prepared_;
  std::unordered_map<uint32_t, RankLane> lanes_;  // by rank row, of those drawn recently
  std::vector<ImU32> grid_;
  std::vector<DrawItem> bars_;
  Under under_;
  float scroll_ = 0;
  int32_t top_rank_ = -1;      // on top of those in view in the last frame, by its number
  float top_rank_hidden_ = 0;  // pixels of its row that are above them
  float overview_bottom_ = 0;  // what is above it is the overview
  std::optional<size_t> hovered_iteration_, hovered_row_;
  bool hovered_order_ = false;

  enum class Drag { kNone, kPending, kPan, kOverview };
  Drag drag_ = Drag::kNone;
  ImVec2 drag_from_;
  TimeWindow drag_window_;
  float drag_scroll_ = 0;
};

}  // namespace streamscope::viewer
