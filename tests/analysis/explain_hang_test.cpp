// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on hung programs from samples taken during the hang. The same with a real program:
// tests/e2e/hangs.sh.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/hang/hang.h"
#include "analysis/hang/hang_snapshot.h"
#include "hang_times.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using test::StreamBuilder;
using test::TraceBuilder;
using testing::HasSubstr;

// The sample of a thread five seconds after the start.
void sample(TraceBuilder& builder, Id thread, Id waits_for = kNoId, trace::Int ran_ns = 0,
            trace::Small state = 'S') {
  trace::ThreadSample row;
  row.thread_id = thread;
  row.at_ns = kLook;
  row.state = state;
  row.ran_ns = ran_ns;
  if (waits_for != kNoId) row.lock_address = 0x100;
  row.lock_owner_id = waits_for;
  builder.add(row);
}

// The value of the word at 0x10, for which `stream` waits.
void word(TraceBuilder& builder, Id stream, trace::Ns at_ns, trace::Int value) {
  trace::Probe row;
  row.process_id = 0;
  row.at_ns = at_ns;
  row.kind = trace::kWordProbe;
  row.stream_id = stream;
  row.address = 0x10;
  row.value = value;
  builder.add(row);
}

trace::HangReport explain_process(const TraceBuilder& builder) {
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  return explain_hang(analyses, 0);
}

// What libcoord reported about a barrier that a participant does not reach.
trace::HangReport missing_participant() {
  trace::HangReport report;
  report.verdict = "missing-participant";
  report.headline = "barrier \"exchange\"; streams missing: 3";
  report.nodes = {{.kind = trace::kHangOutside, .name = report.headline},
                  {.kind = trace::kHangThread, .object = 0, .name = "host thread 1"}};
  report.edges = {{1, 0, trace::kNeedsAll, " waits for"}};
  return report;
}

TEST(ExplainHang, ReportsTheValueThatNobodyWritesAndTheCurrentOne) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.memory_wait(0x10, 1, kNotYet, kNotYet).synchronize(50, kNotYet);
  sample(builder, 0);
  word(builder, left.id(), kLook - 100, 0);
  const trace::HangReport report = explain_process(builder);
  EXPECT_EQ(report.verdict, "lost-signal");
  EXPECT_TRUE(report.alarm);
  EXPECT_THAT(report.text, HasSubstr("it needs 1 at 0x10, which holds 0"));
  EXPECT_THAT(report.text, HasSubstr("thread main: "));
  EXPECT_FALSE(report.nodes.empty());
  EXPECT_FALSE(report.edges.empty());
}

TEST(ExplainHang, DoesNotReportAPresentValueAsLost) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.memory_wait(0x10, 1, kNotYet, kNotYet).synchronize(50, kNotYet);
  sample(builder, 0);
  word(builder, left.id(), kLook, 1);
  EXPECT_EQ(explain_process(builder).verdict, "unexplained");
}

TEST(ExplainHang, TrustsAStreamThatReportsCompletion) {
  for (const trace::Small result : {0, 600}) {
    TraceBuilder builder;
    StreamBuilder left = builder.stream("left");
    left.memory_wait(0x10, 1, kNotYet, kNotYet);
    sample(builder, 0);
    trace::Probe probe;
    probe.process_id = 0;
    probe.at_ns = kLook;
    probe.kind = trace::kStreamProbe;
    probe.stream_id = left.id();
    probe.result = result;
    builder.add(probe);
    EXPECT_EQ(explain_process(builder).verdict, result == 0 ? "idle" : "lost-signal");
  }
}

TEST(ExplainHang, FindsTwoThreadsThatWaitForEachOthersLock) {
  TraceBuilder builder;
  builder.stream("left").kernel("k", 10, 20).synchronize(15, 30);
  builder.thread("other").stream("left").kernel("k", 30, 40).synchronize(35, 45);
  sample(builder, 0, 1);
  sample(builder, 1, 0);
  const trace::HangReport report = explain_process(builder);
  EXPECT_EQ(report.verdict, "deadlock");
  EXPECT_THAT(report.headline, HasSubstr("thread main and thread other wait for each other"));
  EXPECT_THAT(report.text, HasSubstr("waits for a lock held by"));
}

// A thread wrote the value before, and has not come to the next one; the sample shows that.
trace::HangReport explain_feeder(trace::Int ran_ns, trace::Small state) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  builder.thread("feeder").stream("right").memory_write(0x10, 1, 5, 6);
  builder.thread("main");
  left.memory_wait(0x10, 1, 7, 8).memory_wait(0x10, 2, kNotYet, kNotYet).synchronize(50, kNotYet);
  sample(builder, 0);
  sample(builder, 1, kNoId, ran_ns, state);
  return explain_process(builder);
}

TEST(ExplainHang, BlamesTheThreadThatSubmittedBeforeUnlessItComputes) {
  for (const bool busy : {false, true}) {
    const trace::HangReport report = explain_feeder(busy ? 200'000'000 : 0, 'S');
    EXPECT_EQ(report.verdict, busy ? "alive" : "host-not-feeding");
    EXPECT_EQ(report.alarm, !busy);
    EXPECT_THAT(report.headline, HasSubstr("thread feeder"));
  }
}

// On a machine with more runnable threads than CPUs.
TEST(ExplainHang, TreatsAThreadThatWaitsForACpuAsComputing) {
  EXPECT_EQ(explain_feeder(0, 'R').verdict, "alive");
}

// Two samples at one virtual time: the thread computed only at the first one.
TEST(ExplainHang, UsesTheLatestSampleAlsoIfTimeDoesNotAdvance) {
  const trace::HangReport coord = missing_participant();
  TraceBuilder builder;
  builder.stream("left").kernel("k", 10, 20).synchronize(15, 30);
  builder.thread("other").stream("right").kernel("k", 30, 40).synchronize(35, 45);
  for (const trace::Int ran_ns : {200'000'000, 0}) {
    sample(builder, 0);
    sample(builder, 1, kNoId, ran_ns);
  }
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  EXPECT_EQ(hang_snapshots(trace).at(0).samples, (std::vector<Id>{2, 3}));
  EXPECT_EQ(explain_hang(analyses, 0, &coord).verdict, "missing-participant");
}

TEST(ExplainHang, CallsAKernelSlowIfItWasAsSlowBefore) {
  for (const Ns before : {Ns{1'000}, Ns{2'000'000'000}}) {
    TraceBuilder builder;
    StreamBuilder left = builder.stream("left");
    left.kernel("spin", 10, 10 + before).kernel("spin", kNotYet, kNotYet).synchronize(50, kNotYet);
    sample(builder, 0);
    const trace::HangReport report = explain_process(builder);
    EXPECT_EQ(report.verdict, before > 1'000'000 ? "alive" : "stuck-kernel");
  }
}

TEST(ExplainHang, TrustsLibcoordIfOnlyTheHostBlocks) {
  const trace::HangReport coord = missing_participant();
  for (const bool busy : {false, true}) {
    TraceBuilder builder;
    builder.stream("left").kernel("k", 10, 20).synchronize(15, 30);
    builder.thread("other").stream("right").kernel("k", 30, 40).synchronize(35, 45);
    sample(builder, 0);
    sample(builder, 1, kNoId, busy ? 200'000'000 : 0);
    const Trace trace = builder.trace();
    Analyses analyses(trace);
    EXPECT_EQ(explain_hang(analyses, 0).verdict, "idle");
    const trace::HangReport report = explain_hang(analyses, 0, &coord);
    EXPECT_EQ(report.verdict, busy ? "alive" : "missing-participant");
    EXPECT_EQ(report.alarm, !busy);
    EXPECT_THAT(report.text, HasSubstr("\"exchange\""));
    EXPECT_THAT(report.text, HasSubstr("thread main: waits in libcoord"));
    ASSERT_EQ(report.nodes.size(), 2u);
    ASSERT_EQ(report.edges.size(), 1u);
  }
}

TEST(ExplainHang, ReportsTheKernelThatDelaysAParticipant) {
  TraceBuilder builder;
  builder.stream("left").kernel("spin", kNotYet, kNotYet).synchronize(50, kNotYet);
  sample(builder, 0);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const trace::HangReport coord = missing_participant();
  const trace::HangReport report = explain_hang(analyses, 0, &coord);
  EXPECT_EQ(report.verdict, "stuck-kernel");
  EXPECT_THAT(report.text, HasSubstr("libcoord: barrier \"exchange\""));
}

// CUPTI keeps the times of what ended while a later kernel runs.
TEST(ExplainHang, ACollectiveBehindAKernelThatAlwaysWasShortIsWaitedIn) {
  constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  const auto report_of = [&](Ns before_ns, const char* last) {
    TraceBuilder builder;
    StreamBuilder stream = builder.stream("left");
    if (before_ns > 0) stream.kernel("fill", 1, 1 + before_ns).kernel("other", 2, 2 + before_ns);
    stream.kernel("fill", kNotYet, kNotYet).kernel(last, kNotYet, kNotYet);
    stream.synchronize(50'000'000, kNotYet);
    sample(builder, 0);
    return explain_process(builder);
  };
  EXPECT_EQ(report_of(1'000, kAllReduce).verdict, "collective");
  EXPECT_THAT(report_of(1'000, kAllReduce).headline, HasSubstr("AllReduce"));
  // Neither a kernel that took long, nor one without an earlier run, is taken to have ended.
  EXPECT_EQ(report_of(0, kAllReduce).verdict, "stuck-kernel");
  EXPECT_THAT(report_of(0, kAllReduce).headline, HasSubstr("fill on stream"));
  EXPECT_THAT(report_of(0, kAllReduce).headline, HasSubstr("or what waits for it does not end"));
  EXPECT_THAT(report_of(1'000, "other").headline, HasSubstr("or what waits for it does not end"));
}

TEST(ExplainHang, ForgetsASampleOnceTheProgramContinues) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.memory_wait(0x10, 1, kNotYet, kNotYet);
  sample(builder, 0);
  builder.at(kLook + 10);
  left.memory_write(0x20, 1, kNotYet, kNotYet);
  EXPECT_EQ(explain_process(builder).verdict, "idle");
}

TEST(ExplainHangs, AStoredTextHasNoTerminalControls) {
  TraceBuilder builder;
  builder.add(trace::Hang{.process_id = 0,
                          .start_ns = kLook,
                          .verdict_id = builder.intern("dead\x1block"),
                          .text_id = builder.intern("\x1b[31mthread 1\nwaits")});
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const std::vector<trace::HangReport> reports = explain_hangs(analyses);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].verdict.find('\x1b'), std::string::npos);
  EXPECT_EQ(reports[0].text.find('\x1b'), std::string::npos);
  EXPECT_THAT(reports[0].text, HasSubstr("thread 1\nwaits"));
}

}  // namespace
}  // namespace streamscope::analysis
