// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace streamscope::viewer {

float RanksView::top_of(const Frame& frame, size_t row) const {
  return frame.min.y - scroll_ + static_cast<float>(row) * frame.row_height();
}

std::optional<size_t> RanksView::row_at(const Frame& frame, float y) const {
  if (y < frame.min.y || y >= frame.max.y) return std::nullopt;
  const auto row = static_cast<size_t>((y - frame.min.y + scroll_) / frame.row_height());
  return row < frame.state.job.rows.size() ? std::optional(row) : std::nullopt;
}

std::pair<size_t, size_t> RanksView::rows_in_view(const Frame& frame) const {
  const float first = std::floor(scroll_ / frame.row_height()),
              end = std::ceil((scroll_ + frame.max.y - frame.min.y) / frame.row_height());
  const size_t count = frame.state.job.rows.size();
  return {std::min(static_cast<size_t>(std::max(first, 0.0f)), count),
          std::min(static_cast<size_t>(std::max(end, 0.0f)), count)};
}

void RanksView::keep_scrolled(Frame& frame) {
  const auto rank = scroll_ > 0 ? frame.job.row_of(top_rank_) : std::nullopt;
  if (rank)
    scroll_ =
        static_cast<float>(frame.state.job.row_of[*rank]) * frame.row_height() + top_rank_hidden_;
}

// Brings the selection into view.
void RanksView::scroll(Frame& frame) {
  JobState& job = frame.state.job;
  const float page = frame.max.y - frame.min.y, height = frame.row_height();
  scroll_ += std::exchange(job.scroll_pages, 0.0f) * page;
  if (std::exchange(job.reveal, false) && job.selection) {
    const float top =
        height * static_cast<float>(job.row_of[frame.job.steps().rank_of(job.selection.step)]);
    scroll_ = std::clamp(scroll_, top + height - page, std::max(top, top + height - page));
  }
  const float content = height * static_cast<float>(job.rows.size());
  scroll_ = std::round(std::clamp(scroll_, 0.0f, std::max(content - page, 0.0f)));
  const auto top = static_cast<size_t>(scroll_ / height);
  if (top >= job.rows.size()) return;
  top_rank_ = frame.job.steps().ranks[job.rows[top].rank].identity.rank;
  top_rank_hidden_ = scroll_ - static_cast<float>(top) * height;
}

void RanksView::draw(const TraceModel&, ViewState& state, const Theme& theme) {
  const JobModel& job = *state.job.model;
  bool grown = false;
  if (prepared_ != state.job.model) {
    grown = prepared_ && prepared_->folder() == job.folder();
    prepared_ = state.job.model;
    lanes_.clear();
    if (!grown) scroll_ = 0;
    drag_ = Drag::kNone;
  }
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float gutter = gutter_width(theme, size.x);
  const float overview = state.look.minimap ? theme.px(kOverviewHeight) : 0;
  const float strip = job.iterations().empty() ? 0 : theme.px(kIterationsHeight);
  Frame frame{Plot{.draw = *ImGui::GetWindowDrawList(),
                   .background = state.drawn.background,
                   .theme = theme,
                   .window = state.job.window,
                   .min = {origin.x + gutter, origin.y + overview + strip + theme.px(kAxisHeight)},
                   .max = {origin.x + size.x, origin.y + size.y},
                   .gutter_x = origin.x,
                   .mouse = ImGui::GetIO().MousePos},
              job, state};
  const float width = std::max(frame.max.x - frame.min.x, 16.0f);
  if (state.job.window.width_px <= 1) first_fit(job, state, width);
  state.job.window.resize(width);
  state.drawn.items = 0;
  overview_bottom_ = origin.y + overview;
  if (grown) keep_scrolled(frame);
  scroll(frame);

  // One invisible item takes mouse input for the whole view; the position decides what it does.
  ImGui::SetCursorScreenPos(origin);
  ImGui::InvisibleButton("ranks", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
  const bool hovered = ImGui::IsItemHovered();
  frame.mouse_in_plot = hovered && frame.mouse.x >= frame.min.x && frame.mouse.y >= frame.min.y;
  hovered_row_ =
      hovered && frame.mouse.x < frame.min.x ? row_at(frame, frame.mouse.y) : std::nullopt;
  handle_input(frame, hovered);
  draw_plot(frame);
  state.job.hovered = under_.part;

  // Names have their own draw list, which stays the same while time moves (damage.h).
  ImGui::SetCursorScreenPos({origin.x, frame.min.y});
  ImGui::BeginChild("names", {gutter, std::max(frame.max.y - frame.min.y, 1.0f)}, false,
                    ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground);
  Frame names = frame.into(*ImGui::GetWindowDrawList());
  draw_gutter(names);
  ImGui::EndChild();
  draw_time_axis(frame, origin.y + overview + strip);
  if (strip > 0) draw_iterations(frame, origin.y + overview);
  if (overview > 0) draw_overview(frame, origin.y);
  draw_tooltip(frame);
}

void RanksView::handle_input(Frame& frame, bool hovered) {
  ViewState& state = frame.state;
  const JobModel& job = frame.job;
  if (hovered) {
    handle_wheel(
        frame, hovered_row_.has_value(), scroll_, [&](float px) { pan(job, state, px); },
        [&](float at, double factor) { zoom(job, state, at, factor); });
  }
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    state.focus.view = kTimeline;
    drag_from_ = frame.mouse;
    drag_window_ = state.job.window;
    drag_scroll_ = scroll_;
    drag_ = frame.mouse.y < overview_bottom_ && frame.mouse.x >= frame.min.x ? Drag::kOverview
                                                                             : Drag::kPending;
  }
  if (hovered && drag_ == Drag::kPending && frame.mouse_in_plot &&
      ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    if (state.job.hovered) {
      state.job.selection = state.job.hovered;
      zoom_to_selection(job, state);
    } else {
      fit(job, state);
    }
    drag_ = Drag::kNone;
  }
  const bool moved = std::hypot(frame.mouse.x - drag_from_.x, frame.mouse.y - drag_from_.y) >=
                     frame.px(kDragThreshold);
  if (drag_ == Drag::kPending && moved && drag_from_.x >= frame.min.x &&
      drag_from_.y >= frame.min.y)
    drag_ = Drag::kPan;
  if (drag_ == Drag::kPan) {
    // From where the drag began, so that rounding errors do not add up.
    state.job.window = drag_window_;
    pan(job, state, frame.mouse.x - drag_from_.x);
    scroll_ = drag_scroll_ - (frame.mouse.y - drag_from_.y);
  } else if (drag_ == Drag::kOverview) {
    const double share = std::clamp(
        (frame.mouse.x - frame.min.x) / static_cast<float>(state.job.window.width_px), 0.0f, 1.0f);
    const Ns at = add_ns(job.extent().begin_ns, share * job.extent().span_ns());
    pan(job, state, state.job.window.width_px / 2 - state.job.window.to_px(at));
  }
  if (!ImGui::IsItemActive() && drag_ != Drag::kNone) end_drag(frame);
}

// Released where it was pressed: a click.
void RanksView::end_drag(Frame& frame) {
  ViewState& state = frame.state;
  if (std::exchange(drag_, Drag::kNone) != Drag::kPending) return;
  if (hovered_order_) return toggle_order(frame.job, state);
  if (hovered_iteration_) return go_to_iteration(frame.job, state, *hovered_iteration_);
  if (hovered_row_) {
    const ShownRank& row = state.job.rows[*hovered_row_];
    if (row.is_fold) return toggle_fold(frame.job, state, row.group);
    return open_rank(frame.job, state, row.rank);
  }
  if (drag_from_.y >= frame.min.y && drag_from_.x >= frame.min.x)
    state.job.selection = state.job.hovered;
}

}  // namespace streamscope::viewer
