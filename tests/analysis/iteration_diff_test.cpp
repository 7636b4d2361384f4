// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Comparing the iterations of two runs: how long, whether by chance, what grew and where.
#include "analysis/compare/iteration_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using testing::HasSubstr;

// A step launches a kernel, waits for it, and pauses on the host before the next one.
struct SteadyProgram {
  Ns gemm_us = 300;
  Ns pause_us = 200;
  Ns jitter_us = 0;
  uint32_t seed = 1;
  int steps = 40;
  std::string launch_line = "train.py:7 forward", sync_line = "train.py:9 step";
};

void set_call_site(test::TraceBuilder& b, trace::Column<Id>& stacks, const std::string& line) {
  const Id stack = b.add(trace::Stack{.process_id = 0, .hash = 1, .frame_count = 1});
  b.add(trace::StackFrame{
      .stack_id = stack, .depth = 0, .kind = trace::kPythonFrame, .symbol_id = b.intern(line)});
  stacks.back() = stack;
}

Trace run_steadily(const SteadyProgram& program) {
  std::mt19937 random(program.seed);
  test::TraceBuilder b;
  b.meta("tier", "times");
  Ns at = 0;
  for (int i = 0; i < program.steps; ++i) {
    const Ns jitter = program.jitter_us == 0
                          ? 0
                          : static_cast<Ns>(random() % 1000) * program.jitter_us * kUs / 1000;
    const Ns begin = at, end = at + (5 + program.gemm_us) * kUs + jitter;
    b.at(at).stream("math").kernel("gemm", at + 5 * kUs, end);
    set_call_site(b, b.columns().api_call.stack_id, program.launch_line);
    b.stream("math").synchronize(at + 10 * kUs, end + 2 * kUs);
    set_call_site(b, b.columns().host_sync.stack_id, program.sync_line);
    at = end + (2 + program.pause_us) * kUs;
    b.range("step", begin, at - kUs);
  }
  return b.trace();
}

IterationDiff iteration_diff_of(const Trace& base, const Trace& now,
                                const IterationRequest& request = {}) {
  Analyses before(base, request), after(now, request);
  return compare_iterations(before, after);
}

const PlaceChange* place_of(const IterationDiff& diff, PlaceChange::Kind kind,
                            std::string_view line) {
  for (const PlaceChange& place : diff.places) {
    if (place.kind == kind && place.call_site.find(line) != std::string::npos) return &place;
  }
  return nullptr;
}

// ---- The test ----

TEST(RankTest, HasTheKnownValues) {
  const RankTest apart = compare_ranks({1, 2, 3, 4}, {5, 6, 7, 8});
  EXPECT_NEAR(apart.p_value, 0.0304, 0.0001);
  EXPECT_EQ(apart.longer, 1);
  const RankTest mixed = compare_ranks({1, 3, 5, 7, 9}, {2, 4, 6, 8, 10});
  EXPECT_NEAR(mixed.p_value, 0.6761, 0.0001);
  EXPECT_EQ(mixed.longer, 0.6);
  EXPECT_EQ(compare_ranks({5, 5, 5}, {5, 5}).p_value, 1);
  EXPECT_EQ(compare_ranks({5, 5, 5}, {5, 5}).longer, 0.5);
  EXPECT_EQ(compare_ranks({}, {5, 5}).p_value, 1);
}

TEST(RankTest, CountsPairsLikeComparingEachOfThem) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Ns> a(1 + random() % 20), b(1 + random() % 20);
    for (Ns& value : a) value = static_cast<Ns>(random() % 8);
    for (Ns& value : b) value = static_cast<Ns>(random() % 8);
    double longer = 0;
    for (const Ns x : a) {
      for (const Ns y : b) longer += y > x ? 1 : y == x ? 0.5 : 0;
    }
    const auto pairs = static_cast<double>(a.size() * b.size());
    EXPECT_NEAR(compare_ranks(a, b).longer, longer / pairs, 1e-12);
    EXPECT_NEAR(compare_ranks(b, a).p_value, compare_ranks(a, b).p_value, 1e-12);
  }
}

TEST(RankTest, RarelyRejectsSeriesOfOneDistribution) {
  std::mt19937 random(5);
  std::exponential_distribution<double> duration(0.001);
  int rejected = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Ns> a(30), b(50);
    for (Ns& value : a) value = static_cast<Ns>(duration(random));
    for (Ns& value : b) value = static_cast<Ns>(duration(random));
    rejected += compare_ranks(a, b).p_value < 0.05;
  }
  EXPECT_GT(rejected, kRounds * 0.03);
  EXPECT_LT(rejected, kRounds * 0.07);
}

// ---- Iterations ----

TEST(IterationDiff, FindsTheKernelThatGrew) {
  const IterationDiff diff = iteration_diff_of(
      run_steadily({.jitter_us = 20}), run_steadily({.gemm_us = 400, .jitter_us = 20, .seed = 2}));
  ASSERT_TRUE(diff.comparable()) << diff.why_not;
  EXPECT_EQ(diff.how, "NVTX range \"step\"");
  EXPECT_NEAR(static_cast<double>(diff.now.median_ns - diff.base.median_ns), 100'000, 10'000);
  EXPECT_LE(diff.now.low_ns, diff.now.median_ns);
  EXPECT_LE(diff.now.median_ns, diff.now.high_ns);
  EXPECT_TRUE(diff.is_significant());
  EXPECT_EQ(diff.test.longer, 1);
  EXPECT_EQ(diff.most_grown(), TimeShare::kKernels);
  EXPECT_NEAR(static_cast<double>(diff.growth_ns(TimeShare::kKernels)), 100'000, 10'000);
  const PlaceChange* sync = place_of(diff, PlaceChange::kSynchronization, "train.py:9");
  ASSERT_NE(sync, nullptr);
  EXPECT_EQ(sync->name, "cudaStreamSynchronize");
  EXPECT_NEAR(static_cast<double>(sync->growth_ns()), 100'000, 10'000);
  EXPECT_NEAR(sync->new_count, 1, 0.1);
}

TEST(IterationDiff, FindsTheLaunchThatCameLater) {
  const IterationDiff diff = iteration_diff_of(run_steadily({}), run_steadily({.pause_us = 500}));
  ASSERT_TRUE(diff.comparable()) << diff.why_not;
  EXPECT_EQ(diff.most_grown(), TimeShare::kOutside);
  ASSERT_FALSE(diff.places.empty());
  EXPECT_EQ(diff.places.front().kind, PlaceChange::kLateLaunch);
  EXPECT_EQ(diff.places.front().name, "gemm");
  EXPECT_THAT(diff.places.front().call_site, HasSubstr("train.py:7 forward"));
  EXPECT_NEAR(static_cast<double>(diff.places.front().growth_ns()), 300'000, 20'000);
}

TEST(IterationDiff, SharesSumToTheMean) {
  const IterationDiff diff =
      iteration_diff_of(run_steadily({.jitter_us = 50}), run_steadily({.pause_us = 300}));
  for (const ComparedIterations* each : {&diff.base, &diff.now}) {
    Ns sum = 0;
    for (const Ns share : each->mean_shares_ns) sum += share;
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(each->mean_ns), kShareCount);
  }
}

TEST(IterationDiff, CallsNoiseChance) {
  int significant = 0;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const IterationDiff diff =
        iteration_diff_of(run_steadily({.jitter_us = 100, .seed = 2 * seed}),
                          run_steadily({.jitter_us = 100, .seed = 2 * seed + 1}));
    ASSERT_TRUE(diff.comparable()) << diff.why_not;
    significant += diff.is_significant();
  }
  EXPECT_LE(significant, 2);
}

TEST(IterationDiff, FollowsALineThatMoved) {
  const IterationDiff moved = iteration_diff_of(
      run_steadily({}), run_steadily({.gemm_us = 400, .sync_line = "train.py:31 step"}));
  const PlaceChange* sync = place_of(moved, PlaceChange::kSynchronization, "train.py:31");
  ASSERT_NE(sync, nullptr);
  EXPECT_GT(sync->base_ns, 0);
  EXPECT_EQ(place_of(moved, PlaceChange::kSynchronization, "train.py:9"), nullptr);
  // In another function it is another place.
  const IterationDiff other = iteration_diff_of(
      run_steadily({}), run_steadily({.gemm_us = 400, .sync_line = "train.py:31 log"}));
  ASSERT_NE(place_of(other, PlaceChange::kSynchronization, "train.py:9"), nullptr);
  EXPECT_EQ(place_of(other, PlaceChange::kSynchronization, "train.py:9")->new_ns, 0);
}

TEST(IterationDiff, NeedsIterationsFoundInTheSameWay) {
  test::TraceBuilder once;
  once.stream("math").kernel("gemm", 0, 100 * kUs);
  const IterationDiff none = iteration_diff_of(run_steadily({}), once.trace());
  EXPECT_FALSE(none.comparable());
  EXPECT_THAT(none.why_not, HasSubstr("in the new run"));
  EXPECT_THAT(iteration_diff_of(once.trace(), once.trace()).why_not,
              HasSubstr("in the base run, nor in the new one"));
  test::TraceBuilder unmarked;
  for (Ns i = 0; i < 40; ++i) {
    unmarked.at(i * 1000 * kUs)
        .stream("math")
        .kernel("gemm", (i * 1000 + 5) * kUs, (i * 1000 + 505) * kUs);
    unmarked.stream("math").kernel("norm", (i * 1000 + 505) * kUs, (i * 1000 + 905) * kUs);
  }
  const IterationDiff different = iteration_diff_of(run_steadily({}), unmarked.trace());
  EXPECT_FALSE(different.comparable());
  EXPECT_THAT(different.why_not, HasSubstr("found in different ways: NVTX range \"step\""));
  EXPECT_THAT(iteration_diff_of(run_steadily({}), run_steadily({}), {.off = true}).why_not,
              HasSubstr("none were requested"));
}

// ---- The pace of the host ----

struct PacedProgram {
  Ns launch_ns = 5000, between_ns = 2000;
  int launches = 6, steps = 40;
};

Trace run_at_pace(const PacedProgram& program) {
  test::TraceBuilder b;
  b.meta("tier", "times");
  Ns at = 0, busy_until = 0;
  for (int step = 0; step < program.steps; ++step) {
    const Ns begin = at;
    for (int launch = 0; launch < program.launches; ++launch) {
      const Ns start = std::max(at + program.launch_ns, busy_until);
      busy_until = start + kUs;
      b.at(at).stream("math").kernel("gemm", start, busy_until);
      b.columns().api_call.end_ns.back() = at + program.launch_ns;
      at += program.launch_ns + program.between_ns;
    }
    b.stream("math").synchronize(at, busy_until + 20 * kUs);
    at = busy_until + 20 * kUs + program.between_ns;
    b.range("step", begin, at - 1);
  }
  return b.trace();
}

double host_slowdown(const PacedProgram& base, const PacedProgram& now) {
  return iteration_diff_of(run_at_pace(base), run_at_pace(now)).host_slowdown();
}

TEST(HostPace, IsTheMedianOfLaunchesAndOfWhatIsBetweenCalls) {
  const Trace trace = run_at_pace({});
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  const HostPace pace = host_pace(analyses, model.iterations(), model.shares().threads);
  EXPECT_EQ(pace.launch_ns, 5000);
  EXPECT_EQ(pace.between_ns, 2000);
}

TEST(HostPace, IsSlowerOnlyIfEverythingIs) {
  EXPECT_EQ(host_slowdown({}, {}), 1);
  EXPECT_EQ(host_slowdown({}, {.launch_ns = 7500, .between_ns = 3600}), 1.5);
  EXPECT_EQ(host_slowdown({.launch_ns = 7500, .between_ns = 4000}, {}), 5000.0 / 7500);
  EXPECT_EQ(host_slowdown({}, {.launch_ns = 7500}), 1) << "the driver alone";
  EXPECT_EQ(host_slowdown({}, {.between_ns = 4000}), 1) << "the program alone";
  EXPECT_EQ(host_slowdown({}, {.launch_ns = 7500, .between_ns = 1000}), 1);
  EXPECT_EQ(host_slowdown({}, {.launch_ns = 5500, .between_ns = 2200}), 1) << "runs differ by that";
}

TEST(HostPace, IsComparedIfAsMuchIsLaunchedOftenEnough) {
  const PacedProgram slow{.launch_ns = 7500, .between_ns = 3000};
  PacedProgram more = slow, few, few_slow = slow;
  more.launches = 7;
  EXPECT_EQ(host_slowdown({}, more), 1);
  few.steps = few_slow.steps = 8;
  EXPECT_EQ(host_slowdown(few, few_slow), 1);
}

}  // namespace
}  // namespace streamscope::analysis
