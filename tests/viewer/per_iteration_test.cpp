// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What sums say of an iteration first, of the run second.

#include "model/per_iteration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/grouped_times.h"
#include "model/trace_model.h"
#include "support/mistakes.h"

namespace streamscope::viewer {
namespace {

// Iterations of 100 ns from 0 on, of which those from `from` to `to` are steady.
analysis::Iterations iterations(size_t count, size_t from, size_t to) {
  analysis::Iterations result;
  result.source = analysis::IterationSource::kRange;
  for (size_t i = 0; i < count; ++i)
    result.all.push_back(
        {.start_ns = static_cast<Ns>(i) * 100, .end_ns = static_cast<Ns>(i + 1) * 100});
  result.steady_from = from;
  result.steady_to = to;
  return result;
}

TEST(PerIteration, IsTheMedianOfTheSteadyPartWithItsSpread) {
  const analysis::Iterations steps = iterations(6, 1, 6);
  IterationSums sums;
  EXPECT_FALSE(sums.add(steps, 50, 99'999)) << "start-up";
  EXPECT_FALSE(sums.add(steps, 600, 99'999)) << "afterwards";
  for (const Ns step : {1, 2, 3, 4, 5}) EXPECT_TRUE(sums.add(steps, step * 100, step * 10));
  EXPECT_TRUE(sums.add(steps, 399, 5));
  const PerIteration each = sums.over(steps);
  EXPECT_EQ(each.median_ns, 35);
  EXPECT_EQ(each.low_ns, 20);
  EXPECT_EQ(each.high_ns, 40);
  EXPECT_EQ(each.most_ns, 50);
  EXPECT_EQ(each.count, 1u);
  EXPECT_EQ(spread_text(each), "\u00b1\u00a010\u00a0ns");
}

TEST(PerIteration, IsZeroIfMostIterationsHaveNone) {
  const analysis::Iterations steps = iterations(5, 0, 5);
  IterationSums sums;
  sums.add(steps, 0, 10);
  sums.add(steps, 100, 10);
  EXPECT_EQ(sums.over(steps).median_ns, 0);
  EXPECT_EQ(sums.over(steps).most_ns, 10);
  EXPECT_EQ(IterationSums().over({}).median_ns, 0) << "no iterations";
}

TEST(Statistics, PutWhatTakesMostOfAnIterationFirst) {
  const TraceModel model(test::host_bound_trace(20).trace());
  const std::vector<StatisticsRow> rows = statistics(model, GroupBy::kName, std::nullopt);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].name, "gemm");
  EXPECT_EQ(rows[0].each.median_ns, 150'000);
  EXPECT_EQ(rows[0].each.count, 1u);
  EXPECT_EQ(rows[0].count, 27u);
  EXPECT_TRUE(model.diagnosis().iteration_at(model.items().time(rows[0].longest)->begin_ns) >=
              model.diagnosis().iterations.steady_from);
  const std::vector<StatisticsRow> marked =
      statistics(model, GroupBy::kName, model.diagnosis().range(5));
  EXPECT_EQ(marked[0].each.median_ns, 0) << "the marked time is not summed by iteration";
}

TEST(SteadyWaits, AreThoseThatMostIterationsHave) {
  const TraceModel model(test::host_bound_trace(20).trace());
  const std::vector<SteadyWaits>& steady = model.waits().steady();
  ASSERT_FALSE(steady.empty());
  Ns before = steady.front().each.median_ns;
  for (const SteadyWaits& waits : steady) {
    EXPECT_GT(waits.each.median_ns, 0);
    EXPECT_LE(waits.each.median_ns, before);
    before = waits.each.median_ns;
    const Ns at = model.trace().op.start_ns[waits.group.longest.op];
    EXPECT_GE(at, model.diagnosis().iterations.steady_start_ns());
    EXPECT_LT(at, model.diagnosis().iterations.steady_end_ns());
  }
}

TEST(SteadyWaits, AreNoneWithoutIterations) {
  test::TraceBuilder once;
  once.stream("copies").memcpy(test::kHtoD, 100, 200).record("copied");
  once.stream("math").kernel("before", 50, 60).wait("copied").kernel("gemm", 201, 350);
  const TraceModel model(once.trace());
  EXPECT_TRUE(model.waits().steady().empty());
  EXPECT_FALSE(model.waits().groups().empty());
}

}  // namespace
}  // namespace streamscope::viewer
