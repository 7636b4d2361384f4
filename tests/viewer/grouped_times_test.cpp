// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/grouped_times.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

TraceModel growing_kernels() {
  test::TraceBuilder builder;
  test::StreamBuilder math = builder.stream("math");
  for (int i = 0; i < 100; ++i) math.kernel("gemm", i * 1000, i * 1000 + i + 1);
  builder.stream("copies").memcpy(test::kHtoD, 0, 90'000);
  builder.range("step", 0, 50);
  return TraceModel(builder.trace());
}

TEST(Statistics, ReportsTheSpreadOfEveryGroupMostExpensiveFirst) {
  const std::vector<StatisticsRow> rows =
      statistics(growing_kernels(), GroupBy::kName, std::nullopt);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].stream, "copies");
  const StatisticsRow& gemm = rows[1];
  EXPECT_EQ(gemm.name, "gemm");
  EXPECT_EQ(gemm.count, 100u);
  EXPECT_EQ(gemm.total_ns, 5050);
  EXPECT_EQ(gemm.shortest_ns, 1);
  EXPECT_EQ(gemm.median_ns, 51);
  EXPECT_EQ(gemm.p95_ns, 96);
  EXPECT_EQ(gemm.longest_ns, 100);
  EXPECT_EQ(gemm.longest, (Item{ItemKind::kOp, 99}));
  EXPECT_EQ(std::accumulate(gemm.histogram.begin(), gemm.histogram.end(), 0u), 100u);
}

TEST(Statistics, CountsOnlyWhatIsInARange) {
  const std::vector<StatisticsRow> rows =
      statistics(growing_kernels(), GroupBy::kStream, TimeRange{10'005, 20'000});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "copies");
  EXPECT_EQ(rows[0].total_ns, 9'995);
  EXPECT_EQ(rows[1].count, 11u) << "10 whole ones and the rest of the first";
}

TEST(Statistics, GroupsByEverythingItOffers) {
  const TraceModel model = growing_kernels(), empty{trace::Trace{}};
  for (size_t by = 0; by < kGroupNames.size(); ++by) {
    EXPECT_FALSE(statistics(model, static_cast<GroupBy>(by), std::nullopt).empty())
        << kGroupNames[by];
    EXPECT_TRUE(statistics(empty, static_cast<GroupBy>(by), std::nullopt).empty());
  }
}

}  // namespace
}  // namespace streamscope::viewer
