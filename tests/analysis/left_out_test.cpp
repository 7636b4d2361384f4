// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/left_out.h"

#include <gtest/gtest.h>

namespace streamscope::analysis {
namespace {

trace::Trace imported_from(const char* origin) {
  trace::Trace trace;
  trace.meta["imported_from"] = origin;
  return trace;
}

TEST(LeftOut, NamesWhatAProfileNeedsForSamples) {
  EXPECT_EQ(not_sampled({}), "the host was not sampled (record --samples)");
  EXPECT_EQ(not_sampled(imported_from("nsys 2026.1 (schema 3.2)")),
            "the host was not sampled (nsys profile --sample=process-tree "
            "--cpuctxsw=process-tree)");
  EXPECT_EQ(not_sampled(imported_from("kineto")),
            "the host was not sampled (profile with ProfilerActivity.CPU, too)");
}

TEST(LeftOut, NamesWhatAProfileNeedsForStacks) {
  EXPECT_EQ(without_stacks(imported_from("nsys 2026.1")),
            "where calls were made is not known (nsys profile --cudabacktrace=sync)");
  EXPECT_EQ(without_stacks(imported_from("kineto")),
            "where calls were made is not known (profile with with_stack=True)");
  EXPECT_EQ(without_stacks(imported_from("chrome")), "") << "such files have no calls";
  EXPECT_EQ(without_stacks({}), "") << "a recording has the stacks that were asked for";
  trace::Trace with_stacks = imported_from("kineto");
  with_stacks.stack.append({});
  EXPECT_EQ(without_stacks(with_stacks), "");
}

TEST(LeftOut, KnowsWhichProfilesLackElapsedTimes) {
  EXPECT_TRUE(lacks_elapsed_times(imported_from("nsys 2026.1 (schema 3.2)")));
  EXPECT_FALSE(lacks_elapsed_times(imported_from("kineto")));
  EXPECT_FALSE(lacks_elapsed_times({}));
}

}  // namespace
}  // namespace streamscope::analysis
