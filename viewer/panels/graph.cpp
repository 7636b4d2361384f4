// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kColumn = 190, kRow = 60;            // at scale 1
constexpr float kNodeWidth = 140, kNodeHeight = 38;  // the rest is space for edges
constexpr float kLayerGutter = 130;
constexpr float kTextFrom = 44;  // narrower nodes have no text
// Minimum column width, so that what is drawn is bounded by the width of the panel.
constexpr float kLeastColumn = 5;
constexpr float kZoom = 1.2f;        // per step of the wheel or a key
constexpr double kMargin = 16;       // left of the first layer
constexpr float kFirstColumn = 104;  // at first a graph is shown in full if that leaves so much

// The marked time, the selected group, and the streams that pass the lane filter.
GraphFilter filter_of(const TraceModel& model, const ViewState& state) {
  GraphFilter filter{.within = state.nav.marked, .group = state.selection.group};
  if (state.nav.lane_order.filter().empty()) return filter;
  filter.lanes.resize(model.lanes().size());
  for (const size_t lane : state.nav.lane_order.shown(model.lanes(), {}).lanes)
    filter.lanes[lane] = true;
  return filter;
}

}  // namespace

struct GraphView::Frame {
  const TraceModel& model;
  ViewState& state;
  const Theme& theme;
  ImDrawList& draw;
  ImVec2 min, max;
  float column, row;     // pixels
  uint32_t first, last;  // layers in view, [first, last)
  uint32_t selected = GraphLayout::kNoNode, hovered = GraphLayout::kNoNode;
  double left, top;

  float x(uint32_t layer) const {
    return min.x + static_cast<float>(layer * static_cast<double>(column) - left);
  }
  float y(uint32_t row_index) const {
    return min.y + static_cast<float>(row_index * static_cast<double>(row) - top);
  }
  float node_width() const { return column * kNodeWidth / kColumn; }
  float node_height() const { return row * kNodeHeight / kRow; }
  float node_top(uint32_t row_index) const { return y(row_index) + (row - node_height()) / 2; }
};

void GraphView::lay_out(const TraceModel& model, GraphFilter filter, float width, float height) {
  prepared_ = model.serial();
  filter_ = std::move(filter);
  graph_ = lay_out_graph(model, filter_);
  left_ = -kMargin;
  top_ = 0;
  const auto layers = static_cast<float>(std::max<size_t>(graph_.layer_count(), 1));
  scale_ = std::clamp((width - static_cast<float>(kMargin)) / (layers * kColumn),
                      kFirstColumn / kColumn, 1.0f);
  const auto rows = static_cast<float>(std::max<size_t>(graph_.lanes.size(), 1));
  row_scale_ = std::clamp(height / (rows * kRow), 0.4f, 1.3f);
  shown_selection_ = {};
}

void GraphView::center_on(uint32_t node, float width, float height) {
  const GraphNode& at = graph_.nodes[node];
  const double x = at.layer * static_cast<double>(kColumn) * scale_;
  const double y = at.row * static_cast<double>(kRow) * row_scale_;
  const double margin = kColumn * scale_;
  if (x < left_ + margin || x + 2 * margin > left_ + width) left_ = x - width / 2;
  if (y < top_ || y + kRow * row_scale_ > top_ + height) top_ = y - height / 2;
}

// Which group is shown, if there are any.
void GraphView::draw_group(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (model.items().groups().empty()) return;
  const bool one = state.selection.group != kNoId;
  const std::string text =
      one ? "Only the group " +
                ellipsize(model.items().label({ItemKind::kOperation, state.selection.group}), 60)
          : "All of " + format_count(model.items().groups().size(), "group");
  if (widgets::button(theme, state.focus.stops, text, one)) state.overlay = Overlay::kGroups;
  widgets::label_beside(theme, "Shift+G selects a group");
}

void GraphView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  draw_group(model, state, theme);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float gutter = theme.px(kLayerGutter);
  const float width = (std::max(size.x - gutter, 16.0f)) / theme.scale();
  const float height = std::max(size.y, 16.0f) / theme.scale();
  // A mark that is still being drawn is ignored.
  GraphFilter filter = filter_of(model, state);
  if (prepared_ != model.serial() || (filter != filter_ && !ImGui::IsMouseDown(0)))
    lay_out(model, std::move(filter), width, height);
  if (graph_.nodes.empty() && filter_ != GraphFilter{}) {
    return widgets::empty_state(
        theme, "No matching operations",
        "No operation is in the marked time, the lane filter and the selected group. Escape "
        "clears the mark, Shift+F changes the filter, Shift+G the group.");
  }
  if (graph_.nodes.empty()) {
    return widgets::empty_state(theme, "No operations",
                                "The graph shows operations and their order; this trace has no "
                                "operation with a known time.");
  }
  // What is selected elsewhere is brought into view here.
  const uint32_t selected =
      state.selection.item.kind == ItemKind::kOp && state.selection.item.id < graph_.node_of.size()
          ? graph_.node_of[state.selection.item.id]
          : GraphLayout::kNoNode;
  if (state.selection.item != shown_selection_ && selected != GraphLayout::kNoNode)
    center_on(selected, width, height);
  shown_selection_ = state.selection.item;
  scale_ = std::clamp(scale_, kLeastColumn / kColumn, 2.0f);
  const double most_left =
      std::max(static_cast<double>(graph_.layer_count()) * kColumn * scale_ - width, 0.0);
  const double most_top =
      std::max(static_cast<double>(graph_.lanes.size()) * kRow * row_scale_ - height, 0.0);
  left_ = std::clamp(left_, -kMargin, most_left);
  top_ = std::clamp(top_, 0.0, most_top);

  const float column = kColumn * scale_ * theme.scale(), row = kRow * row_scale_ * theme.scale();
  Frame frame{.model = model,
              .state = state,
              .theme = theme,
              .draw = *ImGui::GetWindowDrawList(),
              .min = {origin.x + gutter, origin.y},
              .max = {origin.x + size.x, origin.y + size.y},
              .column = column,
              .row = row,
              .first = 0,
              .last = 0,
              .selected = selected,
              .left = left_ * theme.scale(),
              .top = top_ * theme.scale()};
  frame.first = static_cast<uint32_t>(std::max(frame.left / column - 1, 0.0));
  frame.last =
      std::min<uint32_t>(static_cast<uint32_t>((frame.left + size.x - gutter) / column) + 1,
                         static_cast<uint32_t>(graph_.layer_count()));
  handle_keys(frame);
  handle_input(frame);
  state.drawn.graph_scale = scale_;
  frame.draw.PushClipRect(frame.min, frame.max, true);
  frame.draw.AddRectFilled(frame.min, frame.max, theme.color(Color::kBackground));
  for (uint32_t i = 0; i < graph_.lanes.size(); ++i) {
    const float y = frame.y(i + 1) - 0.5f;
    if (y > frame.min.y && y < frame.max.y)
      frame.draw.AddLine({frame.min.x, y}, {frame.max.x, y}, theme.color(Color::kGrid));
  }
  draw_edges(frame);
  draw_nodes(frame);
  frame.draw.PopClipRect();
  draw_rows(frame);
  if (filter_ == GraphFilter{}) return;
  const std::string text = filter_.within
                               ? "only the marked " + format_duration(filter_.within->duration_ns())
                               : "only filtered streams";
  const ImVec2 chip = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, text);
  widgets::chip(&frame.draw, theme, Face::kSmall,
                {frame.max.x - chip.x - theme.px(8), frame.max.y - chip.y - theme.px(8)},
                theme.color(Color::kPanelRaised), theme.color(Color::kTextDim), text);
}

void GraphView::handle_input(Frame& frame) {
  ImGui::SetCursorScreenPos(frame.min);
  ImGui::InvisibleButton("canvas", {std::max(frame.max.x - frame.min.x, 1.0f),
                                    std::max(frame.max.y - frame.min.y, 1.0f)});
  frame.state.focus.stops.add_canvas(frame.state.focus.on_canvas);
  if (frame.state.focus.on_canvas) {
    widgets::focus_frame(frame.theme);
    if (const auto at = place_of_selected(frame)) {
      widgets::place_tooltip(frame.theme, *at,
                             {at->x + frame.node_width(), at->y + frame.node_height()});
      draw_tooltip(frame, frame.selected);
    }
  } else if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    handle_mouse(frame);
  }
}

void GraphView::zoom_at(float x, float y, float factor) {
  const float before = scale_;
  scale_ = std::clamp(scale_ * factor, kLeastColumn / kColumn, 2.0f);
  left_ = (left_ + x) * scale_ / before - x;
  const float row_before = row_scale_;
  row_scale_ = std::clamp(row_scale_ * scale_ / before, 0.1f, 2.0f);
  top_ = (top_ + y) * row_scale_ / row_before - y;
}

void GraphView::handle_mouse(Frame& frame) {
  const ImGuiIO& io = ImGui::GetIO();
  const float ui = frame.theme.scale();
  const ImVec2 mouse{io.MousePos.x - frame.min.x, io.MousePos.y - frame.min.y};
  if (io.MouseWheel != 0) zoom_at(mouse.x / ui, mouse.y / ui, std::pow(kZoom, io.MouseWheel));
  // The node under the mouse.
  const double layer = (mouse.x + frame.left) / frame.column,
               row = (mouse.y + frame.top) / frame.row;
  if (layer >= 0 && layer < static_cast<double>(graph_.layer_count())) {
    const auto at = static_cast<size_t>(layer);
    for (uint32_t i = graph_.first_of_layer[at]; i < graph_.first_of_layer[at + 1]; ++i) {
      if (graph_.nodes[i].row == static_cast<uint32_t>(std::max(row, 0.0)) &&
          io.MousePos.x < frame.x(graph_.nodes[i].layer) + frame.node_width())
        frame.hovered = i;
    }
  }
  if (ImGui::IsItemActivated()) dragging_ = false;
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    dragging_ = true;
    left_ -= io.MouseDelta.x / ui;
    top_ -= io.MouseDelta.y / ui;
  }
  if (ImGui::IsItemDeactivated() && !dragging_) {
    frame.state.selection.item = {};
    if (frame.hovered != GraphLayout::kNoNode) {
      select(frame.state, {ItemKind::kOp, graph_.nodes[frame.hovered].first_op});
      shown_selection_ = frame.state.selection.item;  // it is in view: do not move
    }
  }
  if (frame.hovered != GraphLayout::kNoNode) draw_tooltip(frame, frame.hovered);
}

std::optional<ImVec2> GraphView::place_of_selected(const Frame& frame) const {
  if (frame.selected == GraphLayout::kNoNode) return std::nullopt;
  const GraphNode& node = graph_.nodes[frame.selected];
  const ImVec2 at{frame.x(node.layer), frame.node_top(node.row)};
  const bool in_sight = at.x + frame.node_width() > frame.min.x && at.x < frame.max.x &&
                        at.y + frame.node_height() > frame.min.y && at.y < frame.max.y;
  return in_sight ? std::optional(at) : std::nullopt;
}

uint32_t GraphView::next_node(const Frame& frame, int right, int down) const {
  const auto count = static_cast<uint32_t>(graph_.nodes.size());
  if (frame.selected == GraphLayout::kNoNode)
    return std::min(graph_.first_of_layer[frame.first], count - 1);
  const GraphNode& from = graph_.nodes[frame.selected];
  uint32_t best = frame.selected;
  uint64_t nearest = std::numeric_limits<uint64_t>::max();
  const auto away = [](uint32_t a, uint32_t b) { return uint64_t{a < b ? b - a : a - b}; };
  for (uint32_t i = 0; i < count; ++i) {
    const GraphNode& node = graph_.nodes[i];
    const bool ahead = right != 0
                           ? node.row == from.row && (right > 0) == (node.layer > from.layer) &&
                                 node.layer != from.layer
                           : node.row != from.row && (down > 0) == (node.row > from.row);
    // Rows first: the nearest node in the next row that has any.
    const uint64_t distance =
        away(node.row, from.row) * graph_.layer_count() + away(node.layer, from.layer);
    if (ahead && distance < nearest) {
      nearest = distance;
      best = i;
    }
  }
  return best;
}

// What keys requested since the last frame.
void GraphView::handle_keys(Frame& frame) {
  const CanvasSteps& steps = frame.state.focus.steps;
  const float ui = frame.theme.scale();
  const float width = (frame.max.x - frame.min.x) / ui, height = (frame.max.y - frame.min.y) / ui;
  if (steps.zoom != 0) {
    const ImVec2 middle{(frame.min.x + frame.max.x) / 2, (frame.min.y + frame.max.y) / 2};
    const ImVec2 at = place_of_selected(frame).value_or(middle);
    zoom_at((at.x - frame.min.x) / ui, (at.y - frame.min.y) / ui,
            std::pow(kZoom, static_cast<float>(steps.zoom)));
  }
  left_ += static_cast<double>(steps.pan_x * width);
  top_ += static_cast<double>(steps.pan_y * height);
  if (steps.fit) prepared_ = 0;
  if (steps.right != 0 || steps.down != 0)
    select(frame.state,
           {ItemKind::kOp, graph_.nodes[next_node(frame, steps.right, steps.down)].first_op});
}

void GraphView::draw_tooltip(const Frame& frame, uint32_t which) {
  const GraphNode& node = graph_.nodes[which];
  const widgets::Tooltip tooltip;
  widgets::text(frame.theme, Face::kBold, frame.theme.color(Color::kText),
                ellipsize(frame.model.items().label({ItemKind::kOp, node.first_op}), 80) +
                    (node.count > 1 ? " and " + format_count(node.count - 1) + " more" : ""));
  widgets::text(
      frame.theme, Face::kBody, frame.theme.color(Color::kTextDim),
      format_duration(node.time.duration_ns()) + " from " + format_exact(node.time.begin_ns));
  if (node.on_path)
    widgets::text(frame.theme, Face::kBody, frame.theme.color(Color::kCritical),
                  "on the critical path");
}

void GraphView::draw_edges(Frame& frame) {
  const Theme& theme = frame.theme;
  // Edges by the layer they leave: those that may reach into view begin before it.
  const uint32_t from = frame.first > graph_.longest_edge ? frame.first - graph_.longest_edge : 0;
  const auto layer_of = [&](const GraphEdge& edge) { return graph_.nodes[edge.from].layer; };
  const auto begin = std::ranges::lower_bound(graph_.edges, from, {}, layer_of);
  const auto end = std::ranges::upper_bound(graph_.edges, frame.last, {}, layer_of);
  const float half = frame.node_height() / 2;
  // Plain edges first, then the critical path, then those of the selection.
  for (int pass = 0; pass < 3; ++pass) {
    for (auto edge = begin; edge < end; ++edge) {
      const GraphNode &a = graph_.nodes[edge->from], &b = graph_.nodes[edge->to];
      if (b.layer < frame.first && a.layer < frame.first) continue;
      const bool chosen = frame.selected != GraphLayout::kNoNode &&
                          (edge->from == frame.selected || edge->to == frame.selected);
      if ((chosen ? 2 : edge->on_path ? 1 : 0) != pass) continue;
      const bool fifo = edge->dependency == GraphEdge::kNoDependency;
      const ImU32 color =
          chosen && !fifo
              ? theme.color(edge->to == frame.selected ? Color::kIncoming : Color::kOutgoing)
          : edge->on_path ? theme.color(Color::kCritical)
          : fifo          ? theme.color(Color::kBorder)
                          : theme.color(Color::kTextFaint);
      const ImVec2 p{frame.x(a.layer) + frame.node_width(), frame.node_top(a.row) + half};
      const ImVec2 q{frame.x(b.layer), frame.node_top(b.row) + half};
      const float thick = theme.px(edge->on_path ? 2.5f : chosen ? 2.0f : 1.2f);
      if (frame.column < theme.px(40) || fifo) {
        frame.draw.AddLine(p, q, color, thick);
        continue;
      }
      const float bend = std::max((q.x - p.x) * 0.5f, theme.px(16));
      frame.draw.AddBezierCubic(p, {p.x + bend, p.y}, {q.x - bend, q.y}, q, color, thick);
      const float head = theme.px(6);
      frame.draw.AddTriangleFilled(q, {q.x - head, q.y - head * 0.55f},
                                   {q.x - head, q.y + head * 0.55f}, color);
    }
  }
}

void GraphView::draw_nodes(Frame& frame) {
  const Theme& theme = frame.theme;
  const float width = frame.node_width(), height = frame.node_height();
  const bool with_text = width >= theme.px(kTextFrom) && height >= theme.text(Face::kSmall).size;
  const uint32_t begin = graph_.first_of_layer[frame.first],
                 end = graph_.first_of_layer[frame.last];
  for (uint32_t i = begin; i < end; ++i) {
    const GraphNode& node = graph_.nodes[i];
    const ImVec2 at{frame.x(node.layer), frame.node_top(node.row)};
    if (at.y + height < frame.min.y || at.y > frame.max.y) continue;
    ++frame.state.drawn.items;
    const ImVec2 corner{at.x + std::max(width, 2.0f), at.y + std::max(height, 2.0f)};
    const Item item{ItemKind::kOp, node.first_op};
    const ImU32 fill = theme.color(frame.model.items().category(item));
    frame.draw.AddRectFilled(at, corner, fill);
    if (i == frame.selected || i == frame.hovered) {
      frame.draw.AddRect({at.x - 1, at.y - 1}, {corner.x + 1, corner.y + 1},
                         theme.color(Color::kSelection), 0, 0, theme.px(2));
    } else if (node.on_path) {
      frame.draw.AddRect(at, corner, theme.color(Color::kCritical), 0, 0, theme.px(2));
    }
    if (!with_text) continue;
    const ImU32 ink = theme.on(fill);
    const float left = at.x + theme.px(6), room = width - theme.px(10);
    const std::string label = frame.model.items().label(item) +
                              (node.count > 1 ? " +" + std::to_string(node.count - 1) : "");
    const float line = theme.text(Face::kSmall).size + theme.px(2);
    const bool two = height >= 2 * line + theme.px(2);
    const float y = at.y + (height - (two ? 2 : 1) * line) / 2;
    widgets::fit_text(frame.draw, theme, Face::kSmall, {left, y}, room, ink, label);
    if (two)
      widgets::fit_text(frame.draw, theme, Face::kSmall, {left, y + line}, room,
                        Theme::fade(ink, 0.65f), format_duration(node.time.duration_ns()));
  }
}

void GraphView::draw_rows(Frame& frame) {
  const Theme& theme = frame.theme;
  const float left = frame.min.x - theme.px(kLayerGutter);
  frame.draw.PushClipRect({left, frame.min.y}, {frame.min.x, frame.max.y}, true);
  const float line = theme.text(Face::kSmall).size;
  float free_from = frame.min.y - line;
  for (uint32_t i = 0; i < graph_.lanes.size(); ++i) {
    const float y = std::round(frame.y(i) + (frame.row - line) / 2);
    if (y < free_from || y > frame.max.y) continue;  // names do not overlap
    widgets::fit_text(frame.draw, theme, Face::kSmall, {left, y}, theme.px(kLayerGutter - 10),
                      theme.color(Color::kText), frame.model.lanes()[graph_.lanes[i]].title);
    free_from = y + line;
  }
  frame.draw.PopClipRect();
}

}  // namespace streamscope::viewer
