// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a workspace is drawn on: a GLFW window, or a surface without a display. Only this part uses
// GLFW, EGL and GL.
#pragma once

#include <memory>

#include "render/png.h"
#include "workspace.h"

namespace streamscope::viewer {

/// A drawing surface without a display server (EGL surfaceless), with its own ImGui context. Create
/// it before the workspace that it draws. UI thread only.
class Offscreen {
 public:
  /// Throws Error if EGL on this machine does not support that.
  Offscreen(int width, int height);
  ~Offscreen();

  /// Draws a frame and waits until it is done.
  void draw(Workspace& workspace);
  /// Draws this many frames (a layout settles in three) and returns the last. The same input gives
  /// the same bits.
  Image render(Workspace& workspace, int frames = 3);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads the trace and draws one picture to arguments.screenshot. Throws Error.
void run_screenshot(const Arguments& arguments);

/// Opens a window and returns when it is closed. Throws Error if there is no display.
void run_window(const Arguments& arguments);

}  // namespace streamscope::viewer
