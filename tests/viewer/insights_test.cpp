// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/insights.h"

#include <gtest/gtest.h>

#include "model/trace_model.h"
#include "support/mistakes.h"

namespace streamscope::viewer {
namespace {

TEST(Insights, ListFindingsWithTheirSubject) {
  test::TraceBuilder builder;
  builder.stream("math").wait("never").kernel("gemm", 100, 200);
  const TraceModel model(builder.trace());
  const auto& findings = model.insights().findings;
  const auto found = std::ranges::find(findings, "wait-on-unrecorded", &FindingLine::id);
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->number(), "SS005");
  EXPECT_TRUE(found->subject);
  EXPECT_FALSE(model.insights().quiet.empty());
}

TEST(Insights, ListPossibleFindingsLastAndAsNotes) {
  test::TraceBuilder builder;
  builder.meta("kernel_arguments", "1").malloc(0x7000'0000, 4096);
  for (const char* stream : {"left", "right"})
    builder.stream(stream).kernel("work", 100, 200).parameter(0, 0x7000'0000).record("unused");
  builder.stream("math").wait("never").kernel("gemm", 100, 200);
  const TraceModel model(builder.trace());
  const Insights& insights = model.insights();
  const size_t firm = insights.firm_findings();
  ASSERT_GT(firm, 0u);
  ASSERT_EQ(insights.findings.size(), firm + 1);
  EXPECT_EQ(insights.findings[0].severity(), analysis::FindingSeverity::kError);
  EXPECT_TRUE(insights.findings[firm].is_possible());
  EXPECT_EQ(insights.findings[firm].id(), "stream-race");
  EXPECT_EQ(insights.findings[firm].severity(), analysis::FindingSeverity::kNote);
}

TEST(Insights, KnowTheCriticalPath) {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350);
  builder.stream("other").kernel("beside", 120, 130);
  const TraceModel model(builder.trace());
  const Insights& insights = model.insights();
  const std::vector<bool> expected = {true, true, false};
  EXPECT_EQ(insights.on_path, expected);
  EXPECT_GE(insights.path_ns, 250);
}

TEST(Insights, DrawTheCycleOfADeadlock) {
  const TraceModel model(test::deadlock_trace().trace());
  const WaitGraph& waits = model.insights().waits;
  ASSERT_FALSE(waits.nodes.empty());
  EXPECT_TRUE(waits.nodes[0].blocked);
  ASSERT_EQ(waits.cycles.size(), 1u);
  EXPECT_EQ(waits.cycles[0].size(), 4u);
  EXPECT_EQ(std::ranges::count(waits.links, true, &WaitGraph::Link::in_cycle), 4);
}

TEST(Insights, HaveNoWaitGraphIfEverythingReturned) {
  test::TraceBuilder builder;
  builder.stream("math").kernel("gemm", 100, 200).synchronize(50, 210);
  EXPECT_TRUE(TraceModel(builder.trace()).insights().waits.nodes.empty());
}

}  // namespace
}  // namespace streamscope::viewer
