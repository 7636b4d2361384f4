// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The dependency graph: runs of operations as nodes, streams as rows, time from left to right in
// layers; the critical path marked, the selection shared with the timeline.
#pragma once

#include "timeline/graph_layout.h"
#include "window/view.h"

namespace streamscope::viewer {

class GraphView : public View {
 public:
  std::string_view name() const override { return "graph"; }
  std::string_view title() const override { return "Graph"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  struct Frame;  // what the functions below share
  void draw_group(const TraceModel& model, ViewState& state, const Theme& theme);
  void lay_out(const TraceModel& model, GraphFilter filter, float width, float height);
  void handle_input(Frame& frame);
  void handle_mouse(Frame& frame);
  void handle_keys(Frame& frame);
  /// Scales by `factor`; the point, in unscaled pixels from the corner, stays in place.
  void zoom_at(float x, float y, float factor);
  /// The node that an arrow key leads to from the selected one; the first in view if none is
  /// selected.
  uint32_t next_node(const Frame& frame, int right, int down) const;
  /// Its upper left corner, if it is in view.
  std::optional<ImVec2> place_of_selected(const Frame& frame) const;
  void draw_tooltip(const Frame& frame, uint32_t node);
  void draw_edges(Frame& frame);
  void draw_nodes(Frame& frame);
  void draw_rows(Frame& frame);
  void center_on(uint32_t node, float width, float height);

  uint64_t prepared_ = 0;
  GraphFilter filter_;
  GraphLayout graph_;
  Item shown_selection_;
  float scale_ = 1, row_scale_ = 1;  // of columns and rows
  double left_ = 0, top_ = 0;        // of the canvas, in unscaled pixels
  bool dragging_ = false;
};

}  // namespace streamscope::viewer
