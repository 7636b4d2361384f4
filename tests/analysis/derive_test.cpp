// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derive.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

TEST(Derive, StoresTheEdgesAndTheirVersionAndKeepsTheRest) {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350);
  const auto file = std::filesystem::path(testing::TempDir()) / "derive_test.sqlite";
  std::filesystem::remove(file);
  builder.write(file);

  const Trace before = trace::read(file);
  EXPECT_FALSE(has_derived_tables(before));
  EXPECT_TRUE(before.edge.empty());
  for (int round = 0; round < 2; ++round) {  // the second replaces the first
    const Trace trace = trace::read(file);
    Analyses analyses(trace);
    write_derived_tables(analyses);
  }
  const Trace after = trace::read(file);
  EXPECT_TRUE(has_derived_tables(after));
  EXPECT_TRUE(after.complete());
  EXPECT_EQ(after.op.size(), before.op.size());
  ASSERT_EQ(after.edge.size(), 1u);
  EXPECT_EQ(after.edge.kind[0], trace::kEventEdge);
  EXPECT_EQ(after.edge.from_op_id[0], 0u);
  EXPECT_EQ(after.edge.to_op_id[0], 1u);
  EXPECT_EQ(after.edge.event_record_id[0], 0u);
  EXPECT_EQ(after.edge.event_wait_id[0], 0u);
  std::filesystem::remove(file);
}

// Whoever takes derived rows indexes by what they name.
TEST(Derive, TakesNoRowsThatLackWhatThisVersionWrites) {
  test::TraceBuilder builder;
  builder.add(trace::Edge{.kind = trace::kEventEdge, .from_op_id = 0, .to_op_id = 1});
  builder.add(trace::WaitCause{.op_id = 0, .cause = 0, .duration_ns = 10});
  builder.add(trace::CriticalPath{
      .step = 0, .kind = trace::kOpStep, .op_id = 0, .start_ns = 10, .end_ns = 20});
  builder.add(trace::Finding{.severity = 1, .confidence = 2});
  Trace whole = builder.trace();
  whole.meta["analysis_version"] = std::to_string(kAnalysisVersion);
  EXPECT_TRUE(has_derived_tables(whole));
  const auto is_whole_after = [&](auto change) {
    Trace trace = whole;
    change(trace);
    return has_derived_tables(trace);
  };
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.kind[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.from_op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.to_op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.cause[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.duration_ns[0] = trace::kUnknownNs; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.kind[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.start_ns[0] = trace::kUnknownNs; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.end_ns[0] = 5; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.finding.severity[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.finding.confidence[0] = trace::kNoSmall; }));
}

}  // namespace
}  // namespace streamscope::analysis
