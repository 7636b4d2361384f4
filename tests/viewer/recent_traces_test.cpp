// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "window/recent_traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

class RecentTracesFile : public ::testing::Test {
 protected:
  RecentTracesFile() { std::filesystem::create_directories(folder_); }
  ~RecentTracesFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path trace(const std::string& name) const {
    std::ofstream(folder_ / name) << "x";
    return folder_ / name;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path file_ = folder_ / "state/sessions";
};

TEST_F(RecentTracesFile, KeepsTheNewestFirstAndEachTraceOnce) {
  const RecentTrace first{trace("a b.sqlite"), {10, 20}, "graph"}, second{trace("b"), {-5, 7}, ""};
  keep_recent_trace(file_, first);
  keep_recent_trace(file_, second);
  EXPECT_THAT(read_recent_traces(file_), ElementsAre(second, first));
  const RecentTrace later{first.trace, {11, 12}, "sql"};
  keep_recent_trace(file_, later);
  EXPECT_THAT(read_recent_traces(file_), ElementsAre(later, second));
}

TEST_F(RecentTracesFile, DropsMissingTracesAndTheOldestBeyondTheLimit) {
  for (size_t i = 0; i < kMostRecentTraces + 5; ++i)
    keep_recent_trace(file_, {trace(std::to_string(i)), {0, 1}, ""});
  EXPECT_EQ(read_recent_traces(file_).size(), kMostRecentTraces);
  std::filesystem::remove(folder_ / std::to_string(kMostRecentTraces + 4));
  EXPECT_EQ(read_recent_traces(file_).size(), kMostRecentTraces - 1);
}

TEST_F(RecentTracesFile, SurvivesInvalidLinesAndAFolderThatCannotBeCreated) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(file_) << "nonsense\n1 2\n";
  EXPECT_TRUE(read_recent_traces(file_).empty());
  EXPECT_TRUE(read_recent_traces("/nowhere/at/all").empty());
  keep_recent_trace("/proc/nowhere/sessions", {trace("t"), {0, 1}, ""});
  keep_recent_trace({}, {trace("t"), {0, 1}, ""});
}

}  // namespace
}  // namespace streamscope::viewer
