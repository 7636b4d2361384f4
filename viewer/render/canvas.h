// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The pixels that frames are drawn into. They persist from frame to frame, and only what changed is
// redrawn; a window copies them, a picture is read from them.
#pragma once

#include <functional>

#include "damage.h"
#include "window/workspace.h"

namespace streamscope::viewer {

/// Creates the ImGui context that a canvas draws with.
void set_up_imgui();

/// Needs the same current GL and ImGui context for its whole lifetime. UI thread only.
class Canvas {
 public:
  Canvas();
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// Draws one frame; `new_frame` is the platform's part of it. False if GL cannot create a frame
  /// buffer of this size. Afterwards the canvas is bound.
  bool draw(Workspace& workspace, int width, int height, const std::function<void()>& new_frame);
  /// Copies it to the frame buffer of the window.
  void present() const;

 private:
  bool resize(int width, int height);
  void draw_part(ImDrawData& frame, const ImVec4& part, const PixelBackground& background) const;

  unsigned framebuffer_ = 0, pixels_ = 0;
  int width_ = 0, height_ = 0;
  Damage damage_;
};

}  // namespace streamscope::viewer
