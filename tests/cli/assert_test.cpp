// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `streamscope check --assert` and assertions in a budget file: exit codes and messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program.h"

namespace streamscope::test {
namespace {

using testing::HasSubstr;

class AssertOption : public CommandLine {
 protected:
  void SetUp() override {
    TraceBuilder builder;
    builder.meta("tier", "times");
    for (trace::Ns at = 1000; at < 9000; at += 1000) {
      builder.at(at).stream("copies").memcpy(kHtoD, at + 10, at + 20);
      builder.stream("math").kernel("gemm", at + 10, at + 20).synchronize(at + 100, at + 110);
      builder.range("step", at, at + 900);
    }
    builder.write(folder_ / "steps.sqlite");
  }
  Result check(std::vector<std::string> options) {
    options.insert(options.begin(), {"check", "steps.sqlite", "--iteration", "nvtx:step"});
    return streamscope(options);
  }
};

constexpr const char* kHolds = R"(may_overlap("memcpy*", "gemm"))";
constexpr const char* kFails = R"(no_sync_in("nvtx:step"))";
constexpr const char* kOpen = R"(ordered("memcpy*", "conv*"))";

TEST_F(AssertOption, DecidesTheExitCode) {
  EXPECT_EQ(check({"--assert", kHolds}).code, 0);
  EXPECT_EQ(check({"--assert", kHolds, "--assert", "launches_per_iteration == 1"}).code, 0);
  const Result fails = check({"--assert", kHolds, "--assert", kFails});
  EXPECT_EQ(fails.code, 1) << fails.err;
  EXPECT_THAT(fails.out, HasSubstr("cudaStreamSynchronize 8 times"));
  const Result open = check({"--assert", kOpen});
  EXPECT_EQ(open.code, 3) << open.err;
  EXPECT_THAT(open.out, HasSubstr("no kernel or copy matches \"conv*\""));
  EXPECT_EQ(check({"--assert", kOpen, "--assert", kFails}).code, 1);
}

TEST_F(AssertOption, IsRefusedWithTheColumn) {
  const Result result = check({"--assert", R"(max_bound("hots") <= 20 %)"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              testing::AllOf(HasSubstr("--assert max_bound(\"hots\") <= 20 %: column 11: "
                                       "there is no bound 'hots'"),
                             HasSubstr("use one of host, device, kernels")));
}

TEST_F(AssertOption, MayStandInTheBudgetFile) {
  std::ofstream(folder_ / "budget.txt") << "waits-per-iteration <= 1\nassert " << kFails << "\n";
  const Result result = check({"--budget", "budget.txt", "--assert", kFails, "--assert", kHolds});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 assertion fails"));  // the same one counts once
  std::ofstream(folder_ / "budget.txt") << "assert no_sync_in(step)\n";
  const Result wrong = check({"--budget", "budget.txt"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("budget.txt:1: column 19: expected a text in quotes"));
}

}  // namespace
}  // namespace streamscope::test
