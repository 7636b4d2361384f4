// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What lies below all that ImGui draws: opaque rectangles, and lines of pixels that views fill by
// hand where a rectangle per bar would be too expensive.
//
// Made by the processor into plain pixels, which software rendering copies far faster than it draws
// rectangles; the canvas puts them under the frame. Knows no GL.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

#include "damage.h"

namespace streamscope::viewer {

/// UI thread only. Coordinates are those of ImGui; a pixel belongs to what covers its middle.
class Ground {
 public:
  /// Begins a frame of so many pixels, `scale` of them to a unit of ImGui. They hold what they held
  /// until something is put over it.
  void begin_frame(int width_px, int height_px, ImVec2 scale);
  /// What follows lies within these bounds and changes together: a panel, or a part of one.
  void begin_section(ImVec2 min, ImVec2 max);
  /// Within the section, until the next call or section.
  void clip(ImVec2 min, ImVec2 max);

  void fill(ImVec2 min, ImVec2 max, ImU32 color);
  /// The same line of pixels, one for each unit, over and over from `top` to `bottom`.
  void repeat(float left, float top, float bottom, std::span<const ImU32> line);

  int width_px() const { return width_; }
  /// In rows from the bottom, as GL counts, of blue, green, red, alpha.
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
  std::vector<ImU32> line_;  // as it is copied
};

}  // namespace streamscope::viewer
