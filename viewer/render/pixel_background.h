// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What is below everything that ImGui draws: opaque rectangles, and lines of pixels that views fill
// themselves if a rectangle per bar would be too expensive.
//
// Drawn by the CPU into plain pixels, which software rendering copies far faster than it draws
// rectangles; the canvas puts them under the frame. Independent of GL.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "damage.h"

namespace streamscope::viewer {

/// UI thread only. Coordinates are those of ImGui; a pixel belongs to what covers its center.
class PixelBackground {
 public:
  /// Begins a frame of this many pixels, with `scale` pixels per unit of ImGui. Pixels keep their
  /// content until something is drawn over it.
  void begin_frame(int width_px, int height_px, ImVec2 scale);
  /// What follows is within these bounds and changes together: a panel, or a part of one.
  void begin_section(ImVec2 min, ImVec2 max);
  /// Within the section, until the next call or section.
  void clip(ImVec2 min, ImVec2 max);

  void fill(ImVec2 min, ImVec2 max, ImU32 color);
  /// The same line of pixels, one per unit, repeated from `top` to `bottom`.
  void repeat(float left, float top, float bottom, std::span<const ImU32> line);

  int width_px() const { return width_; }
  /// Rows from the bottom, as in GL, each pixel as blue, green, red, alpha; in a page red, green,
  /// blue, alpha, the only order that WebGL takes.
  std::span<const ImU32> pixels() const { return pixels_; }
  /// The sections of this frame.
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  struct Box {
    int left, top, right, bottom;
  };
  /// In pixels, clipped.
  Box box_of(ImVec2 min, ImVec2 max) const;
  ImU32* row(int y) { return pixels_.data() + static_cast<ptrdiff_t>(height_ - 1 - y) * width_; }
  void report(const Box& box, uint64_t content);

  int width_ = 0, height_ = 0;
  ImVec2 scale_{1, 1};
  Box clip_{};
  ImVec2 section_min_, section_max_;
  std::vector<ImU32> pixels_;
  std::vector<Layer> layers_;
  std::vector<ImU32> line_;  // a line as it is copied
};

}  // namespace streamscope::viewer
