// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/labels.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Ns kUs = 1000;

struct Program {
  Ns gemm_ns = 100 * kUs;
  Ns jitter_ns = 0;
  int first_stream = 0;     // shifts the numbers of streams
  bool extra_wait = false;  // the copy of a step waits for the kernel before it
};

trace::Trace run(const Program& program) {
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

TraceDiff compare(const trace::Trace& base, const trace::Trace& now) {
  Analyses before(base), after(now);
  return diff(before, after);
}

TEST(Diff, IsSilentAboutNumbersAndTimesThatOnlyVary) {
  const TraceDiff result =
      compare(run({.jitter_ns = 10 * kUs}), run({.jitter_ns = -10 * kUs, .first_stream = 3}));
  EXPECT_THAT(result.work, IsEmpty());
  EXPECT_THAT(result.edges, IsEmpty());
}

TEST(Diff, FindsWorkThatGotSlowerBeyondItsSpread) {
  const TraceDiff result =
      compare(run({.jitter_ns = 4 * kUs}), run({.gemm_ns = 130 * kUs, .jitter_ns = 4 * kUs}));
  ASSERT_EQ(result.work.size(), 1u);
  EXPECT_TRUE(result.work[0].slower);
  EXPECT_EQ(result.work[0].label, "gemm");
  EXPECT_EQ(result.work[0].stream, "math");
  EXPECT_EQ(result.work[0].cost_ns(), 20 * 30 * kUs);
  EXPECT_THAT(result.likely_cause, HasSubstr("gemm on math takes 600 µs more"));
}

TEST(Diff, FindsTheDependencyThatIsNew) {
  const TraceDiff result = compare(run({}), run({.extra_wait = true}));
  EXPECT_GT(result.new_ns, result.base_ns);
  ASSERT_EQ(result.edges.size(), 1u);
  EXPECT_EQ(result.edges[0].from, "gemm on math");
  EXPECT_EQ(result.edges[0].to, "memcpy HtoD on copies");
  EXPECT_EQ(result.edges[0].base_count, 0u);
  EXPECT_EQ(result.edges[0].new_count, 19u);
  EXPECT_THAT(result.likely_cause, HasSubstr("memcpy HtoD on copies waits for gemm on math"));
}

TEST(CompareWork, ListsAllOfBothWithTheLongestOfEach) {
  const trace::Trace base = run({}), now = run({.gemm_ns = 130 * kUs, .first_stream = 2});
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

TEST(Diff, OfATraceWithItselfIsEmpty) {
  const trace::Trace trace = run({});
  const TraceDiff result = compare(trace, trace);
  EXPECT_THAT(result.work, IsEmpty());
  EXPECT_THAT(result.edges, IsEmpty());
  EXPECT_EQ(result.likely_cause, "");
  EXPECT_DOUBLE_EQ(result.slowdown(), 0);
}

}  // namespace
}  // namespace streamscope::analysis
