// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What views that show time from left to right have in common: the axis, the lines of its ticks,
// and bars as lines of pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "render/pixel_background.h"
#include "render/theme.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

/// Where and how to draw in one frame.
struct Plot {
  ImDrawList& draw;
  PixelBackground& background;
  const Theme& theme;
  const TimeWindow& window;
  ImVec2 min, max;     ///< of the lanes, in screen pixels
  float gutter_x = 0;  ///< left edge of the names
  ImVec2 mouse;
  bool mouse_in_plot = false;

  /// The same with another draw list.
  Plot into(ImDrawList& other) const {
    return {other, background, theme, window, min, max, gutter_x, mouse, mouse_in_plot};
  }
  float x(Ns at) const { return min.x + static_cast<float>(window.to_px(at)); }
  ImU32 color(Color meaning) const { return theme.color(meaning); }
  float px(float length) const { return theme.px(length); }
};

// Before scaling.
inline constexpr float kOverviewHeight = 46;
inline constexpr float kIterationsHeight = 20;
inline constexpr float kAxisHeight = 28;
inline constexpr float kDragThreshold = 4;

inline constexpr float kMinPx = 1;         ///< narrower bars are folded
inline constexpr float kGapFromPx = 4;     ///< wider bars leave a gap of a pixel to the next
inline constexpr float kLabelFromPx = 26;  ///< wider bars have a label
inline constexpr float kFaintest = 0.2f;   ///< color strength if almost none of a pixel was busy

/// The pixels from x0 to x1: those whose center is in between, at least one.
struct Pixels {
  float first, end;
};
Pixels pixels_of(float x0, float x1);

/// Where a bar ends as drawn.
inline float drawn_end(const DrawItem& bar) {
  return bar.x1 - bar.x0 >= kGapFromPx ? bar.x1 - 1 : bar.x1;
}

/// A line of pixels repeated from `top` to `bottom`: the bars of one band on the grid, where later
/// bars cover earlier ones.
class Strip {
 public:
  /// `grid` is the line of an empty strip.
  Strip(const Plot& plot, float top, float bottom, const std::vector<ImU32>& grid);

  float top() const { return top_; }
  float bottom() const { return bottom_; }
  /// From x0 to x1 from the left end of the plot.
  void fill(float x0, float x1, ImU32 color) { fill(x0, x1, color, color); }
  /// With another color in the lowest two pixels.
  void fill(float x0, float x1, ImU32 color, ImU32 foot);
  /// With slanted lines of another color.
  void hatch(float x0, float x1, ImU32 color, ImU32 line);
  /// Puts it on the ground. Call once, after the last fill.
  void finish() const;

 private:
  /// The pixels of the line from x0 to x1.
  std::pair<size_t, size_t> columns(float x0, float x1) const;

  const Plot& plot_;
  float top_, bottom_;
  std::vector<ImU32> line_, foot_;
  struct Hatched {
    size_t first, end;
    ImU32 line;
  };
  std::vector<Hatched> hatched_;
};

/// The wheel over lanes: it zooms at the mouse; with Shift it pans; with Ctrl, or if `scrolls`, it
/// moves the lanes by a part of `scroll`.
template <class Pan, class Zoom>
void handle_wheel(const Plot& plot, bool scrolls, float& scroll, Pan pan, Zoom zoom) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseWheel != 0) {
    if (scrolls || io.KeyCtrl) {
      scroll -= io.MouseWheel * plot.px(60);
    } else if (io.KeyShift) {
      pan(io.MouseWheel * plot.px(80));
    } else {
      zoom(std::max(plot.mouse.x - plot.min.x, 0.0f), std::pow(kZoomStep, io.MouseWheel));
    }
  }
  if (io.MouseWheelH != 0) pan(io.MouseWheelH * plot.px(80));
}

/// A thin scroll bar beside lanes of this height, only if there is something to scroll.
void draw_scroll_bar(const Plot& plot, float scroll, float content_height);
/// The width of the names beside lanes; in a narrow view they take less, so that some plot is left.
float gutter_width(const Theme& theme, float view_width);
/// The names' and the lanes' part of an overview strip of everything: what is out of view is
/// veiled.
void draw_overview_window(const Plot& plot, TimeRange extent, float top, float bottom);

/// Draws `line` behind all lanes, with the ticks of the axis in it.
void draw_ticks(const Plot& plot, std::vector<ImU32>& line);
/// The axis from `top` to the lanes.
void draw_time_axis(const Plot& plot, float top);

}  // namespace streamscope::viewer
