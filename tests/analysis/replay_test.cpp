// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/delay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/analyses.h"
#include "analysis/delay/recorder_cost.h"
#include "analysis/delay/shared_capacity.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

// The host launches, waits for it, launches again.
test::TraceBuilder launch_wait_launch() {
  test::TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  builder.at(0);
  builder.stream("math").kernel("first", 10'000, 110'000);
  builder.synchronize_device(1'000, 111'000);
  builder.at(112'000);
  builder.stream("other").kernel("second", 120'000, 150'000);
  return builder;
}

TEST(Replay, PredictsTheRecordingWithoutAChange) {
  const Trace trace = launch_wait_launch().trace();
  Analyses analyses(trace);
  const std::vector<PredictedRun> runs = analyses.replay().predict({});
  ASSERT_EQ(runs.size(), trace.op.size());
  for (Id op = 0; op < runs.size(); ++op) {
    EXPECT_EQ(runs[op].start_ns, trace.op.start_ns[op]) << op;
    EXPECT_EQ(runs[op].end_ns, trace.op.end_ns[op]) << op;
  }
}

TEST(Replay, PredictsThatWorkBehindADroppedSynchronizationMovesForward) {
  const Trace trace = launch_wait_launch().trace();
  Analyses analyses(trace);
  Change change;
  change.without_sync.add(0);
  const std::vector<PredictedRun> runs = analyses.replay().predict(change);
  EXPECT_EQ(runs[0].start_ns, 10'000);
  EXPECT_EQ(runs[1].start_ns, 120'000 - 110'000);
  EXPECT_EQ(runs[1].end_ns - runs[1].start_ns, 30'000);
}

TEST(Replay, LeavesOpsWithoutTimesUnknown) {
  test::TraceBuilder builder = launch_wait_launch();
  builder.columns().op.start_ns[1] = builder.columns().op.end_ns[1] = trace::kUnknownNs;
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  EXPECT_EQ(analyses.replay().predict({})[1].start_ns, trace::kUnknownNs);
}

// Records in a row, `gap_ns` apart.
test::TraceBuilder records(Ns gap_ns, int count = 40) {
  test::TraceBuilder builder;
  for (int i = 0; i < count; ++i) builder.stream("a").record("e");
  auto& rows = builder.columns().event_record;
  for (Id record = 0; record < rows.size(); ++record) {
    rows.start_ns[record] = record * Ns{1'000};
    rows.end_ns[record] = rows.start_ns[record] + 1'000 - gap_ns;
  }
  return builder;
}

std::vector<double> paces(const test::TraceBuilder& builder) {
  const Trace trace = builder.trace();
  return recorder_paces(IssueOrder(trace));
}

TEST(RecorderPace, UsesTheTimeBetweenConsecutiveCalls) {
  EXPECT_DOUBLE_EQ(paces(records(kRecorderBetweenNs * 3 / 2))[0], 1.5);
  EXPECT_DOUBLE_EQ(paces(records(900))[0], 2) << "the rest is the program's";
  EXPECT_DOUBLE_EQ(paces(records(50))[0], 1);
}

TEST(RecorderPace, IsTheUsualOneIfThereAreFewCalls) {
  EXPECT_DOUBLE_EQ(paces(records(200, 20))[0], 1);
  test::TraceBuilder waiting = records(200, 20);
  for (Ns at = 30'000; at < 100'000; at += 1'000) waiting.synchronize_device(at, at + 800);
  EXPECT_DOUBLE_EQ(paces(waiting)[0], 1) << "a synchronization is no call in a row";
}

TEST(RecorderPace, IsZeroOnAVirtualClock) {
  test::TraceBuilder builder = records(200);
  builder.columns().process.clock[0] = trace::kVirtualClock;
  EXPECT_DOUBLE_EQ(paces(builder)[0], 0);
}

TEST(Stamps, DoNotOverlapAndDelayOtherWork) {
  Stamps stamps;
  Twin first{1'000, 1'000}, second{1'500, 1'500};
  stamps.take(first, {0, 0}, true);
  stamps.take(second, {0, 0}, false);  // the change leaves it out
  EXPECT_EQ(first.was, 1'000 + kTimedRecordNs);
  EXPECT_EQ(first.now, 1'000 + kTimedRecordNs);
  EXPECT_EQ(second.was, 1'000 + kTimedRecordBlocksNs + kTimedRecordNs);
  EXPECT_EQ(second.now, 1'500);

  Twin start{2'000, 2'000};
  stamps.delay(start);
  EXPECT_EQ(start.was, 1'000 + 2 * kTimedRecordBlocksNs);
  EXPECT_EQ(start.now, 1'000 + kTimedRecordBlocksNs);
  Twin before{500, 500};
  stamps.delay(before);
  EXPECT_EQ(before.was, 500);
}

TEST(Change, AddsAnotherChange) {
  Change change, other;
  change.without_wait.add(1);
  change.length_ns[7] = 5;
  other.without_wait.add(4);
  other.length_ns[7] = 9;
  other.more_copy_engines = 2;
  change.add(other);
  EXPECT_TRUE(change.without_wait.has(1));
  EXPECT_TRUE(change.without_wait.has(4));
  EXPECT_FALSE(change.without_wait.has(2));
  EXPECT_EQ(change.length_ns.at(7), 5);
  EXPECT_EQ(change.more_copy_engines, 2);
}

TEST(ReplayOfGraphs, NodesThatTakeNoTimeAreDoneWhenTheirGraphBegins) {
  test::TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  builder.at(0).stream("s").graph_launch(5'000, 15'000);
  auto& op = builder.columns().op;
  op.kind.back() = trace::kKernel;
  op.graph_node.back() = 70;
  const Id call = op.api_call_id.back();
  builder.stream("s").kernel("second node", 15'000, 45'000);
  op.api_call_id.back() = call;
  op.call_number.back() = builder.columns().api_call.call_number[call];
  op.graph_node.back() = 71;
  builder.at(3'000).stream("s").kernel("after", 50'000, 60'000);
  const trace::Trace trace = builder.trace();
  Analyses analyses(trace);
  const auto ends = [&](const Change& change) {
    std::vector<Ns> found;
    for (const PredictedRun& run : analyses.replay().predict(change)) found.push_back(run.end_ns);
    return found;
  };
  EXPECT_THAT(ends({}), testing::ElementsAre(15'000, 45'000, 60'000));
  Change instant;
  instant.instant_op.add(0);
  instant.instant_op.add(1);
  const std::vector<Ns> now = ends(instant);
  EXPECT_EQ(now[0], 5'000);
  EXPECT_EQ(now[1], 5'000);
  EXPECT_LT(now[2], 30'000) << "it no longer waits for the nodes";
}

}  // namespace
}  // namespace streamscope::analysis
