// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What recording costs, from windows with and without it.
#include "analysis/usage/cost_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/detector.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using trace::Ns;

constexpr Ns kLengthNs = 50'000'000;

// `count` windows, the first without recording. Their rates vary by a few percent; recording slows
// the program down by `cost`, and its speed changes by `drift` from the first to the last.
std::vector<trace::CostWindow> windows(int count, double cost, double noise = 0.03,
                                       double drift = 1, uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::normal_distribution<double> varies(0, noise);
  std::vector<trace::CostWindow> result;
  Ns at = 0;
  for (int i = 0; i < count; ++i) {
    const Ns length = kLengthNs * (80 + static_cast<Ns>(random() % 41)) / 100;
    const bool recorded = i % 2 != 0;
    const double rate = 1e-3 * std::exp(varies(random)) * std::pow(drift, 1.0 * i / count) /
                        (recorded ? 1 + cost : 1);
    result.push_back({.process_id = 0,
                      .start_ns = at,
                      .end_ns = at + length,
                      .recorded = recorded ? 1 : 0,
                      .progress = static_cast<trace::Int>(rate * static_cast<double>(length))});
    at += length;
  }
  return result;
}

TEST(CostWindows, FindAKnownCost) {
  const MeasuredCost cost = cost_of_windows(windows(205, 0.2));
  ASSERT_TRUE(cost.is_known());
  EXPECT_EQ(cost.windows, 100u);
  EXPECT_LE(cost.low_percent, 20);
  EXPECT_GE(cost.high_percent, 20);
  EXPECT_LT(cost.high_percent - cost.low_percent, 3);
  EXPECT_GT(cost.low_percent, 10);
}

TEST(CostWindows, FindNoneWhereThereIsNone) {
  int contained = 0;
  constexpr int kRuns = 200;
  for (uint32_t seed = 0; seed < kRuns; ++seed) {
    const MeasuredCost cost = cost_of_windows(windows(85, 0, 0.05, 1, seed));
    contained += cost.low_percent <= 0 && cost.high_percent >= 0;
  }
  EXPECT_GE(contained, kRuns * 90 / 100);
}

TEST(CostWindows, AreNotMisledByAProgramThatSlowsDown) {
  const MeasuredCost cost = cost_of_windows(windows(205, 0.1, 0.001, 0.25));
  EXPECT_NEAR(cost.percent, 10, 0.5);
}

TEST(CostWindows, AreNotMisledByASingleStop) {
  auto some = windows(65, 0.1, 0.001);
  some[21].progress /= 50;
  EXPECT_NEAR(cost_of_windows(some).percent, 10, 0.5);
}

TEST(CostWindows, WithoutProgressOrAPartnerAreLeftOut) {
  auto some = windows(65, 0.1);
  EXPECT_EQ(cost_of_windows(some).windows, 30u);  // the first two pairs are warm-up
  some[21].progress = 0;                          // itself
  some[30].progress = 0;                          // the neighbor of two
  some[41].progress = trace::kNoInt;
  some[51].end_ns = trace::kUnknownNs;
  EXPECT_EQ(cost_of_windows(some).windows, 25u);
  some[58].start_ns += 1;  // a pause lies before it
  EXPECT_EQ(cost_of_windows(some).windows, 24u);
}

TEST(CostWindows, AreTooFewBelowTen) {
  EXPECT_FALSE(cost_of_windows({}).is_known());
  EXPECT_FALSE(cost_of_windows(windows(23, 0.1)).is_known());
  const MeasuredCost cost = cost_of_windows(windows(25, 0.1));
  EXPECT_EQ(cost.windows, 10u);
  EXPECT_TRUE(cost.is_known());
  EXPECT_LE(cost.low_percent, cost.percent);
  EXPECT_LE(cost.percent, cost.high_percent);
}

TEST(CostWindows, AreComparedWithinTheirProcess) {
  test::TraceBuilder builder;
  builder.process("one").thread("main").process("two").thread("main");
  for (const trace::CostWindow& window : windows(45, 0.1)) {
    for (const trace::Id process : {0, 1}) {
      trace::CostWindow row = window;
      row.process_id = process;
      row.progress *= 1 + 9 * process;  // the other one makes more calls
      builder.add(row);
    }
  }
  const trace::Trace trace = builder.trace();
  EXPECT_EQ(measured_cost(trace).windows, 40u);
  EXPECT_NEAR(measured_cost(trace).percent, 10, 4);
  EXPECT_EQ(count_off_windows(trace), 46u);
  EXPECT_EQ(off_windows(trace).at(1).size(), 23u);
}

TEST(CostWindows, HaveNoCauseForWhatTheHostDid) {
  test::TraceBuilder builder;
  builder.thread("main");
  builder.at(0).stream("a").kernel("before", 10'000, 20'000);
  builder.at(900'000).stream("a").kernel("after", 901'000, 910'000);
  builder.add(
      trace::CostWindow{.process_id = 0, .start_ns = 100'000, .end_ns = 400'000, .recorded = 0});
  const trace::Trace trace = builder.trace();
  Ns unknown = 0, all = 0;
  Analyses analyses(trace);
  for (const WaitPart& part : analyses.waits()) {
    if (part.op != 1) continue;
    all += part.duration_ns;
    if (part.cause == WaitCause::kUnknown) unknown += part.duration_ns;
  }
  EXPECT_EQ(all, 881'000);
  EXPECT_EQ(unknown, 300'000);
}

TEST(CostWindows, AreGapsInTheEvidence) {
  test::TraceBuilder builder;
  builder.process("one").thread("main");
  EXPECT_EQ(evidence_of(builder.trace()).reason(trace::kCallEvidence), "");
  builder.add(trace::CostWindow{.process_id = 0, .start_ns = 0, .end_ns = 50, .recorded = 0});
  EXPECT_EQ(evidence_of(builder.trace()).reason(trace::kCallEvidence),
            "recording was off in 1 window to measure its cost");
}

}  // namespace
}  // namespace streamscope::analysis
