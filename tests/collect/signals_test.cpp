// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// No signal of ours reaches the program, and every one of its own does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observed.h"
#include "support/sanitized.h"

namespace streamscope::collect {
namespace {

using testing::HasSubstr;

TEST(Signals, BusErrorsOfTheProgramReachItsOwnHandlers) {
  if (test::kThreadSanitized)
    GTEST_SKIP() << "the thread sanitizer sets handlers by functions of its own";
  Observed run;
  EXPECT_EQ(run.run_child("bus-handlers"), 0) << run.error_text();
}

TEST(Signals, TruncatedFilesOfTheRecordingDoNotEndTheProgram) {
  Observed run;
  EXPECT_EQ(run.run_child("cut-off"), 0) << run.error_text();
  EXPECT_THAT(run.error_text(), HasSubstr("records are missing"));
}

TEST(Signals, TruncatedFilesAreReportedAlthoughTheProgramEndsRightAway) {
  Observed run;
  EXPECT_EQ(run.run_child("cut-off", {"right-away"}), 0) << run.error_text();
  EXPECT_THAT(run.error_text(), HasSubstr("records are missing"));
}

}  // namespace
}  // namespace streamscope::collect
