// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/replay.h"

#include <gtest/gtest.h>

#include "analysis/analyses.h"
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

TEST(Change, TakesAnotherIn) {
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

}  // namespace
}  // namespace streamscope::analysis
