// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/labels.h"

namespace streamscope::viewer {
namespace {

constexpr double kLeastBand = 4;  // pixels; narrower iterations are merged

}  // namespace

float TimelineView::lane_height(const Pane& pane, const Lane& lane, bool collapsed) const {
  if (is_group(lane.kind)) return pane.px(lane.kind == LaneKind::kProcess ? 30 : 28);
  if (collapsed) return pane.px(20);
  float height = pane.px(10);
  for (const Band& band : lane.bands) height += pane.px(band_pitch(band.kind));
  if (lane.records.size() + lane.passed_waits.size() > 0) height += pane.px(9);
  if (lane.kind != LaneKind::kStream || !pane.state.prediction)
    return std::max(height, pane.px(40));
  return std::max(height + pane.px(kPredictedPitch), pane.px(52));  // three lines of text beside it
}

void TimelineView::lay_out(const Pane& pane) {
  const auto& lanes = pane.model.lanes();
  const LaneOrder::Shown shown =
      pane.state.nav.lane_order.shown(pane.model.lanes(), pane.state.nav.collapsed);
  boxes_.clear();
  box_index_.assign(lanes.size(), -1);
  pinned_height_ = repairs_height(pane);
  float y = pane.min.y + pinned_height_;
  for (size_t i = 0; i < shown.lanes.size(); ++i) {
    const size_t lane = shown.lanes[i];
    const bool pinned = i < shown.pinned_count;
    if (i == shown.pinned_count) y -= scroll_;
    const float height = lane_height(pane, lanes[lane], pane.state.nav.is_collapsed(lane));
    box_index_[lane] = static_cast<int>(boxes_.size());
    boxes_.push_back({lane, y, y + height, pinned});
    y += height;
    if (pinned) pinned_height_ += height;
  }
  content_height_ = y - pane.min.y + (shown.lanes.size() > shown.pinned_count ? scroll_ : 0);
}

const LaneBox* TimelineView::box_of(size_t lane) const {
  return lane < box_index_.size() && box_index_[lane] >= 0
             ? &boxes_[static_cast<size_t>(box_index_[lane])]
             : nullptr;
}

const LaneBox* TimelineView::box_at(float y) const {
  const auto box = std::ranges::find_if(
      boxes_, [&](const LaneBox& each) { return y >= each.top && y < each.bottom; });
  return box != boxes_.end() ? &*box : nullptr;
}

// Brings the selection, or the lane that keys selected, into view.
void TimelineView::reveal(const Pane& pane) {
  if (!pane.state.nav.reveal) return;
  pane.state.nav.reveal = false;
  const bool keeps_range = std::exchange(pane.state.nav.reveal_lane_only, false);
  const auto lane = current_lane(pane.model, pane.state);
  if (!lane) return;
  // Opens the lanes that hide it.
  for (int in = pane.model.lanes()[*lane].parent; in >= 0;
       in = pane.model.lanes()[static_cast<size_t>(in)].parent) {
    if (pane.state.nav.is_collapsed(static_cast<size_t>(in)))
      pane.state.nav.collapsed[static_cast<size_t>(in)] = false;
  }
  lay_out(pane);
  const auto place = pane.model.lanes().place(pane.state.selection.item);
  const auto range = pane.model.items().time(pane.state.selection.item);
  if (place && range && place->lane == *lane && !keeps_range) {
    const double from = pane.state.nav.window.to_px(range->begin_ns),
                 to = pane.state.nav.window.to_px(range->end_ns);
    const double width = pane.state.nav.window.width_px;
    if (to < width * 0.02 || from > width * 0.98)
      pan(pane.model, pane.state, width / 2 - (from + to) / 2);
  }
  if (const LaneBox* box = box_of(*lane); box != nullptr && !box->pinned) {
    const float room = pane.px(8), top = pane.min.y + pinned_height_;
    if (box->top < top) scroll_ -= top - box->top + room;
    if (box->bottom > pane.max.y)
      scroll_ += std::min(box->bottom - pane.max.y + room, box->top - pane.min.y);
  }
}

void TimelineView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float gutter = gutter_width(theme, size.x);
  const float overview = state.look.minimap ? theme.px(kOverviewHeight) : 0,
              axis = theme.px(kAxisHeight);
  iterations_height_ = model.diagnosis().has_iterations() ? theme.px(kIterationsHeight) : 0;
  const float above = overview + iterations_height_;
  Pane pane{Plot{.draw = *ImGui::GetWindowDrawList(),
                 .background = state.drawn.background,
                 .theme = theme,
                 .window = state.nav.window,
                 .min = {origin.x + gutter, origin.y + above + axis},
                 .max = {origin.x + size.x, origin.y + size.y},
                 .gutter_x = origin.x,
                 .mouse = ImGui::GetIO().MousePos},
            model, state};
  const float width = std::max(pane.max.x - pane.min.x, 16.0f);
  if (state.nav.window.width_px <= 1) first_fit(model, state, width);
  state.nav.window.resize(width);
  state.drawn.items = 0;
  if (folded_of_ != model.serial()) {
    folded_.clear();
    counters_.clear();
  }
  folded_of_ = model.serial();

  lay_out(pane);
  const float page = pane.max.y - pane.min.y;
  scroll_ += state.nav.scroll_pages * page;
  state.nav.scroll_pages = 0;
  reveal(pane);
  scroll_ = std::round(std::clamp(scroll_, 0.0f, std::max(content_height_ - page, 0.0f)));
  lay_out(pane);

  // One invisible item takes mouse input for the whole view; the position decides what it does.
  ImGui::SetCursorScreenPos(origin);
  ImGui::InvisibleButton("timeline", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  const bool hovered = ImGui::IsItemHovered();
  const bool in_gutter = pane.mouse.x < pane.min.x;
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseDown[0] || io.MouseWheel != 0)
    state.focus.by_keys = false;
  pane.mouse_in_plot = hovered && !in_gutter && pane.mouse.y >= pane.min.y && !is_by_keys(pane);
  handle_input(pane, hovered && in_gutter && pane.mouse.y >= pane.min.y);

  draw_plot(pane);
  state.selection.hovered = hit_.item;
  state.drawn.counter_value.reset();
  state.drawn.counter_mean.reset();
  if (hit_.counter != nullptr) {
    state.drawn.counter_value = hit_.value.most;
    state.drawn.counter_mean = hit_.value.mean;
  }
  // Names have their own draw list, which stays the same while time moves (damage.h).
  ImGui::SetCursorScreenPos({origin.x, pane.min.y});
  ImGui::BeginChild("names", {gutter, std::max(page, 1.0f)}, false,
                    ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground);
  Pane names = pane.into(*ImGui::GetWindowDrawList());
  draw_gutter(names);
  ImGui::EndChild();
  draw_time_axis(pane, origin.y + above);
  draw_bookmarks(pane, origin.y + above);
  if (iterations_height_ > 0) draw_iterations(pane, origin.y + overview);
  draw_findings(pane);
  if (state.look.minimap) draw_overview(pane, origin, {pane.max.x, origin.y + overview});
  draw_tooltip(pane);
}

void TimelineView::draw_plot(Pane& pane) {
  hit_ = {};
  pane.draw.PushClipRect(pane.min, pane.max, true);
  pane.state.drawn.background.begin_section(pane.min, pane.max);
  iterations_ = iteration_bands(pane.model.diagnosis(), pane.state.nav.window,
                                kLeastBand * pane.theme.scale());
  draw_grid(pane);
  const float scrolled = pane.min.y + pinned_height_;
  for (const bool pinned : {true, false}) {
    if (pinned && pinned_height_ == 0) continue;
    const ImVec2 min{pane.min.x, pinned ? pane.min.y : scrolled},
        max{pane.max.x, pinned ? scrolled : pane.max.y};
    pane.draw.PushClipRect(min, max, true);
    pane.state.drawn.background.clip(min, max);
    const bool mouse = pane.mouse_in_plot;
    pane.mouse_in_plot = mouse && (pane.mouse.y < scrolled) == pinned;
    if (pinned) draw_repairs(pane);
    for (const LaneBox& box : boxes_) {
      if (box.pinned == pinned && box.bottom > (pinned ? pane.min.y : scrolled) &&
          box.top < pane.max.y)
        draw_lane(pane, box);
    }
    pane.mouse_in_plot = mouse;
    pane.draw.PopClipRect();
  }
  draw_edges(pane);
  draw_prediction(pane);
  draw_overlays(pane);
  pane.draw.PopClipRect();
}

void TimelineView::handle_input(Pane& pane, bool gutter_hovered) {
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  if (hovered)
    handle_wheel(
        pane, gutter_hovered, scroll_, [&](float px) { pan(pane.model, pane.state, px); },
        [&](float at, double factor) { zoom(pane.model, pane.state, at, factor); });
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) begin_drag(pane, gutter_hovered);
  if (drag_ == Drag::kName && std::fabs(pane.mouse.y - drag_from_.y) >= pane.px(kDragThreshold))
    drag_ = Drag::kLane;
  if (hovered && drag_ == Drag::kPending && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    if (pane.state.selection.hovered) {
      pane.state.selection.item = pane.state.selection.hovered;
      zoom_to_selection(pane.model, pane.state);
    } else {
      fit(pane.model, pane.state);
    }
    drag_ = Drag::kNone;
  }
  if (drag_ == Drag::kPending &&
      std::hypot(pane.mouse.x - drag_from_.x, pane.mouse.y - drag_from_.y) >=
          pane.px(kDragThreshold)) {
    drag_ = drag_marks_ ? Drag::kMark : Drag::kPan;
  }
  follow_drag(pane);
  if (!active && drag_ != Drag::kNone) end_drag(pane);
}

void TimelineView::begin_drag(Pane& pane, bool gutter_hovered) {
  ViewState& state = pane.state;
  state.focus.view = kTimeline;
  drag_from_ = pane.mouse;
  drag_window_ = state.nav.window;
  drag_scroll_ = scroll_;
  drag_marks_ = ImGui::GetIO().KeyShift;
  drag_iteration_ = hovered_iteration_;
  const float axis = pane.min.y - pane.px(kAxisHeight);
  drag_ = state.look.minimap && pane.mouse.y < axis - iterations_height_ ? Drag::kOverview
          : pane.mouse.x < pane.min.x                                    ? Drag::kNone
          : pane.mouse.y < axis                                          ? Drag::kIteration
                                                                         : Drag::kPending;
  if (!gutter_hovered) return;
  if (const LaneBox* box = box_at(pane.mouse.y)) {
    drag_ = Drag::kName;
    drag_lane_ = box->lane;
  }
}

void TimelineView::follow_drag(Pane& pane) {
  ViewState& state = pane.state;
  const float mouse_px = pane.mouse.x - pane.min.x;
  switch (drag_) {
    case Drag::kPan:
      // From where the drag began, so that rounding errors do not add up.
      state.nav.window = drag_window_;
      pan(pane.model, state, pane.mouse.x - drag_from_.x);
      scroll_ = drag_scroll_ - (pane.mouse.y - drag_from_.y);
      break;
    case Drag::kMark: {
      const Ns a = state.nav.window.to_ns(drag_from_.x - pane.min.x),
               b = state.nav.window.to_ns(mouse_px);
      state.nav.marked = TimeRange{std::min(a, b), std::max(a, b)};
      break;
    }
    case Drag::kOverview: {
      const TimeRange extent = pane.model.extent();
      const double share =
          std::clamp(mouse_px / static_cast<float>(state.nav.window.width_px), 0.0f, 1.0f);
      const Ns at = add_ns(extent.begin_ns, share * extent.span_ns());
      pan(pane.model, state, state.nav.window.width_px / 2 - state.nav.window.to_px(at));
      break;
    }
    default:
      break;
  }
}

void TimelineView::end_drag(Pane& pane) {
  ViewState& state = pane.state;
  if (drag_ == Drag::kLane) {
    if (const LaneBox* box = box_at(pane.mouse.y))
      state.nav.lane_order.move(pane.model.lanes(), drag_lane_, box->lane);
  }
  // Released where it was pressed: a click. On a name it collapses or opens the lane.
  if (drag_ == Drag::kName) toggle_collapsed(pane.model, state, drag_lane_);
  if (drag_ == Drag::kIteration && drag_iteration_)
    go_to_iteration(pane.model, state, *drag_iteration_);
  if (drag_ == Drag::kPending && hovered_finding_) {
    look_at_finding(pane.model, state, *hovered_finding_);
  } else if (drag_ == Drag::kPending && drag_from_.y >= pane.min.y) {
    const Item item = state.selection.hovered;
    if (item || !state.nav.marked) state.selection.item = item;
    state.nav.reveal |= hit_.is_tag && hit_.item == item;
    if (!item) state.nav.marked.reset();
  }
  drag_ = Drag::kNone;
}

void TimelineView::draw_overlays(Pane& pane) {
  const ViewState& state = pane.state;
  if (state.nav.marked) {
    const float from = std::max(pane.x(state.nav.marked->begin_ns), pane.min.x),
                to = std::min(pane.x(state.nav.marked->end_ns), pane.max.x);
    if (to > pane.min.x && from < pane.max.x) {
      pane.draw.AddRectFilled({from, pane.min.y}, {to, pane.max.y}, pane.color(Color::kMark));
      for (const float x : {from, to - 1}) {
        pane.draw.AddLine({x, pane.min.y}, {x, pane.max.y}, pane.color(Color::kAccent), 1);
      }
      const std::string text = format_duration(state.nav.marked->duration_ns());
      const ImVec2 size = widgets::chip(nullptr, pane.theme, Face::kBold, {}, 0, 0, text);
      widgets::chip(&pane.draw, pane.theme, Face::kBold,
                    {(from + to - size.x) / 2, pane.max.y - size.y - pane.px(8)},
                    pane.color(Color::kAccent), pane.theme.on(pane.color(Color::kAccent)), text);
    }
  }
  const float at_x = hit_.counter != nullptr ? hit_.at_x : pane.mouse.x;
  if ((pane.mouse_in_plot || hit_.counter != nullptr) && drag_ != Drag::kPan) {
    const float x = std::floor(at_x) + 0.5f;
    pane.draw.AddLine({x, pane.min.y}, {x, pane.max.y}, pane.color(Color::kHover));
  }
  draw_scroll_bar(pane, scroll_, content_height_);
}

}  // namespace streamscope::viewer
