// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The real program without a window: exit codes, messages and pictures.

#include "viewer_e2e/window_fixture.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> without_display() { return {"DISPLAY", "WAYLAND_DISPLAY", kWithoutLeaks}; }

TEST(Program, RefusesWrongUseInOneLineWithCode2) {
  const Folder folder;
  const std::string err = folder / "err";
  EXPECT_EQ(run({kViewer, "--size", "tiny"}, {}, err), 2);
  const std::string text = slurp(err);
  EXPECT_THAT(text, HasSubstr("WIDTHxHEIGHT"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Program, RefusesAnUnusableTraceInScreenshotMode) {
  const Folder folder;
  std::ofstream(folder / "foreign.sqlite") << "this is no database";
  for (const std::string& name : {folder / "absent.sqlite", folder / "foreign.sqlite"}) {
    const std::string err = folder / "err";
    EXPECT_EQ(run({kViewer, name, "--screenshot", folder / "out.png"}, without_display(), err), 2);
    const std::string text = slurp(err);
    EXPECT_THAT(text, HasSubstr(std::filesystem::path(name).filename().string()));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_FALSE(std::filesystem::exists(folder / "out.png"));
  }
}

TEST(Program, NamesTheRemedyWithoutADisplay) {
  const Folder folder;
  pipeline_trace(1).write(folder / "t.sqlite");
  EXPECT_EQ(run({kViewer, folder / "t.sqlite"}, without_display(), folder / "err"), 2);
  EXPECT_THAT(slurp(folder / "err"), HasSubstr("--screenshot"));
}

TEST(Program, DrawsAPictureWithoutADisplay) {
  const Folder folder;
  pipeline_trace(3).write(folder / "t.sqlite");
  const int code = run({kViewer, folder / "t.sqlite", "--screenshot", folder / "t.png", "--size",
                        "800x600", "--range", "10%:60%", "--state", folder / "state"},
                       without_display(), folder / "err");
  if (slurp(folder / "err").find("EGL") != std::string::npos) GTEST_SKIP() << slurp(folder / "err");
  EXPECT_EQ(code, 0) << slurp(folder / "err");
  EXPECT_GT(std::filesystem::file_size(folder / "t.png"), 10'000u);
  EXPECT_THAT(slurp(folder / "state"), HasSubstr("\"selection\":\"op:"));
  EXPECT_EQ(
      run({kViewer, folder / "t.sqlite", "--screenshot", folder / "u.png", "--select", "op:99999"},
          without_display(), folder / "err"),
      2);
  EXPECT_THAT(slurp(folder / "err"), HasSubstr("op:99999"));
}

}  // namespace
}  // namespace streamscope::test
