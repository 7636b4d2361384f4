// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a frame differ from the frame before.
//
// Who pans the timeline changes neither its names nor the inspector: where pixels are made by
// software, drawing those again is most of the cost of a frame. Knows no GL.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>
#include <vector>

namespace streamscope::viewer {

/// UI thread only.
class Damage {
 public:
  /// What differs from the frame told last, in the coordinates of the frame: rectangles {left, top,
  /// right, bottom} of whole pixels; they may overlap. What a texture holds is not looked at:
  /// `texture_content` stands for all that may change.
  std::vector<ImVec4> next(const ImDrawData& frame, uint64_t texture_content);
  /// The next frame differs everywhere.
  void forget() { size_ = {}; }

 private:
  // A draw list: the same content at the same place in the order draws the same.
  struct Layer {
    uint64_t content;
    std::vector<ImVec4> boxes;  // of its commands
  };
  std::vector<Layer> layers_;  // of the frame told last
  ImVec2 size_{};
  ImTextureID fonts_{};
};

}  // namespace streamscope::viewer
