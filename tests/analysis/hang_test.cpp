// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors of programs that hang: SS101 to SS104 and SS107.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hang_times.h"
#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::StreamBuilder;
using test::TraceBuilder;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Ns kSecond = 1'000'000'000;

// The program was killed after ten seconds.
TraceBuilder& killed(TraceBuilder& builder, Ns at = 10 * kSecond) {
  builder.columns().process.end_ns[0] = at;
  builder.columns().process.complete[0] = 0;
  return builder;
}

// Each stream waits for the other's write; `crossed`: the write is behind the wait.
TraceBuilder two_signals(bool crossed, bool returns = false) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left"), right = builder.stream("right");
  if (!crossed) left.memory_write(0x10, 1, kNotYet, kNotYet);
  left.memory_wait(0x20, 1, kNotYet, kNotYet).kernel("l", kNotYet, kNotYet);
  if (crossed) left.memory_write(0x10, 1, kNotYet, kNotYet);
  right.memory_wait(0x10, 1, kNotYet, kNotYet).kernel("r", kNotYet, kNotYet);
  right.memory_write(0x20, 1, kNotYet, kNotYet);
  left.synchronize(50, returns ? 100 : kNotYet);
  return killed(builder);
}

TEST(DeadlockCycle, ReportsTheCycleOfMemoryWaits) {
  const Verdict verdict = run("deadlock-cycle", two_signals(true).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_EQ(finding.title, "stream 7 left and stream 8 right wait for each other");
  EXPECT_THAT(finding.text, AllOf(HasSubstr("memory write on stream 8 right"),
                                  HasSubstr("is queued behind memory wait on stream 8 right"),
                                  HasSubstr("memory write on stream 7 left"),
                                  HasSubstr("is queued behind the first")));
  EXPECT_NE(finding.first_op, kNoId);
  EXPECT_NE(finding.second_op, kNoId);
}

TEST(DeadlockCycle, StaysSilentWhenAWriteComesFirstOrTheCallReturned) {
  EXPECT_EQ(run("deadlock-cycle", two_signals(false).trace()).outcome, Outcome::kClean);
  EXPECT_EQ(run("deadlock-cycle", two_signals(true, true).trace()).outcome, Outcome::kClean);
}

TEST(DeadlockCycle, NeedsACallThatWaitedLongEnough) {
  TraceBuilder builder = two_signals(true);
  killed(builder, kSecond / 2);
  EXPECT_EQ(run("deadlock-cycle", builder.trace()).outcome, Outcome::kClean);
}

TEST(DeadlockCycle, TrustsTheSimulatedDeviceAtOnce) {
  TraceBuilder builder = two_signals(true);
  killed(builder, 200);
  builder.columns().process.clock[0] = trace::kVirtualClock;
  builder.columns().host_sync.end_ns[0] = 100;
  builder.columns().host_sync.result[0] = 999;
  EXPECT_EQ(run("deadlock-cycle", builder.trace()).outcome, Outcome::kFound);
}

TEST(DeadlockCycle, FollowsEventsAndTheLegacyStream) {
  TraceBuilder events;
  StreamBuilder a = events.stream("a"), b = events.stream("b");
  a.memory_wait(0x10, 1, kNotYet, kNotYet).record("done");
  b.wait("done").memory_write(0x10, 1, kNotYet, kNotYet).synchronize(50, kNotYet);
  const Verdict through_event = run("deadlock-cycle", killed(events).trace());
  ASSERT_EQ(through_event.findings.size(), 1u);
  EXPECT_THAT(through_event.findings[0].text, HasSubstr("event \"done\""));

  TraceBuilder legacy;
  legacy.stream("blocking", trace::kBlockingStream).memory_wait(0x10, 1, kNotYet, kNotYet);
  legacy.stream("null", trace::kLegacyStream)
      .memory_write(0x10, 1, kNotYet, kNotYet)
      .synchronize(50, kNotYet);
  const Verdict through_legacy = run("deadlock-cycle", killed(legacy).trace());
  ASSERT_EQ(through_legacy.findings.size(), 1u);
  EXPECT_THAT(through_legacy.findings[0].text, HasSubstr("legacy-stream rule"));

  TraceBuilder apart;
  apart.stream("own", trace::kNonBlockingStream).memory_wait(0x10, 1, kNotYet, kNotYet);
  apart.stream("null", trace::kLegacyStream)
      .memory_write(0x10, 1, kNotYet, kNotYet)
      .synchronize(50, kNotYet);
  EXPECT_EQ(run("deadlock-cycle", killed(apart).trace()).outcome, Outcome::kClean);
}

TEST(LostSignal, BlocksABlockingStreamThroughTheLegacyStreamIfThereIsWorkOnIt) {
  for (const auto kind : {trace::kBlockingStream, trace::kNonBlockingStream}) {
    for (const bool idle : {true, false}) {
      TraceBuilder builder;
      builder.stream("null", trace::kLegacyStream).memory_wait(0x10, 1, kNotYet, kNotYet);
      StreamBuilder other = builder.stream("other", kind);
      if (!idle) other.kernel("k", kNotYet, kNotYet);
      other.synchronize(50, kNotYet);
      EXPECT_EQ(run("lost-signal", killed(builder).trace()).outcome,
                kind == trace::kBlockingStream && !idle ? Outcome::kFound : Outcome::kClean)
          << idle;
    }
  }
}

TEST(LostSignal, BlocksASynchronousCopyOnABlockingStream) {
  for (const auto kind : {trace::kBlockingStream, trace::kNonBlockingStream}) {
    for (const auto sync : {trace::kSynchronousCopy, trace::kStreamSynchronize}) {
      TraceBuilder builder;
      builder.stream("null", trace::kLegacyStream).memory_wait(0x10, 1, kNotYet, kNotYet);
      builder.add(trace::HostSync{.thread_id = 0,
                                  .kind = sync,
                                  .context_id = 0,
                                  .stream_id = builder.stream("other", kind).id(),
                                  .start_ns = 50});
      EXPECT_EQ(run("lost-signal", killed(builder).trace()).outcome,
                kind == trace::kBlockingStream && sync == trace::kSynchronousCopy
                    ? Outcome::kFound
                    : Outcome::kClean);
    }
  }
}

TEST(DeadlockCycle, KnowsTheThreadOfTheLastWrite) {
  TraceBuilder builder;
  StreamBuilder work = builder.stream("work"), signals = builder.stream("signals");
  signals.memory_write(0x10, 1, 1, 2);
  work.memory_wait(0x10, 1, 2, 3).kernel("first", 3, 4).synchronize(20, 30);
  work.memory_wait(0x10, 2, kNotYet, kNotYet).kernel("second", kNotYet, kNotYet);
  work.synchronize(50, kNotYet);  // before the write of 2
  const Verdict verdict = run("deadlock-cycle", killed(builder).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("thread main"));
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("last issued by cudaStreamSynchronize on"));
}

TEST(DeadlockCycle, DoesNotNeedDeviceTimes) {
  TraceBuilder builder = two_signals(true);
  builder.loss("times-not-delivered");
  EXPECT_EQ(run("deadlock-cycle", builder.trace()).findings.at(0).confidence, Confidence::kCertain);
}

TEST(LostSignal, NamesTheMemoryWaitThatNobodySignals) {
  TraceBuilder builder;
  StreamBuilder stream = builder.stream("a");
  stream.memory_wait(0x10, 3, kNotYet, kNotYet).kernel("k", kNotYet, kNotYet);
  builder.stream("b").memory_write(0x10, 2, 1, 2).memory_write(0x18, 3, 2, 3);
  // By another thread than the blocked one, so that no thread is known to write again.
  builder.thread("other");
  stream.synchronize(50, kNotYet);
  const Verdict verdict = run("lost-signal", killed(builder).trace());
  // 2 & 3 is not 0: under "and" the first write would do.
  EXPECT_EQ(verdict.outcome, Outcome::kClean);

  TraceBuilder lost;
  StreamBuilder waits = lost.stream("a");
  waits.memory_wait(0x10, 4, kNotYet, kNotYet).kernel("k", kNotYet, kNotYet);
  lost.stream("b").memory_write(0x10, 2, 1, 2).memory_write(0x18, 4, 2, 3);
  lost.thread("other");
  waits.synchronize(50, kNotYet);
  const Verdict found = run("lost-signal", killed(lost).trace());
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].first_op, 0u);
  EXPECT_THAT(found.findings[0].text, HasSubstr("needs 4 at 0x10"));
  EXPECT_THAT(run("deadlock-cycle", lost.trace()).findings, IsEmpty());
}

TEST(LostSignal, StaysSilentWhenAWriteIsPendingOrNothingIsBlocked) {
  for (const bool written : {true, false}) {
    TraceBuilder builder;
    StreamBuilder stream = builder.stream("a");
    stream.memory_wait(0x10, 1, kNotYet, kNotYet);
    StreamBuilder other = builder.stream("b");
    if (written) other.memory_write(0x10, 1, kNotYet, kNotYet);
    // Without the write the call waits for another stream.
    (written ? stream : other).kernel("k", kNotYet, kNotYet).synchronize(50, kNotYet);
    EXPECT_EQ(run("lost-signal", killed(builder).trace()).outcome, Outcome::kClean) << written;
  }
}

// A kernel that did not end, after `runs` runs of it that took a millisecond each.
TraceBuilder endless_kernel(int runs, Ns killed_at = 10 * kSecond) {
  TraceBuilder builder;
  StreamBuilder stream = builder.stream("math");
  for (Ns i = 0; i < runs; ++i) stream.kernel("spin", i * 2'000'000, i * 2'000'000 + 1'000'000);
  stream.kernel("spin", 100'000'000, kNotYet).kernel("behind", kNotYet, kNotYet);
  stream.synchronize(110'000'000, kNotYet);
  killed(builder, killed_at);
  return builder;
}

TEST(StuckKernel, NamesTheKernelThatAllWaitFor) {
  const Verdict verdict = run("stuck-kernel", endless_kernel(3).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].first_op, 3u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  EXPECT_THAT(verdict.findings[0].text, AllOf(HasSubstr("cudaStreamSynchronize on thread main"),
                                              HasSubstr("earlier runs took up to 1.00 ms")));
}

TEST(StuckKernel, IsOnlySuspectedWithoutEarlierRuns) {
  const Verdict verdict = run("stuck-kernel", endless_kernel(0).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kSuspected);
}

TEST(StuckKernel, FindsItBehindAnEvent) {
  TraceBuilder builder;
  builder.stream("math").kernel("spin", 1, 2).kernel("spin", 10, kNotYet).record("done");
  builder.stream("other").wait("done").kernel("after", kNotYet, kNotYet).synchronize(20, kNotYet);
  const Verdict verdict = run("stuck-kernel", killed(builder).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].first_op, 1u);
}

TEST(StuckKernel, StaysSilentForKernelsThatTakeLongAndForDeadlocks) {
  TraceBuilder slow;
  StreamBuilder stream = slow.stream("math");
  stream.kernel("long", 0, 3 * kSecond).kernel("long", 3 * kSecond, kNotYet);
  stream.synchronize(3 * kSecond, kNotYet);
  EXPECT_EQ(run("stuck-kernel", killed(slow, 5 * kSecond).trace()).outcome, Outcome::kClean);
  EXPECT_EQ(run("stuck-kernel", endless_kernel(3, kSecond / 2).trace()).outcome, Outcome::kClean);
  EXPECT_EQ(run("stuck-kernel", two_signals(true).trace()).outcome, Outcome::kClean);
}

TEST(HostFuncHazard, NamesTheFunctionThatDoesNotReturn) {
  TraceBuilder builder;
  StreamBuilder stream = builder.stream("a");
  stream.host_function(1, 2).host_function(10, kNotYet).kernel("k", kNotYet, kNotYet);
  stream.synchronize(20, kNotYet);
  const Verdict verdict = run("host-func-hazard", killed(builder).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].first_op, 1u);
  EXPECT_EQ(run("stuck-kernel", builder.trace()).outcome, Outcome::kClean);
}

TEST(HostFuncHazard, NamesACallThatCudaRefused) {
  TraceBuilder builder;
  builder.stream("a").host_function(1, 2);
  builder.thread("executor").stream("b").kernel("k", 3, 4);
  builder.columns().api_call.result[1] = 800;
  const Verdict verdict = run("host-func-hazard", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "a host function calls cudaLaunchKernel");
}

TEST(HostFuncHazard, StaysSilentWhenFunctionsReturn) {
  TraceBuilder builder;
  builder.stream("a").host_function(1, 2).kernel("k", 3, 4).synchronize(5, 6);
  EXPECT_EQ(run("host-func-hazard", builder.trace()).outcome, Outcome::kClean);
}

Id add_free(TraceBuilder& builder, Ns start, Ns end) {
  return builder.add(trace::ApiCall{.thread_id = 0,
                                    .kind = 25,
                                    .name_id = builder.intern("cudaFree"),
                                    .start_ns = start,
                                    .end_ns = end,
                                    .result = 0,
                                    .call_number = 900});
}

TEST(ImplicitSyncUnderSpin, NamesTheCallThatWaitsForTheDevice) {
  TraceBuilder builder;
  builder.stream("a").memory_wait(0x10, 1, kNotYet, kNotYet).kernel("k", kNotYet, kNotYet);
  add_free(builder, 50, kNotYet);
  const Verdict verdict = run("implicit-sync-under-spin", killed(builder).trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].first_op, 0u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("cudaFree while memory wait"));
}

TEST(ImplicitSyncUnderSpin, IsReportedForSimulatedRunsThatSucceeded) {
  for (const bool between : {true, false}) {
    TraceBuilder builder;
    builder.columns().process.clock[0] = trace::kVirtualClock;
    builder.stream("a").memory_wait(0x10, 1, 5, 80).kernel("k", 80, 90);
    if (between) add_free(builder, 50, 60);
    builder.at(70);
    builder.stream("b").memory_write(0x10, 1, 71, 72);
    builder.synchronize_device(75, 95);
    if (!between) add_free(builder, 96, 97);
    EXPECT_EQ(run("implicit-sync-under-spin", builder.trace()).outcome,
              between ? Outcome::kFound : Outcome::kClean);
  }
}

}  // namespace
}  // namespace streamscope::analysis
