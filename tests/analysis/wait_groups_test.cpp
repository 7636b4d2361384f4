// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/delay/wait_groups.h"

#include <gtest/gtest.h>

#include "analysis/analyses.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using test::StreamBuilder;
using test::TraceBuilder;

std::vector<WaitGroup> groups_of(const Trace& trace) {
  Analyses analyses(trace);
  return group_waits(trace, analyses.edges(), analyses.waits());
}

TEST(WaitGroups, MergeIterationsAndKeepTheLongest) {
  TraceBuilder builder;
  StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  for (const Ns at : {0, 100'000, 200'000}) {
    builder.at(at);
    copies.memcpy(test::kHtoD, at + 100, at + 20'000 + at / 10).record("loaded");
    math.wait("loaded").kernel("gemm", at + 21'000 + at / 10, at + 80'000);
  }
  const std::vector<WaitGroup> groups = groups_of(builder.trace());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].count, 3u);
  EXPECT_EQ(groups[0].longest.op, 5u);
  EXPECT_EQ(groups[0].longest.because_op(), 4u);
  EXPECT_EQ(groups[0].event_record, 2u);
  EXPECT_EQ(groups[0].event_wait, 2u);
  EXPECT_GT(groups[0].times.total_ns(), 2 * groups[0].longest.duration_ns);
}

TEST(WaitGroups, KeepOtherWorkAndOtherStreamsApartMostExpensiveFirst) {
  TraceBuilder builder;
  StreamBuilder copies = builder.stream("copies"), a = builder.stream("a"), b = builder.stream("b");
  copies.memcpy(test::kHtoD, 100, 20'000).record("loaded");
  a.wait("loaded").kernel("gemm", 21'000, 22'000);
  b.wait("loaded").kernel("gemm", 25'000, 26'000);
  copies.memcpy(test::kHtoD, 30'000, 90'000).record("loaded");
  a.wait("loaded").kernel("norm", 91'000, 92'000);
  const std::vector<WaitGroup> groups = groups_of(builder.trace());
  ASSERT_EQ(groups.size(), 3u);
  for (const WaitGroup& group : groups) EXPECT_EQ(group.count, 1u);
  EXPECT_EQ(groups[0].longest.op, 4u);
  EXPECT_GE(groups[1].times.total_ns(), groups[2].times.total_ns());
}

TEST(WaitGroups, OmitWhatNothingWaitedFor) {
  TraceBuilder builder;
  builder.stream("a").kernel("first", 1000, 2000).kernel("second", 90'000, 91'000);
  EXPECT_TRUE(groups_of(builder.trace()).empty());
}

}  // namespace
}  // namespace streamscope::analysis
