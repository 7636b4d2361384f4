// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a frame differ from the previous frame: of its ground, or of what ImGui draws over
// it.
//
// Panning the timeline changes neither its names nor the inspector; with software rendering,
// redrawing those is most of the cost of a frame. Independent of GL.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <vector>

namespace streamscope::viewer {

/// A part of a frame: equal content at the same place in the order looks the same.
struct Layer {
  uint64_t content;
  std::vector<ImVec4> boxes;  ///< where it draws: {left, top, right, bottom}
};

uint64_t content_of(const void* bytes, size_t count);
template <class T>
uint64_t content_of(const T* values, size_t count) {
  return content_of(static_cast<const void*>(values), count * sizeof(T));
}
uint64_t combine(uint64_t a, uint64_t b);

/// UI thread only.
class Damage {
 public:
  /// What differs from the last frame, in frame coordinates: rectangles of whole pixels, which may
  /// overlap. The content of textures must not change.
  std::vector<ImVec4> next(const ImDrawData& frame, const std::vector<Layer>& background);
  /// Makes the next frame differ everywhere.
  void forget() { size_ = {}; }

 private:
  std::vector<Layer> layers_;  // of the last frame
  ImVec2 size_{};
  ImTextureID fonts_{};
};

}  // namespace streamscope::viewer
