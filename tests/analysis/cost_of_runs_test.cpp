// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What recording costs, from runs with and without it.
#include "analysis/usage/cost_of_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

// `calls` at `rate` a second, seen in windows of 40 to 60 ms.
RunProgress seen_run(double calls, double rate, uint32_t seed = 1) {
  std::mt19937 random(seed);
  RunProgress result{.points = {{}}};
  while (result.points.back().progress < calls) {
    const double seconds = result.points.back().seconds + 0.001 * (40 + random() % 21);
    result.points.push_back({seconds, std::min(calls, std::floor(seconds * rate))});
  }
  return result;
}

double percent(const ComparedRuns& runs) { return std::expm1(runs.log_ratio) * 100; }

TEST(CostOfRuns, IsHowMuchLongerTheSameWorkTakes) {
  const auto compared = compare_runs({seen_run(20'000, 10'000, 1), seen_run(20'000, 8'000, 2)});
  ASSERT_TRUE(compared);
  EXPECT_NEAR(percent(*compared), 25, 0.5);
  EXPECT_NEAR(compared->bare_s, 2, 0.06);
  EXPECT_NEAR(compared->recorded_s, 2.5, 0.06);
}

TEST(CostOfRuns, ComparesWhatBothDidIfTheProgramWorksForAFixedTime) {
  const auto compared = compare_runs({seen_run(20'000, 10'000), seen_run(16'000, 8'000)});
  ASSERT_TRUE(compared);
  EXPECT_NEAR(percent(*compared), 25, 0.5);
  EXPECT_NEAR(compared->bare_s, 1.6, 0.01);
}

TEST(CostOfRuns, ComparesSharesIfCallsAreCountedByDifferentMeans) {
  const auto compared = compare_runs({seen_run(20'000, 10'000), seen_run(60'000, 24'000), false});
  ASSERT_TRUE(compared);
  EXPECT_NEAR(percent(*compared), 25, 1);
}

TEST(CostOfRuns, IsNotMisledByASingleStop) {
  RunProgress stopped = seen_run(20'000, 10'000);
  for (size_t i = 15; i < stopped.points.size(); ++i) stopped.points[i].seconds += 3;
  const auto compared = compare_runs({seen_run(20'000, 10'000), stopped});
  ASSERT_TRUE(compared);
  EXPECT_NEAR(percent(*compared), 0, 0.5);
  EXPECT_NEAR(compared->recorded_s - compared->bare_s, 3, 0.1);
}

TEST(CostOfRuns, ComparesRareRangesAsWell) {
  const auto compared =
      compare_runs({seen_run(40, 4), seen_run(40, 3.2)});  // most windows have none
  ASSERT_TRUE(compared);
  EXPECT_NEAR(percent(*compared), 25, 5);
}

TEST(CostOfRuns, IsUnknownIfARunIsShortOrShowsNoProgress) {
  EXPECT_FALSE(compare_runs({{}, seen_run(20'000, 10'000)}));
  EXPECT_FALSE(compare_runs({seen_run(20'000, 10'000), {}}));
  EXPECT_FALSE(compare_runs({seen_run(4'000, 10'000), seen_run(20'000, 10'000)}));
  EXPECT_TRUE(compare_runs({seen_run(6'000, 10'000), seen_run(20'000, 10'000)}));
}

TEST(CostOfRuns, HasAnIntervalThatContainsTheTruth) {
  int contained = 0;
  constexpr int kMeasured = 400;
  std::mt19937 random(3);
  std::normal_distribution<double> varies(0.1, 0.03);
  for (int i = 0; i < kMeasured; ++i) {
    std::vector<ComparedRuns> pairs(kFewestPairs + static_cast<size_t>(i % 7));
    for (ComparedRuns& pair : pairs) pair.log_ratio = varies(random);
    const MeasuredCost cost = cost_of_pairs(pairs);
    EXPECT_EQ(cost.windows, pairs.size());
    const double truth = std::expm1(0.1) * 100;
    contained += cost.low_percent <= truth && truth <= cost.high_percent;
  }
  EXPECT_GE(contained, kMeasured * 94 / 100);
  EXPECT_LT(contained, kMeasured);
}

TEST(CostOfRuns, FollowsTheProcessThatCameFurthest) {
  test::TraceBuilder builder;
  builder.process("one").thread("main").process("two").thread("main");
  const trace::Ns start = 5'000'000;
  for (trace::Id process : {0, 1}) {
    for (int i = 0; i < 3; ++i) {
      builder.add(trace::CostWindow{.process_id = process,
                                    .start_ns = start + i * 50'000'000,
                                    .end_ns = start + (i + 1) * 50'000'000,
                                    .recorded = 0,
                                    .progress = i == 2 ? trace::kNoInt : 10 + process});
    }
  }
  const RunProgress progress = progress_of_run(builder.trace());
  ASSERT_EQ(progress.points.size(), 3u);
  EXPECT_EQ(progress.points[0].progress, 0);
  EXPECT_EQ(progress.points[2].progress, 22);
  EXPECT_DOUBLE_EQ(progress.points[2].seconds, 0.1);
  EXPECT_TRUE(progress_of_run(test::TraceBuilder().trace()).points.empty());
}

}  // namespace
}  // namespace streamscope::analysis
