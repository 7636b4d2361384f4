// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "views/timeline.h"

#include <algorithm>
#include <cmath>

#include "labels.h"

namespace streamscope::viewer {
namespace {

constexpr float kGutter = 236;
constexpr float kAxis = 28;
constexpr float kOverview = 46;
constexpr float kDragThreshold = 4;
constexpr double kWheelStep = 1.25;

}  // namespace

float TimelineView::lane_height(const Pane& pane, const Lane& lane, bool collapsed) const {
  switch (lane.kind) {
    case LaneKind::kProcess:
      return pane.px(30);
    case LaneKind::kDevice:
    case LaneKind::kHost:
      return pane.px(28);
    default:
      break;
  }
  if (collapsed) return pane.px(20);
  float height = pane.px(10);
  for (const Band& band : lane.bands) height += pane.px(band_pitch(band.kind));
  if (!lane.records.empty() || !lane.passed_waits.empty()) height += pane.px(9);
  return std::max(height, pane.px(40));
}

void TimelineView::lay_out(const Pane& pane) {
  const auto& lanes = pane.document.lanes();
  boxes_.clear();
  std::vector<bool> hidden(lanes.size());
  float y = pane.min.y - scroll_;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const int parent = lanes[i].parent;
    hidden[i] = parent >= 0 && (hidden[static_cast<size_t>(parent)] ||
                                pane.state.is_collapsed(static_cast<size_t>(parent)));
    if (hidden[i]) continue;
    const float height = lane_height(pane, lanes[i], pane.state.is_collapsed(i));
    boxes_.push_back({i, y, y + height});
    y += height;
  }
  content_height_ = y - pane.min.y + scroll_;
}

const LaneBox* TimelineView::box_of(size_t lane) const {
  const auto it = std::lower_bound(boxes_.begin(), boxes_.end(), lane,
                                   [](const LaneBox& box, size_t at) { return box.lane < at; });
  return it != boxes_.end() && it->lane == lane ? &*it : nullptr;
}

void TimelineView::scroll_to_selection(const Pane& pane) {
  if (!pane.state.reveal) return;
  pane.state.reveal = false;
  const auto place = pane.document.place(pane.state.selection);
  if (!place) return;
  // Open what hides it.
  for (int lane = static_cast<int>(place->lane); lane >= 0;
       lane = pane.document.lanes()[static_cast<size_t>(lane)].parent) {
    if (pane.state.is_collapsed(static_cast<size_t>(lane)) &&
        lane != static_cast<int>(place->lane)) {
      pane.state.collapsed[static_cast<size_t>(lane)] = false;
    }
  }
  lay_out(pane);
  const TimeRange range = *pane.document.time(pane.state.selection);
  const double from = pane.state.window.to_px(range.begin_ns),
               to = pane.state.window.to_px(range.end_ns);
  const double width = pane.state.window.width_px;
  if (to < width * 0.02 || from > width * 0.98)
    pan(pane.document, pane.state, width / 2 - (from + to) / 2);
  if (const LaneBox* box = box_of(place->lane)) {
    const float room = pane.px(8);
    if (box->top < pane.min.y) scroll_ -= pane.min.y - box->top + room;
    if (box->bottom > pane.max.y)
      scroll_ += std::min(box->bottom - pane.max.y + room, box->top - pane.min.y);
  }
}

void TimelineView::draw(const Document& document, ViewState& state, const Theme& theme) {
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float gutter = theme.px(kGutter), overview = state.show_minimap ? theme.px(kOverview) : 0;
  const float axis = theme.px(kAxis);
  Pane pane{.draw = *ImGui::GetWindowDrawList(),
            .document = document,
            .state = state,
            .theme = theme,
            .min = {origin.x + gutter, origin.y + overview + axis},
            .max = {origin.x + size.x, origin.y + size.y},
            .gutter_x = origin.x,
            .mouse = ImGui::GetIO().MousePos};
  const bool first = state.window.width_px <= 1;
  state.window.resize(std::max(pane.max.x - pane.min.x, 16.0f));
  if (first) fit_work(document, state);
  state.drawn_items = 0;

  lay_out(pane);
  const float page = pane.max.y - pane.min.y;
  scroll_ += state.scroll_pages * page;
  state.scroll_pages = 0;
  scroll_to_selection(pane);
  scroll_ = std::round(std::clamp(scroll_, 0.0f, std::max(content_height_ - page, 0.0f)));
  lay_out(pane);

  // One invisible item takes the mouse for the whole view; where it is decides what it does.
  ImGui::SetCursorScreenPos(origin);
  ImGui::InvisibleButton("timeline", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  const bool hovered = ImGui::IsItemHovered();
  const bool in_gutter = pane.mouse.x < pane.min.x;
  pane.mouse_in_plot = hovered && !in_gutter && pane.mouse.y >= pane.min.y;
  handle_input(pane, hovered && in_gutter && pane.mouse.y >= pane.min.y);

  hit_ = {};
  pane.draw.PushClipRect(pane.min, pane.max, true);
  draw_grid(pane);
  for (const LaneBox& box : boxes_) {
    if (box.bottom > pane.min.y && box.top < pane.max.y) draw_lane(pane, box);
  }
  draw_edges(pane);
  draw_overlays(pane);
  pane.draw.PopClipRect();
  state.hovered = hit_.item;
  draw_gutter(pane);
  draw_axis(pane, origin.y + overview);
  if (state.show_minimap) draw_overview(pane, origin, {pane.max.x, origin.y + overview});
  draw_tooltip(pane);
}

void TimelineView::handle_input(Pane& pane, bool gutter_hovered) {
  const ImGuiIO& io = ImGui::GetIO();
  ViewState& state = pane.state;
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const float mouse_px = pane.mouse.x - pane.min.x;

  if (hovered && io.MouseWheel != 0) {
    if (gutter_hovered || io.KeyCtrl) {
      scroll_ -= io.MouseWheel * pane.px(60);
    } else if (io.KeyShift) {
      pan(pane.document, state, io.MouseWheel * pane.px(80));
    } else {
      zoom(pane.document, state, std::max(mouse_px, 0.0f), std::pow(kWheelStep, io.MouseWheel));
    }
  }
  if (hovered && io.MouseWheelH != 0) pan(pane.document, state, io.MouseWheelH * pane.px(80));

  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    drag_from_ = pane.mouse;
    drag_window_ = state.window;
    drag_scroll_ = scroll_;
    drag_marks_ = io.KeyShift;
    const bool on_overview = state.show_minimap && pane.mouse.y < pane.min.y - pane.px(kAxis);
    drag_ = on_overview                  ? Drag::kOverview
            : pane.mouse.x >= pane.min.x ? Drag::kPending
                                         : Drag::kNone;
  }
  if (hovered && drag_ == Drag::kPending && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    if (state.hovered) {
      state.selection = state.hovered;
      zoom_to_selection(pane.document, state);
    } else {
      fit(pane.document, state);
    }
    drag_ = Drag::kNone;
  }
  if (drag_ == Drag::kPending &&
      std::hypot(pane.mouse.x - drag_from_.x, pane.mouse.y - drag_from_.y) >=
          pane.px(kDragThreshold)) {
    drag_ = drag_marks_ ? Drag::kMark : Drag::kPan;
  }
  switch (drag_) {
    case Drag::kPan:
      // From where the drag began, so that nothing is lost to rounding on the way.
      state.window = drag_window_;
      pan(pane.document, state, pane.mouse.x - drag_from_.x);
      scroll_ = drag_scroll_ - (pane.mouse.y - drag_from_.y);
      break;
    case Drag::kMark: {
      const Ns a = state.window.to_ns(drag_from_.x - pane.min.x), b = state.window.to_ns(mouse_px);
      state.marked = TimeRange{std::min(a, b), std::max(a, b)};
      break;
    }
    case Drag::kOverview: {
      const TimeRange extent = pane.document.extent();
      const double share =
          std::clamp(mouse_px / static_cast<float>(state.window.width_px), 0.0f, 1.0f);
      const Ns at = add_ns(extent.begin_ns, share * extent.span_ns());
      pan(pane.document, state, state.window.width_px / 2 - state.window.to_px(at));
      break;
    }
    default:
      break;
  }

  if (!active && drag_ != Drag::kNone) {
    // Released where it was pressed: a click.
    if (drag_ == Drag::kPending && drag_from_.y >= pane.min.y) {
      const Item item = state.hovered;
      if (item || !state.marked) state.selection = item;
      if (!item) state.marked.reset();
    }
    drag_ = Drag::kNone;
  }

  // Names of lanes: a click opens or closes.
  if (gutter_hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
    for (const LaneBox& box : boxes_) {
      if (pane.mouse.y >= box.top && pane.mouse.y < box.bottom) {
        toggle_collapsed(pane.document, state, box.lane);
        break;
      }
    }
  }
}

void TimelineView::draw_overlays(Pane& pane) {
  const ViewState& state = pane.state;
  if (state.marked) {
    const float from = std::max(pane.x(state.marked->begin_ns), pane.min.x),
                to = std::min(pane.x(state.marked->end_ns), pane.max.x);
    if (to > pane.min.x && from < pane.max.x) {
      pane.draw.AddRectFilled({from, pane.min.y}, {to, pane.max.y}, pane.color(Color::kMark));
      for (const float x : {from, to - 1}) {
        pane.draw.AddLine({x, pane.min.y}, {x, pane.max.y}, pane.color(Color::kAccent), 1);
      }
      const std::string text = format_duration(state.marked->duration_ns());
      const ImVec2 size = widgets::chip(nullptr, pane.theme, Face::kBold, {}, 0, 0, text);
      widgets::chip(&pane.draw, pane.theme, Face::kBold,
                    {(from + to - size.x) / 2, pane.max.y - size.y - pane.px(8)},
                    pane.color(Color::kAccent), pane.theme.on(pane.color(Color::kAccent)), text);
    }
  }
  if (pane.mouse_in_plot && drag_ != Drag::kPan) {
    const float x = std::floor(pane.mouse.x) + 0.5f;
    pane.draw.AddLine({x, pane.min.y}, {x, pane.max.y}, pane.color(Color::kHover));
  }
  // A thin scroll bar, only if there is something to scroll.
  const float page = pane.max.y - pane.min.y;
  if (content_height_ > page) {
    const float height = std::max(page * page / content_height_, pane.px(24));
    const float top = pane.min.y + scroll_ / (content_height_ - page) * (page - height);
    pane.draw.AddRectFilled({pane.max.x - pane.px(5), top}, {pane.max.x - pane.px(1), top + height},
                            pane.color(Color::kTextFaint));
  }
}

}  // namespace streamscope::viewer
