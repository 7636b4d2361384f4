// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The critical path, slack and what-if. Among the paths are the situations that HTA's critical-path
// analysis is tested on (a launch onto an idle stream, kernels back to back, cudaEvent- and
// cudaDeviceSynchronize, queries, events across streams, the breakdown by kind), as our own traces.
// HTA's nodes are the two ends of CPU operators; ours are ops, synchronizations and the host's time
// between them, so paths are compared by the GPU work and synchronizations on them. Its operators
// inside a launch step have no counterpart: a trace of streams does not contain them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/delay/what_if.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using test::TraceBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using enum trace::PathStepKind;

std::vector<PathStep> path_of(const Trace& trace) {
  Analyses analyses(trace);
  auto path = analyses.path();
  for (size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].start_ns, path[i - 1].end_ns);
  for (const PathStep& step : path) EXPECT_LT(step.start_ns, step.end_ns);
  return path;
}

// Ops and synchronizations on the path, in order: "k0" is op 0, "s1" host_sync 1.
std::vector<std::string> work_on(const std::vector<PathStep>& path) {
  std::vector<std::string> result;
  for (const PathStep& step : path) {
    if (step.kind == kOpStep) result.push_back("k" + std::to_string(step.op));
    if (step.kind == kHostSyncStep) result.push_back("s" + std::to_string(step.host_sync));
  }
  return result;
}

TEST(CriticalPath, ALaunchOntoAnIdleStreamBeginsWithTheHost) {
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("first", 30 * kUs, 40 * kUs);
  const auto path = path_of(builder.trace());
  ASSERT_EQ(path.size(), 2u);
  EXPECT_EQ(path[0], (PathStep{kLaunchStep, 0, kNoId, 0, 30 * kUs, 0}));
  EXPECT_EQ(path[1], (PathStep{kOpStep, 0, kNoId, 30 * kUs, 40 * kUs}));
}

TEST(CriticalPath, KernelsBackToBackFollowTheirStreamWithHandOversBetween) {
  TraceBuilder builder;
  builder.at(0)
      .stream("a")
      .kernel("first", 30 * kUs, 40 * kUs)
      .kernel("second", 47 * kUs, 60 * kUs);
  const auto path = path_of(builder.trace());
  ASSERT_EQ(path.size(), 4u);
  EXPECT_EQ(path[2], (PathStep{kGapStep, 1, kNoId, 40 * kUs, 47 * kUs}));
}

TEST(CriticalPath, AnEventAcrossStreamsLeadsToTheStreamThatWasWaitedFor) {
  TraceBuilder builder;
  builder.stream("a").kernel("long", 10 * kUs, 100 * kUs).record("e");
  builder.stream("b")
      .kernel("short", 10 * kUs, 20 * kUs)
      .wait("e")
      .kernel("after", 102 * kUs, 120 * kUs);
  EXPECT_THAT(work_on(path_of(builder.trace())), ElementsAre("k0", "k2"));
}

TEST(CriticalPath, ThreeStreamsInAChainOfEventsAreAllOnIt) {
  TraceBuilder builder;
  builder.stream("20").kernel("a", 10 * kUs, 100 * kUs).record("1");
  builder.stream("28").wait("1").kernel("b", 102 * kUs, 150 * kUs).record("2");
  builder.stream("24").wait("2").kernel("c", 152 * kUs, 200 * kUs).record("3");
  builder.stream("20").wait("3").kernel("d", 202 * kUs, 210 * kUs);
  EXPECT_THAT(work_on(path_of(builder.trace())), ElementsAre("k0", "k1", "k2", "k3"));
}

TEST(CriticalPath, AnEventThatCompletedEarlyIsNotOnIt) {
  TraceBuilder builder;
  builder.stream("a").kernel("short", 10 * kUs, 20 * kUs).record("e");
  builder.stream("b")
      .kernel("long", 10 * kUs, 100 * kUs)
      .wait("e")
      .kernel("after", 102 * kUs, 120 * kUs);
  EXPECT_THAT(work_on(path_of(builder.trace())), ElementsAre("k1", "k2"));
}

TEST(CriticalPath, ADeviceSyncLeadsFromTheHostToTheLastKernelItWaitedFor) {
  TraceBuilder builder;
  builder.stream("a").kernel("short", 10 * kUs, 50 * kUs);
  builder.stream("b").kernel("long", 10 * kUs, 100 * kUs);
  builder.synchronize_device(5 * kUs, 105 * kUs);
  builder.at(130 * kUs).stream("a").kernel("next", 140 * kUs, 150 * kUs);
  const auto path = path_of(builder.trace());
  EXPECT_THAT(work_on(path), ElementsAre("k1", "s0", "k2"));
  EXPECT_EQ(path[2], (PathStep{kHostSyncStep, kNoId, 0, 100 * kUs, 105 * kUs}));
  EXPECT_EQ(path[3], (PathStep{kLaunchStep, 2, kNoId, 105 * kUs, 140 * kUs, 0}));
}

TEST(CriticalPath, AnEventSyncLeadsToTheWorkThatTheEventCovers) {
  TraceBuilder builder;
  builder.stream("a")
      .kernel("first", 10 * kUs, 50 * kUs)
      .record("e")
      .kernel("second", 51 * kUs, 60 * kUs);
  builder.synchronize_event("e", 5 * kUs, 55 * kUs);
  builder.at(70 * kUs).stream("b").kernel("next", 80 * kUs, 150 * kUs);
  EXPECT_THAT(work_on(path_of(builder.trace())), ElementsAre("k0", "s0", "k2"));
}

TEST(CriticalPath, ASyncThatFoundItsWorkDoneBelongsToTheHost) {
  TraceBuilder builder;
  builder.stream("a").kernel("early", 10 * kUs, 20 * kUs);
  builder.synchronize_device(50 * kUs, 51 * kUs);
  builder.at(60 * kUs).stream("a").kernel("next", 70 * kUs, 80 * kUs);
  EXPECT_THAT(work_on(path_of(builder.trace())), ElementsAre("k1"));
}

TEST(CriticalPath, TheLaterOfTwoSyncsOnOneKernelDoesNotWait) {
  // HTA draws an edge from the kernel into both; the path needs only the first, as the second finds
  // its work done. A query that returns not ready draws none.
  TraceBuilder builder;
  builder.stream("a").kernel("spin", 10 * kUs, 100 * kUs).record("e");
  builder.query_event("e", false);
  builder.synchronize_event("e", 5 * kUs, 104 * kUs);
  builder.at(105 * kUs).query_event("e", true);
  builder.synchronize_device(110 * kUs, 112 * kUs);
  builder.at(113 * kUs).stream("a").kernel("next", 120 * kUs, 150 * kUs);
  const Trace trace = builder.trace();
  const Edges edges(trace);
  Id device_sync = 0;
  while (trace.host_sync.kind[device_sync] != trace::kDeviceSynchronize) ++device_sync;
  EXPECT_THAT(edges.sync_sources(device_sync), IsEmpty());
  EXPECT_THAT(work_on(path_of(trace)), ElementsAre("k0", "s1", "k1"));
}

TEST(CriticalPath, ARecordCoversTheWorkOfItsStreamNotTheLastLaunch) {
  TraceBuilder builder;
  builder.stream("20").kernel("own", 10 * kUs, 100 * kUs);
  builder.stream("28").kernel("launched later", 20 * kUs, 300 * kUs);
  builder.stream("20").record("e");
  builder.stream("24").wait("e").memset(101 * kUs, 310 * kUs);
  const Trace trace = builder.trace();
  const Edges edges(trace);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from_op_id, 0u);
  EXPECT_EQ(edges[0].to_op_id, 2u);
  EXPECT_THAT(work_on(path_of(trace)), ElementsAre("k0", "k2"));
}

TEST(CriticalPath, AKernelThatWasLaunchedInTimeIsHeldByTheOneBeforeItNotByItsLaunch) {
  // Like HTA's launch edge of no weight beside the one between the kernels: two conditions, and the
  // one that was met last is on the path.
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("fft", 27 * kUs, 60 * kUs).kernel("gemm", 67 * kUs, 90 * kUs);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  bool launch = false;
  for (const auto& condition : analyses.explainer().conditions(1))
    launch |= condition.cause == WaitCause::kLaunch;
  EXPECT_TRUE(launch);
  EXPECT_THAT(work_on(path_of(trace)), ElementsAre("k0", "k1"));
}

TEST(CriticalPath, ItsPartsByKindAddUpToTheRun) {
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("long", 30 * kUs, 100 * kUs).record("e");
  builder.stream("b").kernel("short", 40 * kUs, 50 * kUs).wait("e");
  builder.stream("b").memcpy(test::kDtoH, 105 * kUs, 140 * kUs).synchronize(110 * kUs, 150 * kUs);
  builder.at(160 * kUs).stream("a").kernel("last", 175 * kUs, 200 * kUs);
  std::map<trace::PathStepKind, Ns> parts;
  for (const PathStep& step : path_of(builder.trace()))
    parts[step.kind] += step.end_ns - step.start_ns;
  EXPECT_EQ(parts[kOpStep], (70 + 35 + 25) * kUs);
  EXPECT_EQ(parts[kGapStep], 5 * kUs);
  EXPECT_EQ(parts[kHostSyncStep], 10 * kUs);
  EXPECT_EQ(parts[kLaunchStep], (30 + 25) * kUs);
}

TEST(CriticalPath, OfAnEmptyOrUntimedTraceIsEmpty) {
  EXPECT_THAT(path_of(Trace()), IsEmpty());
  TraceBuilder builder;
  builder.stream("a").kernel("k", kUnknownNs, kUnknownNs);
  EXPECT_THAT(path_of(builder.trace()), IsEmpty());
}

TEST(Slack, IsZeroOnThePathAndTheSpareTimeElsewhere) {
  TraceBuilder builder;
  builder.stream("a").kernel("long", 10 * kUs, 100 * kUs).record("e");
  builder.stream("b")
      .kernel("short", 10 * kUs, 20 * kUs)
      .wait("e")
      .kernel("after", 102 * kUs, 120 * kUs);
  builder.stream("c").kernel("alone", 10 * kUs, 60 * kUs);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const auto result = slack(analyses.order(), analyses.explainer(), analyses.host_bounds(),
                            analyses.edges(), analyses.by_start());
  EXPECT_THAT(result, ElementsAre(0, 80 * kUs, 0, 60 * kUs));
}

TEST(Slack, PassesThroughSynchronizationsOfTheHost) {
  TraceBuilder builder;
  builder.stream("a").kernel("short", 10 * kUs, 50 * kUs);
  builder.stream("b").kernel("long", 10 * kUs, 100 * kUs);
  builder.synchronize_device(5 * kUs, 105 * kUs);
  builder.at(130 * kUs).stream("a").kernel("next", 140 * kUs, 150 * kUs);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const auto result = slack(analyses.order(), analyses.explainer(), analyses.host_bounds(),
                            analyses.edges(), analyses.by_start());
  EXPECT_THAT(result, ElementsAre(50 * kUs, 0, 0));
}

// ---- What if.

Ns replayed(Trace trace, const std::vector<std::string>& texts) {
  trace.process.clock[0] = trace::kVirtualClock;  // no recorder to subtract
  Analyses analyses(trace);
  Change change;
  for (const std::string& text : texts) EXPECT_TRUE(add_change(analyses, text, change)) << text;
  return analyses.replay().recorded_ns() - analyses.replay().gain_ns(change);
}

Trace chain_by_event() {
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("long", 10 * kUs, 100 * kUs).record("e");
  builder.stream("b")
      .kernel("short", 10 * kUs, 20 * kUs)
      .wait("e")
      .kernel("after", 102 * kUs, 120 * kUs);
  return builder.trace();
}

TEST(WhatIf, NothingChangesIfNothingChanges) {
  EXPECT_EQ(replayed(chain_by_event(), {}), 120 * kUs);
}

TEST(WhatIf, WithoutAnEdgeTheOpStartsWhenTheRestAllows) {
  // Behind "short" at 20, and as long after as it was behind the event.
  EXPECT_EQ(replayed(chain_by_event(), {"drop-edge:0"}), 100 * kUs);
}

TEST(WhatIf, AnOpOnThePathThatTakesHalfAsLongShortensTheRun) {
  EXPECT_EQ(replayed(chain_by_event(), {"scale-op:0=0.5"}), 75 * kUs);
  EXPECT_EQ(replayed(chain_by_event(), {"scale-op:1=0.5"}), 120 * kUs);
  EXPECT_EQ(replayed(chain_by_event(), {"scale-op:2=2"}), 138 * kUs);
  EXPECT_EQ(replayed(chain_by_event(), {"drop-op:0"}), 40 * kUs);
}

TEST(WhatIf, WithoutASyncTheHostLaunchesEarlier) {
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("first", 10 * kUs, 100 * kUs);
  builder.synchronize_device(5 * kUs, 105 * kUs);
  builder.at(110 * kUs).stream("b").kernel("second", 120 * kUs, 220 * kUs);
  // The launch comes 5 µs after the host would have entered the sync.
  EXPECT_EQ(replayed(builder.trace(), {"drop-sync:0"}), 120 * kUs);
}

TEST(WhatIf, AShorterKernelLetsTheSynchronizedHostContinueEarlier) {
  TraceBuilder builder;
  builder.at(0).stream("a").kernel("first", 10 * kUs, 100 * kUs);
  builder.synchronize_device(5 * kUs, 105 * kUs);
  builder.at(110 * kUs).stream("b").kernel("second", 120 * kUs, 220 * kUs);
  EXPECT_EQ(replayed(builder.trace(), {"scale-op:0=0.5"}), 175 * kUs);
}

TEST(WhatIf, AnotherStreamLetsIndependentWorkOverlap) {
  TraceBuilder builder;
  auto a = builder.at(0).stream("a");
  for (Ns i = 0; i < 4; ++i) a.kernel("k", (10 + 100 * i) * kUs, (110 + 100 * i) * kUs);
  EXPECT_EQ(replayed(builder.trace(), {}), 410 * kUs);
  EXPECT_NEAR(static_cast<double>(replayed(builder.trace(), {"add-stream:0"})), 210. * kUs,
              20. * kUs);
}

TEST(WhatIf, AnotherCopyEngineLetsCopiesOverlap) {
  TraceBuilder builder;
  builder.at(0).stream("a").memcpy(test::kHtoD, 10 * kUs, 110 * kUs);
  builder.stream("b").memcpy(test::kHtoD, 111 * kUs, 211 * kUs);
  EXPECT_EQ(replayed(builder.trace(), {}), 211 * kUs);
  EXPECT_LE(replayed(builder.trace(), {"add-copy-engine"}), 115 * kUs);
}

TEST(WhatIf, RefusesInvalidRequestsAndWhatTheTraceDoesNotContain) {
  const Trace trace = chain_by_event();
  Analyses analyses(trace);
  for (const char* text :
       {"", "drop-edge", "drop-edge:", "drop-edge:1", "drop-edge:-1", "drop-edge:x", "scale-op:0",
        "scale-op:0=", "scale-op:0=-1", "scale-op:0=nan", "scale-op:9=1", "add-stream:2",
        "drop-sync:0", "drop-op:3", "frob:1"}) {
    Change change;
    EXPECT_FALSE(add_change(analyses, text, change)) << text;
  }
}

TEST(WhatIf, RandomRunsReplayToExactlyThemselvesAndDroppingNeverLengthensThem) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    builder.at(0);
    std::vector<Ns> busy(3, 0);
    Ns host = 10;
    for (int i = 0; i < 60; ++i) {
      host += 1 + static_cast<Ns>(random() % 20'000);
      const size_t s = random() % 3;
      auto stream = builder.stream(std::string(1, static_cast<char>('a' + s)));
      stream.at(host);
      switch (random() % 5) {
        case 0:
          stream.record("e" + std::to_string(random() % 2));
          break;
        case 1:
          stream.wait("e" + std::to_string(random() % 2));
          for (Ns other : busy) busy[s] = std::max(busy[s], other);
          break;
        case 2:
          stream.synchronize(host, std::max(host + 1, busy[s] + 3'000));
          host = std::max(host + 1, busy[s] + 3'000);
          break;
        default: {
          const Ns start = std::max(host + 2, busy[s]) + static_cast<Ns>(random() % 10'000);
          busy[s] = start + static_cast<Ns>(random() % 50'000);
          stream.kernel("k", start, busy[s]);
        }
      }
    }
    const Trace trace = builder.trace();
    Analyses analyses(trace);
    const Replay& replay = analyses.replay();
    ASSERT_EQ(replay.gain_ns({}), 0) << "seed " << seed;
    for (Id edge = 0; edge < analyses.edges().size(); ++edge) {
      Change change;
      ASSERT_TRUE(add_change(analyses, "drop-edge:" + std::to_string(edge), change));
      ASSERT_GE(replay.gain_ns(change), 0) << "seed " << seed << " edge " << edge;
    }
    path_of(trace);
  }
}

}  // namespace
}  // namespace streamscope::analysis
