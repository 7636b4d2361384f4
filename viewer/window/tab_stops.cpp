// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "tab_stops.h"

#include "render/imgui_compat.h"

namespace streamscope::viewer {

void TabStops::resume() {
  if (asked_ == Ask::kNothing) step(0);
}

void TabStops::step(int by) {
  by_ = asked_ == Ask::kStep ? by_ + by : by;
  asked_ = Ask::kStep;
}

void TabStops::begin() {
  is_open_ = true;
  count_ = 0;
  main_.reset();
}

void TabStops::end() {
  if (!is_open_) return;
  is_open_ = false;
  is_arriving_ = next_.has_value();
  next_.reset();
  if (count_ == 0) asked_ = Ask::kNothing;
  if (asked_ == Ask::kNothing) return;
  const auto count = static_cast<ptrdiff_t>(count_);
  const auto at = static_cast<ptrdiff_t>(current_) + by_;
  next_ =
      asked_ == Ask::kMain ? main_.value_or(0) : static_cast<size_t>((at % count + count) % count);
  asked_ = Ask::kNothing;
}

void TabStops::add() {
  if (is_next()) compat::focus_last_item();
  add_focused(ImGui::IsItemFocused());
}

void TabStops::add_canvas(bool& has_focus) {
  if (is_next()) compat::focus_last_item();
  has_focus = is_open_ && has_key_focus();
  add_focused(has_focus, true);
}

void TabStops::add_focused(bool has_focus, bool is_main) {
  if (!is_open_) return;
  if (has_focus || is_next()) current_ = count_;
  if (is_main && !main_) main_ = count_;
  ++count_;
}

bool has_key_focus() { return ImGui::GetIO().NavVisible && ImGui::IsItemFocused(); }

}  // namespace streamscope::viewer
