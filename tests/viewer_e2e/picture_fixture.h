// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Draws documents without a display; its tests are skipped on machines that cannot.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "trace/error.h"
#include "window/app.h"

namespace streamscope::viewer {

class PictureFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      Offscreen surface(320, 200);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// `change` may alter the state once the window has its width.
  template <class Change>
  static Image draw(std::shared_ptr<const TraceModel> model, const Arguments& arguments,
                    Change change) {
    Offscreen surface(arguments.width, arguments.height);
    Workspace workspace(arguments);
    workspace.set_model(std::move(model));
    surface.render(workspace, 1);
    change(workspace);
    return settled(surface, workspace);
  }
  static Image draw(std::shared_ptr<const TraceModel> model, const Arguments& arguments = {}) {
    return draw(std::move(model), arguments, [](Workspace&) {});
  }
  /// Draws until no view waits for anything.
  static Image settled(Offscreen& surface, Workspace& workspace) {
    surface.draw(workspace);
    while (workspace.state().drawn.busy) surface.draw(workspace);
    return surface.render(workspace);
  }
};

}  // namespace streamscope::viewer
