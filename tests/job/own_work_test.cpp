// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/own_work.h"

#include <gtest/gtest.h>

#include <random>

#include "support/trace_builder.h"

namespace streamscope::job {
namespace {

using trace::Ns;

// Kernels at random, each compared instant by instant.
TEST(OwnWork, AgreesWithCountingEachInstant) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    constexpr Ns kEnd = 400;
    std::vector<bool> busy(kEnd), asked(kEnd);
    test::TraceBuilder builder;
    for (const char* name : {"a", "b"}) {
      test::StreamBuilder stream = builder.stream(name);
      for (Ns at = static_cast<Ns>(random() % 40); at < kEnd - 40;) {
        const Ns end = at + 1 + static_cast<Ns>(random() % 30);
        stream.kernel("work", at, end);
        std::fill(busy.begin() + at, busy.begin() + end, true);
        at = end + static_cast<Ns>(random() % 60);
      }
    }
    const trace::Trace trace = builder.trace();
    analysis::Analyses analyses(trace);
    const OwnWork work(analyses, 0, {});
    std::vector<OwnWork::Span> spans;
    for (int i = 0; i < 6; ++i) {
      const Ns from = static_cast<Ns>(random() % kEnd);
      const Ns to = std::min<Ns>(from + static_cast<Ns>(random() % 80), kEnd);
      spans.emplace_back(from, to);
      std::fill(asked.begin() + from, asked.begin() + to, true);
    }
    Ns expected = 0;
    for (size_t at = 0; at < busy.size(); ++at) expected += asked[at] && !busy[at];
    EXPECT_EQ(work.without(spans), expected) << "round " << round;
  }
}

TEST(OwnWork, CountsCollectivesNeitherAsWorkNorAsIssued) {
  test::TraceBuilder builder;
  builder.stream("a")
      .kernel("work", 10, 30)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 90);
  builder.stream("b").kernel("other", 50, 60);
  const trace::Trace trace = builder.trace();
  analysis::Analyses analyses(trace);
  const OwnWork work(analyses, 0, {});
  EXPECT_EQ(work.without({{30, 90}}), 50);
  EXPECT_EQ(work.without({{0, 20}, {15, 40}}), 20);
  EXPECT_EQ(work.without({}), 0);
  EXPECT_EQ(work.issued_between(trace::kUnknownNs, 1'000'000), 30);
  EXPECT_EQ(work.issued_between(20, 10), 0);
}

TEST(OwnWork, LeavesOutGraphsThatContainCollectives) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("graph", 10, 30).kernel("graph", 40, 60);
  trace::Trace trace = builder.trace();
  for (const trace::Id op : {0, 1}) trace.op.kind[op] = trace::kGraphLaunch;
  analysis::Analyses analyses(trace);
  analysis::Collective in_graph;
  in_graph.op = in_graph.last_op = 1;
  in_graph.kind = CollectiveKind::kGraph;
  const OwnWork work(analyses, 0, {in_graph});
  EXPECT_EQ(work.without({{0, 100}}), 80);
  EXPECT_EQ(work.issued_between(trace::kUnknownNs, 1'000'000), 20);
}

TEST(OwnWork, DoesNotGuessWhenWorkWasIssued) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("work", 10, 30).kernel("work", 40, 60);
  trace::Trace trace = builder.trace();
  trace.op.api_call_id[1] = trace::kNoId;
  analysis::Analyses analyses(trace);
  const OwnWork work(analyses, 0, {});
  EXPECT_EQ(work.issued_between(0, 1'000'000), trace::kUnknownNs);
  EXPECT_EQ(work.without({{0, 50}}), 20);
}

}  // namespace
}  // namespace streamscope::job
