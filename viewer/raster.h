// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of pixels that views fill by hand where a rectangle per thing would be too dear: a lane with
// thousands of bars of a pixel becomes one rectangle with a texture. Whoever draws the frame
// uploads the rows to the texture before it draws.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

namespace streamscope::viewer {

/// UI thread only.
class Raster {
 public:
  /// More rows than a screen has room for bands of bars.
  static constexpr int kRows = 512;

  /// The texture of the frame, kRows high; for 0 nothing can be drawn.
  void begin_frame(ImTextureID texture, int width_px);
  /// An empty row, to be shown with its left end at `min`, as high as `max` says. Fill it before
  /// the frame ends. Empty if the texture has no room left.
  std::span<ImU32> add_row(ImDrawList& draw, ImVec2 min, ImVec2 max);

  int width_px() const { return width_px_; }
  int row_count() const { return row_count_; }
  /// All rows of the frame, one after the other.
  std::span<const ImU32> pixels() const { return pixels_; }
  /// Differs from that of a frame with other pixels.
  uint64_t content() const;

 private:
  ImTextureID texture_ = {};
  int width_px_ = 0;
  int row_count_ = 0;
  std::vector<ImU32> pixels_;
};

}  // namespace streamscope::viewer
