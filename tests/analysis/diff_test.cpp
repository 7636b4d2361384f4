// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/compare/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/labels.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using testing::HasSubstr;
using testing::IsEmpty;

struct Pipeline {
  Ns gemm_ns = 100 * kUs;
  Ns jitter_ns = 0;
  int first_stream = 0;     // shifts the numbers of streams
  bool extra_wait = false;  // the copy of a step waits for the kernel before it
};

trace::Trace run_pipeline(const Pipeline& program) {
  test::TraceBuilder builder;
  for (int i = 0; i < program.first_stream; ++i) builder.stream("other " + std::to_string(i));
  Ns copies_at = 0, math_at = 0;
  for (int step = 0; step < 20; ++step) {
    const Ns jitter = program.jitter_ns * ((step * 7) % 5 - 2) / 2;
    builder.at(copies_at);
    if (program.extra_wait && step > 0) {
      builder.stream("copies").wait("done");
      copies_at = std::max(copies_at, math_at);
    }
    builder.stream("copies").memcpy(test::kHtoD, copies_at, copies_at + 50 * kUs).record("loaded");
    copies_at += 50 * kUs;
    math_at = std::max(math_at, copies_at);
    builder.stream("math")
        .wait("loaded")
        .kernel("gemm", math_at, math_at + program.gemm_ns + jitter)
        .record("done");
    math_at += program.gemm_ns + jitter;
  }
  return builder.trace();
}

TraceDiff diff_of(const trace::Trace& base, const trace::Trace& now) {
  Analyses before(base), after(now);
  return diff(before, after);
}

TEST(Diff, IgnoresNumbersAndTimesThatOnlyVary) {
  const TraceDiff result = diff_of(run_pipeline({.jitter_ns = 10 * kUs}),
                                   run_pipeline({.jitter_ns = -10 * kUs, .first_stream = 3}));
  EXPECT_THAT(result.work, IsEmpty());
  EXPECT_THAT(result.edges, IsEmpty());
}

TEST(Diff, FindsWorkThatGotSlowerBeyondItsSpread) {
  const TraceDiff result = diff_of(run_pipeline({.jitter_ns = 4 * kUs}),
                                   run_pipeline({.gemm_ns = 130 * kUs, .jitter_ns = 4 * kUs}));
  ASSERT_EQ(result.work.size(), 1u);
  EXPECT_TRUE(result.work[0].slower);
  EXPECT_EQ(result.work[0].label, "gemm");
  EXPECT_EQ(result.work[0].stream, "math");
  EXPECT_EQ(result.work[0].cost_ns(), 20 * 30 * kUs);
  EXPECT_THAT(result.likely_cause, HasSubstr("gemm on math takes 600 µs longer"));
}

TEST(Diff, FindsTheDependencyThatIsNew) {
  const TraceDiff result = diff_of(run_pipeline({}), run_pipeline({.extra_wait = true}));
  EXPECT_GT(result.new_ns, result.base_ns);
  ASSERT_EQ(result.edges.size(), 1u);
  EXPECT_EQ(result.edges[0].from, "gemm on math");
  EXPECT_EQ(result.edges[0].to, "memcpy HtoD on copies");
  EXPECT_EQ(result.edges[0].base_count, 0u);
  EXPECT_EQ(result.edges[0].new_count, 19u);
  EXPECT_THAT(result.likely_cause, HasSubstr("memcpy HtoD on copies waits for gemm on math"));
}

TEST(CompareWork, ListsAllOfBothWithTheLongestOfEach) {
  const trace::Trace base = run_pipeline({}),
                     now = run_pipeline({.gemm_ns = 130 * kUs, .first_stream = 2});
  const std::vector<WorkChange> work = compare_work(WorkGroups(base), WorkGroups(now));
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].label, "gemm");
  EXPECT_EQ(work[0].verdict(), "slower");
  EXPECT_EQ(op_label(base, work[0].base_longest), "gemm");
  EXPECT_EQ(op_label(now, work[0].new_longest), "gemm");
  EXPECT_EQ(work[1].verdict(), "same");
  EXPECT_FALSE(work[1].is_change());
  const trace::Trace none;
  const std::vector<WorkChange> gone = compare_work(WorkGroups(base), WorkGroups(none));
  ASSERT_EQ(gone.size(), 2u);
  EXPECT_EQ(gone[0].verdict(), "gone");
  EXPECT_EQ(gone[0].new_longest, trace::kNoId);
}

// Start-up, then steps; the gap before each step is the host's.
struct Training {
  Ns start_up_ns = 0;
  Ns step_ns = 10'000 * kUs;
  int steps = 20;
  bool fused = false;    // other kernels for the same step
  bool marked = false;   // NVTX ranges
  bool warm_up = false;  // one step takes as long as the start-up, as when it is compiled
};

trace::Trace train(const Training& program) {
  test::TraceBuilder builder;
  test::StreamBuilder math = builder.stream("math");
  // Kernels that only run as trials.
  for (int i = 0; i < 30; ++i)
    math.kernel("autotune " + std::to_string(i), i * 10 * kUs, (i * 10 + 5) * kUs);
  Ns at = 1000 * kUs + program.start_up_ns;
  for (int step = 0; step < program.steps; ++step) {
    const Ns begin = at;
    builder.at(at);
    const auto kernel = [&](const std::string& name) {
      math.kernel(name, at + 5 * kUs, at + 105 * kUs);
      at += 110 * kUs;
    };
    if (program.fused) {
      for (const char* name : {"fused forward", "fused backward", "adam"}) kernel(name);
    } else {
      // Layers are alike; the head shows where a step ends.
      for (int layer = 0; layer < 6; ++layer) {
        kernel("gemm");
        kernel("relu");
      }
      kernel("loss");
      kernel("adam");
    }
    at = begin + program.step_ns + (program.warm_up && step == 0 ? program.start_up_ns : 0);
    if (program.marked) builder.range("step#" + std::to_string(step), begin, at);
  }
  return builder.trace();
}

TEST(Diff, ComparesStepsAndNotTheStartUp) {
  const Training slow{.step_ns = 12'000 * kUs},
      fast{.start_up_ns = 2'000'000 * kUs, .step_ns = 3'000 * kUs, .fused = true};
  for (const bool warm_up : {false, true}) {
    for (const bool marked : {false, true}) {
      Training eager = slow, compiled = fast;
      eager.marked = compiled.marked = marked;
      compiled.warm_up = warm_up;
      const TraceDiff faster = diff_of(train(eager), train(compiled));
      ASSERT_TRUE(faster.steady) << marked << warm_up;
      EXPECT_GT(faster.run_slowdown(), 1) << "as a whole it takes much longer";
      EXPECT_DOUBLE_EQ(faster.slowdown(), -0.75);
      EXPECT_EQ(faster.steady->base.median_ns, 12'000 * kUs);
      EXPECT_EQ(faster.steady->now.median_ns, 3'000 * kUs);
      EXPECT_EQ(faster.steady->base.count, 20u);
      EXPECT_EQ(faster.steady->compared, 20u);
      EXPECT_EQ(faster.steady->range, marked ? "step" : "");
      EXPECT_EQ(faster.likely_cause, "");
      for (const WorkChange& change : faster.work)
        EXPECT_THAT(change.label, testing::Not(HasSubstr("autotune"))) << "start-up is left out";

      const TraceDiff slower = diff_of(train(compiled), train(eager));
      ASSERT_TRUE(slower.steady);
      EXPECT_LT(slower.run_slowdown(), 0);
      EXPECT_DOUBLE_EQ(slower.slowdown(), 3);
      EXPECT_NE(slower.likely_cause, "");
    }
  }
}

TEST(Diff, UsesAWholeStepAsTheRepetition) {
  const TraceDiff result = diff_of(train(Training{}), train(Training{}));
  ASSERT_TRUE(result.steady);
  EXPECT_EQ(result.steady->base.op_count, 14u) << "not one of the layers in it";
  EXPECT_TRUE(result.steady->same_work);
  EXPECT_DOUBLE_EQ(result.slowdown(), 0);
}

TEST(Diff, ComparesEqualNumbersOfStepsOfRunsOfUnequalLength) {
  const TraceDiff result = diff_of(train(Training{.steps = 40}), train(Training{.steps = 10}));
  ASSERT_TRUE(result.steady);
  EXPECT_EQ(result.steady->compared, 10u);
  EXPECT_EQ(result.steady->base.count, 40u);
  EXPECT_THAT(result.work, IsEmpty());
}

TEST(Diff, ComparesWholeRunsIfNothingRepeats) {
  const auto once = [](Ns gap) {
    test::TraceBuilder builder;
    for (int i = 0; i < 10; ++i)
      builder.stream("math").kernel("k" + std::to_string(i), i * gap, i * gap + 10 * kUs);
    return builder.trace();
  };
  const TraceDiff result = diff_of(once(20 * kUs), once(40 * kUs));
  EXPECT_FALSE(result.steady);
  EXPECT_GT(result.slowdown(), 0.5);
  // A loop of memsets before the one kernel that matters is not the run.
  const auto one_kernel = [] {
    test::TraceBuilder builder;
    for (int i = 0; i < 50; ++i) builder.stream("math").memset(i * 10, i * 10 + 5);
    builder.stream("math").kernel("solve", 1000 * kUs, 9000 * kUs);
    return builder.trace();
  };
  EXPECT_FALSE(diff_of(one_kernel(), one_kernel()).steady);
}

TEST(Diff, MeasuresRangesByTheirWorkIfTheHostIsAhead) {
  const auto ahead = [](Ns kernel_ns) {
    test::TraceBuilder builder;
    for (int step = 0; step < 20; ++step) {
      builder.range("step", step * 10 * kUs, (step * 10 + 9) * kUs).at(step * 10 * kUs + 1);
      builder.stream("math").kernel("gemm", 50 * kUs + step * kernel_ns,
                                    50 * kUs + (step + 1) * kernel_ns);
    }
    return builder.trace();
  };
  const TraceDiff result = diff_of(ahead(500 * kUs), ahead(600 * kUs));
  ASSERT_TRUE(result.steady);
  EXPECT_EQ(result.steady->range, "step");
  EXPECT_EQ(result.steady->base.median_ns, 500 * kUs);
  EXPECT_DOUBLE_EQ(result.slowdown(), 0.2);
}

TEST(Diff, UsesTheNamedRange) {
  const trace::Trace three = train(Training{.steps = 3, .marked = true}),
                     two = train(Training{.step_ns = 5'000 * kUs, .steps = 2, .marked = true});
  EXPECT_FALSE(diff_of(three, two).steady) << "too few to be found, and layers are no steps";
  Analyses before(three), after(two);
  const TraceDiff result = diff(before, after, "step");
  ASSERT_TRUE(result.steady);
  EXPECT_DOUBLE_EQ(result.slowdown(), -0.5);
  EXPECT_FALSE(diff(before, after, "no such range").steady);
}

TEST(Diff, OfATraceWithItselfIsEmpty) {
  const trace::Trace trace = run_pipeline({});
  const TraceDiff result = diff_of(trace, trace);
  EXPECT_THAT(result.work, IsEmpty());
  EXPECT_THAT(result.edges, IsEmpty());
  EXPECT_EQ(result.likely_cause, "");
  EXPECT_DOUBLE_EQ(result.slowdown(), 0);
}

}  // namespace
}  // namespace streamscope::analysis
