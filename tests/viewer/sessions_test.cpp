// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "window/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

class SessionsFile : public ::testing::Test {
 protected:
  SessionsFile() { std::filesystem::create_directories(folder_); }
  ~SessionsFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path trace(const std::string& name) const {
    std::ofstream(folder_ / name) << "x";
    return folder_ / name;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path file_ = folder_ / "state/sessions";
};

TEST_F(SessionsFile, KeepsTheNewestFirstAndEachTraceOnce) {
  const Session first{trace("a b.sqlite"), {10, 20}, "graph"}, second{trace("b"), {-5, 7}, ""};
  keep_session(file_, first);
  keep_session(file_, second);
  EXPECT_THAT(read_sessions(file_), ElementsAre(second, first));
  const Session later{first.trace, {11, 12}, "sql"};
  keep_session(file_, later);
  EXPECT_THAT(read_sessions(file_), ElementsAre(later, second));
}

TEST_F(SessionsFile, DropsMissingTracesAndTheOldestBeyondTheLimit) {
  for (size_t i = 0; i < kMostSessions + 5; ++i)
    keep_session(file_, {trace(std::to_string(i)), {0, 1}, ""});
  EXPECT_EQ(read_sessions(file_).size(), kMostSessions);
  std::filesystem::remove(folder_ / std::to_string(kMostSessions + 4));
  EXPECT_EQ(read_sessions(file_).size(), kMostSessions - 1);
}

TEST_F(SessionsFile, SurvivesInvalidLinesAndAFolderThatCannotBeCreated) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(file_) << "nonsense\n1 2\n";
  EXPECT_TRUE(read_sessions(file_).empty());
  EXPECT_TRUE(read_sessions("/nowhere/at/all").empty());
  keep_session("/proc/nowhere/sessions", {trace("t"), {0, 1}, ""});
  keep_session({}, {trace("t"), {0, 1}, ""});
}

}  // namespace
}  // namespace streamscope::viewer
