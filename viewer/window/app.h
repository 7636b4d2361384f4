// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where a workspace is drawn: a GLFW window, or a surface without a display. The one place that
// knows GLFW, EGL and GL.
#pragma once

#include <memory>

#include "render/png.h"
#include "workspace.h"

namespace streamscope::viewer {

/// A drawing surface without a display server (EGL surfaceless), with an ImGui context of its own.
/// Create it before the workspace that it draws. UI thread only.
class Offscreen {
 public:
  /// Throws Error if this machine's EGL cannot do that.
  Offscreen(int width, int height);
  ~Offscreen();

  /// Draws a frame and waits until it is done.
  void draw(Workspace& workspace);
  /// Draws so many frames (a layout settles in three) and returns the last. Same input, same bits.
  Image render(Workspace& workspace, int frames = 3);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads the trace and draws one picture into arguments.screenshot. Throws Error.
void run_screenshot(const Arguments& arguments);

/// Opens a window and returns when it is closed. Throws Error if there is no display.
void run_window(const Arguments& arguments);

}  // namespace streamscope::viewer
