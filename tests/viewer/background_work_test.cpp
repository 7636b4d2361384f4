// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the window does on other threads while it draws: it loads traces, runs queries, predicts and
// compares. Frames are laid out but not rendered, which needs no GL, so that these tests also run
// under the thread sanitizer.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "analysis/derive.h"
#include "model/loader.h"
#include "render/canvas.h"
#include "support/mistakes.h"
#include "window/workspace.h"

namespace streamscope::viewer {
namespace {

class BackgroundWork : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    set_up_imgui();
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 19200
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
    io.DisplaySize = {1200, 800};
    io.DeltaTime = 1.0f / 60;
  }
  void TearDown() override {
    ImGui::DestroyContext();
    std::filesystem::remove_all(folder_);
  }

  /// Draws a frame; between two of them a window waits for the display.
  static void draw(Workspace& workspace) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (workspace.update_theme()) ImGui::GetIO().Fonts->Build();
    ImGui::NewFrame();
    workspace.state().drawn.background.begin_frame(1200, 800, {1, 1});
    workspace.draw(1200, 800);
    ImGui::Render();
  }
  static void draw_until_settled(Workspace& workspace) {
    do {
      draw(workspace);
    } while (workspace.state().drawn.busy);
    draw(workspace);
  }
  /// Draws while the trace is loaded, as the window does.
  static void load(Workspace& workspace, const std::filesystem::path& file) {
    Loader loader(file, 1200, [] {});
    workspace.set_reading(file);
    std::shared_ptr<const TraceModel> model;
    while (!model || model->is_sketch()) {
      ASSERT_EQ(loader.error(), "");
      workspace.set_progress(loader.progress());
      model = loader.model();
      if (model && model.get() != workspace.model()) workspace.set_model(model);
      draw(workspace);
    }
  }
  std::filesystem::path write(const char* name, const test::TraceBuilder& builder) const {
    std::filesystem::path file = folder_ / name;
    builder.write(file);
    return file;
  }
  std::filesystem::path write_needless_sync(int steps) const {
    return write("needless_sync.sqlite", test::needless_sync_trace(steps));
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// Every finding that a prediction can assume fixed.
void repair_all(Workspace& workspace) {
  for (size_t i = 0; i < workspace.model()->insights().findings.size(); ++i)
    toggle_repaired(*workspace.model(), workspace.state(), i);
}

TEST_F(BackgroundWork, EndsInResultsOnScreen) {
  const std::filesystem::path file = write_needless_sync(20);
  Workspace workspace({});
  load(workspace, file);
  workspace.state().look.drawer = "sql";
  draw_until_settled(workspace);
  EXPECT_GT(workspace.state().drawn.result_rows, 0u);

  repair_all(workspace);
  draw_until_settled(workspace);
  ASSERT_NE(workspace.state().prediction, nullptr);
  EXPECT_GT(workspace.state().prediction->gain_ns, 0);

  workspace.set_compared(read_model(file));
  workspace.state().look.drawer = "compare";
  draw_until_settled(workspace);
  EXPECT_NE(workspace.state().comparison, nullptr);
}

// What bounds an iteration of a trace that is too large to analyze while it is opened.
TEST_F(BackgroundWork, DiagnosesALargeTraceWhileItIsDrawn) {
  const std::filesystem::path file = write("large.sqlite", test::host_bound_trace(200));
  {
    const trace::Trace written = trace::read(file);
    analysis::Analyses analyses(written);
    analysis::write_derived_tables(analyses);
  }
  Workspace workspace({});
  workspace.set_model(read_model(file, {}, 0));
  ASSERT_TRUE(workspace.model()->insights().derived);
  draw(workspace);
  EXPECT_FALSE(workspace.state().drawn.busy) << "not before the panel is open";
  EXPECT_TRUE(workspace.press("1"));
  draw(workspace);
  EXPECT_TRUE(workspace.state().drawn.busy);
  EXPECT_TRUE(workspace.press("J"));  // iterations are known at once
  EXPECT_EQ(workspace.state().status, "");
  draw_until_settled(workspace);
  ASSERT_NE(workspace.state().summary, nullptr);
  EXPECT_GT(workspace.state().summary->bare_ns, 0);
}

TEST_F(BackgroundWork, FollowsATraceThatIsReplaced) {
  const std::filesystem::path file = write_needless_sync(20);
  Workspace workspace({});
  load(workspace, file);
  workspace.state().look.drawer = "sql";
  for (int i = 0; i < 5; ++i) {
    repair_all(workspace);
    draw(workspace);  // starts a query and a prediction
    load(workspace, file);
  }
  draw_until_settled(workspace);
  EXPECT_GT(workspace.state().drawn.result_rows, 0u);
  EXPECT_EQ(workspace.state().prediction, nullptr) << "of the trace before";
}

TEST_F(BackgroundWork, StopsWhenTheWindowCloses) {
  const std::filesystem::path file = write_needless_sync(200);
  {
    const Loader loader(file, 1200, [] {});
  }
  for (const std::string_view drawer : {"sql", "compare"}) {
    Workspace workspace({});
    workspace.set_model(read_model(file));
    workspace.set_compared(read_model(file));
    workspace.state().look.drawer = drawer;
    repair_all(workspace);
    draw(workspace);
    EXPECT_TRUE(workspace.state().drawn.busy) << drawer;
  }
}

// Threads share the reading of half a million rows, and the analyses of 100,000 ops.
TEST_F(BackgroundWork, IsSharedByThreadsForALargeTrace) {
  constexpr int kSteps = 66'000;
  test::TraceBuilder builder;
  test::StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  for (int i = 0; i < kSteps; ++i) {
    const std::string event = "loaded " + std::to_string(i % 4);
    copies.memcpy(test::kHtoD, i * 100, i * 100 + 60).record(event);
    math.wait(event).kernel("gemm", i * 100 + 65, i * 100 + 90);
  }
  builder.range("all of it", 0, kSteps * 100).synchronize_device(kSteps * 90, kSteps * 100 + 10);
  Workspace workspace({});
  load(workspace, write("large.sqlite", builder));
  EXPECT_EQ(workspace.model()->trace().op.size(), 2u * kSteps);
  EXPECT_GT(workspace.model()->edges().size(), 0u);
}

}  // namespace
}  // namespace streamscope::viewer
