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

}  // namespace
}  // namespace streamscope::analysis
