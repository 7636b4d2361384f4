// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Files that are dragged from another program and dropped on the window.

#include "viewer_e2e/window_fixture.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;

class WindowDrop : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
#ifndef STREAMSCOPE_DROP_FILES
    GTEST_SKIP() << "built without libX11";
#endif
  }
  // Drops the files in the middle of the window; returns the exit code of the program that does so.
  static int drop(std::vector<std::string> files) {
#ifdef STREAMSCOPE_DROP_FILES
    files.insert(files.begin(), {"timeout", "60", STREAMSCOPE_DROP_FILES, "600", "400"});
#endif
    return run(files, {"DISPLAY=" + display_});
  }
  static int ops_of(int batches) {
    return static_cast<int>(pipeline_trace(batches).trace().op.size());
  }
  const int kOpsOf6 = ops_of(6), kOpsOf8 = ops_of(8);
};

TEST_F(WindowDrop, OpensTheTraceInAnEmptyWindow) {
  // A name that needs escaping.
  const std::string file = folder_ / "runs of 100 %, \u00e4.sqlite";
  pipeline_trace(8).write(file);
  open("--theme=dark");
  ASSERT_TRUE(becomes("loaded", "false"));
  EXPECT_EQ(drop({file}), 0);
  ASSERT_TRUE(becomes("loaded", "true"));
  EXPECT_TRUE(becomes("operations", kOpsOf8));
  EXPECT_EQ(text("error"), quoted(""));
}

TEST_F(WindowDrop, ReplacesTheOpenTraceByTheDroppedOne) {
  open_pipeline();
  EXPECT_EQ(number("operations"), kOpsOf6);
  pipeline_trace(8).write(folder_ / "other.sqlite");
  EXPECT_EQ(drop({folder_ / "other.sqlite"}), 0);
  EXPECT_TRUE(becomes("operations", kOpsOf8));
}

TEST_F(WindowDrop, ReportsAFileThatIsNotATraceAndKeepsTheOpenTrace) {
  open_pipeline();
  std::ofstream(folder_ / "letter.txt") << "This is not a trace.";
  EXPECT_EQ(drop({folder_ / "letter.txt"}), 0);
  ASSERT_TRUE(eventually([&] { return text("notice").find("letter.txt") != std::string::npos; }))
      << slurp(state_file());
  EXPECT_EQ(text("loaded"), "true");
  EXPECT_EQ(number("operations"), kOpsOf6);
  EXPECT_EQ(slurp(folder_ / "err"), "");
  key("Escape");
  EXPECT_TRUE(becomes("notice", quoted("")));
  // The same with no open trace, in the middle of the window.
  program_.reset();
  std::filesystem::remove(state_file());
  open("--theme=dark");
  ASSERT_TRUE(becomes("loaded", "false"));
  EXPECT_EQ(drop({folder_ / "letter.txt"}), 0);
  EXPECT_TRUE(eventually([&] { return text("error").find("letter.txt") != std::string::npos; }))
      << slurp(state_file());
}

TEST_F(WindowDrop, ComparesTwoTracesThatAreDroppedTogether) {
  pipeline_trace(6).write(folder_ / "a.sqlite");
  pipeline_trace(8).write(folder_ / "b.sqlite");
  open("--theme=dark");
  ASSERT_TRUE(becomes("loaded", "false"));
  EXPECT_EQ(drop({folder_ / "a.sqlite", folder_ / "b.sqlite"}), 0);
  EXPECT_TRUE(eventually([&] {
    return text("compared") == "true" && text("drawer") == quoted("compare") &&
           number("operations") == kOpsOf6;
  })) << slurp(state_file());
  // A single file ends the comparison.
  EXPECT_EQ(drop({folder_ / "b.sqlite"}), 0);
  EXPECT_TRUE(eventually([&] {
    return text("compared") == "false" && number("operations") == kOpsOf8;
  })) << slurp(state_file());
}

TEST_F(WindowDrop, ReportsThatItOpensTwoOfThreeTraces) {
  std::vector<std::string> files;
  for (const char* name : {"a.sqlite", "b.sqlite", "c.sqlite"}) {
    files.push_back(folder_ / name);
    pipeline_trace(6).write(files.back());
  }
  open("--theme=dark");
  ASSERT_TRUE(becomes("loaded", "false"));
  EXPECT_EQ(drop(files), 0);
  EXPECT_TRUE(eventually([&] {
    return text("compared") == "true" && text("notice").find("of 3") != std::string::npos;
  })) << slurp(state_file());
}

}  // namespace
}  // namespace streamscope::test
