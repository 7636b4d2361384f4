// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The detectors SS2xx: each with a trace in which it finds a planted problem, and a similar one in
// which it stays silent. Times in µs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/delay/recorder_cost.h"
#include "iteration_program.h"
#include "run_detector.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

using test::StreamBuilder;
using test::TraceBuilder;
using testing::HasSubstr;

void kernel(StreamBuilder stream, Ns call_us, Ns start_us, Ns end_us) {
  stream.at(call_us * kUs).kernel("k", start_us * kUs, end_us * kUs);
}

TEST(RedundantHostSync, FindsASecondSyncWithNothingNew) {
  TraceBuilder builder;
  kernel(builder.stream("a"), 0, 5, 50);
  builder.stream("a").synchronize(10 * kUs, 55 * kUs);
  builder.range("step", 55 * kUs, 90 * kUs);
  builder.synchronize_device(60 * kUs, 70 * kUs);
  kernel(builder.stream("a"), 80, 85, 100);
  const Verdict verdict = run("redundant-host-sync", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.host_sync, 1u);
  EXPECT_THAT(finding.title, HasSubstr("cudaDeviceSynchronize"));
  EXPECT_THAT(finding.text, HasSubstr("cudaStreamSynchronize returned 5.00 µs earlier"));
  EXPECT_THAT(finding.text, HasSubstr("on thread main, in step"));
  EXPECT_EQ(finding.gain_ns, 10 * kUs - kRecorderInsideNs);
}

TEST(RedundantHostSync, IsSilentIfEachSyncIsNeededOrNothingFollows) {
  TraceBuilder builder;
  builder.synchronize_device(0, 1 * kUs);  // before any work
  for (int i = 0; i < 3; ++i) {
    kernel(builder.stream("a"), 100 * i + 10, 100 * i + 15, 100 * i + 50);
    builder.stream("a").synchronize((100 * i + 20) * kUs, (100 * i + 55) * kUs);
  }
  builder.synchronize_device(400 * kUs, 401 * kUs);  // a last query
  EXPECT_EQ(run("redundant-host-sync", builder).outcome, Outcome::kClean);
}

TEST(RedundantHostSync, IsSilentIfNobodyKnowsWhichStreamTheCallWaitsFor) {
  TraceBuilder builder;
  kernel(builder.stream("a"), 0, 5, 50);
  builder.stream("a").synchronize(10 * kUs, 55 * kUs);
  builder.stream("b").synchronize(60 * kUs, 70 * kUs);
  kernel(builder.stream("a"), 80, 85, 100);
  trace::Trace trace = builder.trace();
  EXPECT_EQ(run("redundant-host-sync", trace).findings.size(), 1u);
  trace.host_sync.stream_id[1] = trace::kNoId;
  EXPECT_EQ(run("redundant-host-sync", trace).outcome, Outcome::kClean);
}

TEST(RedundantHostSync, IsSilentIfATimeMayBeReadNext) {
  enum Flags : trace::Small { kNone = 0, kNoTiming = 2 };
  const auto outcome = [](Flags flags, bool imported, bool reads_time, bool is_old = false) {
    TraceBuilder builder;
    kernel(builder.stream("a"), 0, 5, 50);
    if (is_old) builder.stream("a").at(8 * kUs).record("end");
    builder.stream("a").synchronize(10 * kUs, 55 * kUs);
    if (!is_old) builder.stream("a").at(57 * kUs).record("end");
    builder.synchronize_event("end", 60 * kUs, 70 * kUs);
    if (reads_time) {
      builder.at(72 * kUs).malloc(0x1000, 64);
      builder.columns().api_call.kind.back() =
          static_cast<trace::Small>(CallKind::kEventElapsedTime);
    }
    kernel(builder.stream("a"), 80, 85, 100);
    builder.columns().event.flags[0] = flags;
    if (imported) builder.meta("imported_from", "nsys 2026.1");
    return run("redundant-host-sync", builder).outcome;
  };
  EXPECT_EQ(outcome(kNone, false, true), Outcome::kClean);
  EXPECT_EQ(outcome(kNone, true, false), Outcome::kClean) << "nsys leaves that call out";
  EXPECT_EQ(outcome(kNone, false, false), Outcome::kFound);
  EXPECT_EQ(outcome(kNoTiming, true, false), Outcome::kFound);
  EXPECT_EQ(outcome(kNone, true, true, true), Outcome::kFound) << "complete before";
}

// Kernel on a, sync, kernel on b, five times.
TraceBuilder alternating(bool copies_back) {
  TraceBuilder builder;
  for (int i = 0; i < 5; ++i) {
    const Ns t = 200 * i;
    kernel(builder.stream("a"), t, t + 5, t + 90);
    if (copies_back) builder.stream("a").memcpy(test::kDtoH, (t + 91) * kUs, (t + 93) * kUs);
    builder.synchronize_device((t + 10) * kUs, (t + 97) * kUs);
    kernel(builder.stream("b"), t + 100, t + 105, t + 190);
  }
  builder.synchronize_device(1000 * kUs, 1001 * kUs);
  return builder;
}

TEST(OverBroadSync, FindsAHostThatWaitsInsteadOfTheDevice) {
  const Verdict verdict = run("over-broad-sync", alternating(false));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.count, 5u);
  EXPECT_THAT(finding.title, HasSubstr("the whole device"));
  EXPECT_THAT(finding.text, HasSubstr("k on stream"));
  EXPECT_NE(finding.first_op, kNoId);
  EXPECT_NE(finding.second_op, kNoId);
  // Each kernel of b after one of a, but nothing orders the next one of a after it: the host runs
  // ahead, and the two streams overlap.
  ASSERT_TRUE(finding.gain_ns.has_value());
  EXPECT_GT(*finding.gain_ns, 300 * kUs);
  EXPECT_LT(*finding.gain_ns, 500 * kUs);
}

TEST(OverBroadSync, SaysWhenTheHostMayReadMemoryOfKernels) {
  const auto text_with = [](std::initializer_list<const char*> allocations) {
    TraceBuilder builder = alternating(false);
    for (const char* name : allocations) {
      builder.at(0).malloc(0x1000, 64);
      builder.columns().api_call.name_id.back() = builder.intern(name);
    }
    return run("over-broad-sync", builder).findings.at(0).text;
  };
  EXPECT_THAT(text_with({}), testing::Not(HasSubstr("unless")));
  EXPECT_THAT(text_with({"cudaMalloc"}), testing::Not(HasSubstr("unless")));
  EXPECT_THAT(text_with({"cudaMallocManaged"}),
              HasSubstr(", unless the host reads managed memory that this work writes."));
  EXPECT_THAT(text_with({"cuMemHostAlloc", "cudaMalloc"}), HasSubstr("reads page-locked memory"));
  EXPECT_THAT(text_with({"cudaMallocHost", "cuMemAllocManaged"}),
              HasSubstr("reads managed or page-locked memory"));
}

TEST(OverBroadSync, IsSilentIfATimeMayBeReadNext) {
  TraceBuilder builder;
  for (int i = 0; i < 5; ++i) {
    const Ns t = 200 * i;
    kernel(builder.stream("a"), t, t + 5, t + 90);
    builder.stream("a").at((t + 6) * kUs).record("end");
    builder.synchronize_event("end", (t + 10) * kUs, (t + 97) * kUs);
    kernel(builder.stream("a"), t + 100, t + 105, t + 190);
  }
  builder.meta("imported_from", "nsys 2026.1");
  builder.columns().event.flags[0] = 2;  // no timing
  EXPECT_EQ(run("over-broad-sync", builder).outcome, Outcome::kFound);
  builder.columns().event.flags[0] = trace::kNoSmall;
  EXPECT_EQ(run("over-broad-sync", builder).outcome, Outcome::kClean);
}

TEST(OverBroadSync, IsSilentIfPagesMoveToTheHostBeforeItGoesOn) {
  const auto with_pages = [](CopyKind kind) {
    TraceBuilder builder = alternating(false);
    for (int i = 0; i < 5; ++i) {
      const Ns t = (200 * i + 98) * kUs;
      builder.stream("pages").memcpy(static_cast<test::CopyKind>(kind), t, t + kUs);
      builder.columns().op.api_call_id.back() = kNoId;
    }
    return run("over-broad-sync", builder);
  };
  EXPECT_EQ(with_pages(CopyKind::kPagesToHost).outcome, Outcome::kClean);
  const Verdict verdict = with_pages(CopyKind::kPagesToDevice);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].text, HasSubstr(", unless the host reads managed memory"));
}

TEST(OverBroadSync, IsSilentIfTheHostNeedsAllOfIt) {
  EXPECT_EQ(run("over-broad-sync", alternating(true)).outcome, Outcome::kClean);
}

TEST(OverBroadSync, NamesTheCopyIfTheHostNeedsOnlyThat) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) {
    const Ns t = 200 * i;
    builder.stream("copies").at(t * kUs).memcpy(test::kDtoH, (t + 5) * kUs, (t + 10) * kUs);
    kernel(builder.stream("a"), t + 1, t + 6, t + 90);
    builder.synchronize_device((t + 10) * kUs, (t + 95) * kUs);
    kernel(builder.stream("b"), t + 100, t + 105, t + 190);
    builder.stream("b").synchronize((t + 101) * kUs, (t + 195) * kUs);
  }
  const Verdict verdict = run("over-broad-sync", builder);
  ASSERT_GE(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("only memcpy DtoH on stream"));
}

// Two blocking streams, with a memset on another stream after each kernel.
TraceBuilder barriers(trace::StreamKind kind) {
  TraceBuilder builder;
  const bool serial = kind == trace::kLegacyStream;
  const auto clear = [&](Ns call_us, Ns start_us) {
    builder.stream("default", kind).at(call_us * kUs).memset(start_us * kUs, (start_us + 4) * kUs);
  };
  for (int i = 0; i < 4; ++i) {
    const Ns t = i * (serial ? 200 : 100), second = t + (serial ? 106 : 6);
    kernel(builder.stream("b1", trace::kBlockingStream), 10 * i + 1, t + 6, t + 98);
    clear(10 * i + 3, serial ? t + 100 : t + 8);
    kernel(builder.stream("b2", trace::kBlockingStream), 10 * i + 5, second, second + 92);
    clear(10 * i + 7, serial ? t + 200 : t + 13);
  }
  return builder;
}

TEST(LegacyStreamBarrier, FindsStreamsThatTheDefaultStreamSerializes) {
  const Verdict verdict = run("legacy-stream-barrier", barriers(trace::kLegacyStream));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("memset on the default stream is a barrier"));
  EXPECT_GT(verdict.findings[0].gain_ns.value_or(0), 200 * kUs);
}

TEST(LegacyStreamBarrier, IsSilentForWorkOnItsOwnStream) {
  EXPECT_EQ(run("legacy-stream-barrier", barriers(trace::kNonBlockingStream)).outcome,
            Outcome::kClean);
}

TraceBuilder uploads(bool pageable) {
  TraceBuilder builder;
  builder.stream("a").memcpy(test::kHtoD, 10 * kUs, 30 * kUs, 1 << 20);  // page-locked
  for (int i = 0; i < 3; ++i) {
    const Ns t = 300 * i + 100;
    builder.stream("copies").at(t * kUs).memcpy(test::kHtoD, (t + 5) * kUs, (t + 105) * kUs,
                                                1 << 20);
    if (pageable) {
      auto& columns = builder.columns();
      const Id op = builder.stream("copies").last_op();
      columns.op.memory_kinds[op] = 0x13;
      columns.api_call.end_ns[columns.op.api_call_id[op]] = (t + 110) * kUs;
    }
    kernel(builder.stream("a"), t + (pageable ? 120 : 2), t + (pageable ? 125 : 7), t + 250);
  }
  return builder;
}

TEST(PageableCopy, FindsCopiesThatBlockTheHost) {
  const Verdict verdict = run("pageable-copy", uploads(true));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 3u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("from pageable memory"));
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("3 MiB"));
  EXPECT_GT(verdict.findings[0].gain_ns.value_or(0), 250 * kUs);  // 3 × 109 µs
}

TEST(PageableCopy, IsSilentForPageLockedMemory) {
  EXPECT_EQ(run("pageable-copy", uploads(false)).outcome, Outcome::kClean);
}

SteppedProgram blocking_uploads(const std::set<int>& not_in = {},
                                trace::Small memory_kinds = 0x13) {
  SteppedProgram program;
  program.steps(30, [&](int step) {
    if (!not_in.contains(step)) {
      program.copy_pageable(80, 250, 4 << 20);
      program.builder.columns().op.memory_kinds[program.builder.stream("main").last_op()] =
          memory_kinds;
    }
    program.launch(5, 50);
    program.synchronize();
  });
  return program;
}

TEST(PageableCopy, FindsBlockingCopiesOfEachIteration) {
  const Finding finding = only("pageable-copy", blocking_uploads());
  EXPECT_EQ(finding.count, 30u);
  EXPECT_THAT(finding.title, HasSubstr("each iteration waits for copies from pageable memory"));
  // Before: the kernel follows the copy. After: nothing is staged, so the copy of 76 µs (55 GB/s)
  // starts 5 µs after its call, and the kernel is launched when that has returned.
  expect_iteration(finding, (80 + 250 + 50 + 2) * kUs + 1'500,
                   5 * kUs + 76'260 + 1'300 + (5 + 50 + 2) * kUs, 30);
}

TEST(PageableCopy, IsSilentForBlockingCopiesOfAFewIterationsAndOfPageLockedMemory) {
  std::set<int> most;
  for (int step = 0; step < 30; ++step) {
    if (step != 4 && step != 13) most.insert(step);
  }
  expect_silent("pageable-copy", blocking_uploads(most));
  expect_silent("pageable-copy", blocking_uploads({}, 0x23));
}

// Stream b's kernels start only when a's have ended; `channel` as the device reports it.
TraceBuilder serial_streams(int cases, trace::Small channel, bool by_event) {
  TraceBuilder builder;
  for (int i = 0; i < cases; ++i) {
    const Ns t = 300 * i;
    kernel(builder.stream("a"), t, t + 6, t + 100);
    builder.columns().op.channel[builder.stream("a").last_op()] = channel;
    if (by_event) {
      builder.stream("a").record("e");
      builder.stream("b").wait("e");
    }
    // A hardware queue issues the next item when it has issued the one before, or that one ended.
    kernel(builder.stream("b"), t + 3, t + 102, t + 200);
    builder.columns().op.channel[builder.stream("b").last_op()] = channel;
  }
  return builder;
}

TEST(FalseSerialization, FindsStreamsThatNeverOverlapForNoReason) {
  const Verdict verdict = run("false-serialization", serial_streams(4, trace::kNoSmall, false));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 4u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("run one after the other"));
  EXPECT_GT(verdict.findings[0].gain_ns.value_or(0), 0);
}

TEST(FalseSerialization, IsSilentIfAnEventOrdersThemOrTooFewCasesShowIt) {
  EXPECT_EQ(run("false-serialization", serial_streams(4, trace::kNoSmall, true)).outcome,
            Outcome::kClean);
  EXPECT_EQ(run("false-serialization", serial_streams(2, trace::kNoSmall, false)).outcome,
            Outcome::kClean);
}

// `waiting` streams wait for a long kernel with work behind; a free stream is given a kernel.
TraceBuilder crowd(int waiting, bool stalls) {
  TraceBuilder builder;
  builder.columns().device.max_connections[0] = 8;
  kernel(builder.stream("gate"), 0, 6, 500);
  builder.stream("gate").record("open");
  for (int i = 0; i < waiting; ++i) {
    StreamBuilder stream = builder.stream("waiting" + std::to_string(i));
    stream.wait("open");
    kernel(stream, 10 + i, 502, 520);
    builder.columns().op.channel[stream.last_op()] = static_cast<trace::Small>(i % 8);
  }
  kernel(builder.stream("free"), 40, stalls ? 504 : 46, stalls ? 600 : 140);
  builder.columns().op.channel[builder.stream("free").last_op()] = 3;
  return builder;
}

TEST(ConnectionsExhausted, FindsAStalledStreamAndItsQueue) {
  const Verdict verdict = run("connections-exhausted", crowd(8, true));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("8 streams are blocked"));
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("8 hardware queues"));
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("CUDA_DEVICE_MAX_CONNECTIONS"));
  EXPECT_EQ(run("false-serialization", crowd(8, true)).outcome, Outcome::kClean);
}

TEST(ConnectionsExhausted, IsSilentWithQueuesToSpareOrNobodyStalled) {
  EXPECT_EQ(run("connections-exhausted", crowd(8, false)).outcome, Outcome::kClean);
  EXPECT_EQ(run("connections-exhausted", crowd(4, true)).outcome, Outcome::kClean);
}

TEST(PollStorm, FindsALoopOfQueries) {
  TraceBuilder builder;
  kernel(builder.stream("a"), 0, 5, 500);
  builder.stream("a").record("e");
  for (int i = 0; i < 100; ++i) builder.query_event("e", i == 99);
  const Verdict verdict = run("poll-storm", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 99u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("cudaEventQuery returned not-ready 99 times"));
}

TEST(PollStorm, CountsPollsNotRows) {
  TraceBuilder builder;
  kernel(builder.stream("a"), 0, 5, 500);
  builder.stream("a").record("e");
  builder.poll_event("e", 90).query_event("e", false).query_event("e", true);
  const Verdict verdict = run("poll-storm", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 91u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("cudaEventQuery returned not-ready 91 times"));
}

TEST(PollStorm, FindsASyncAfterEveryOp) {
  TraceBuilder builder;
  for (int i = 0; i < 40; ++i) {
    kernel(builder.stream("a"), 20 * i, 20 * i + 5, 20 * i + 10);
    builder.stream("a").synchronize((20 * i + 6) * kUs, (20 * i + 14) * kUs);
  }
  const Verdict verdict = run("poll-storm", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("cudaStreamSynchronize after every op"));
}

TEST(PollStorm, IsSilentForFewQueriesAndMuchWork) {
  TraceBuilder builder;
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 3; ++k)
      kernel(builder.stream("a"), 40 * i + k, 40 * i + 5 + 6 * k, 40 * i + 10 + 6 * k);
    builder.stream("a").record("e");
    builder.query_event("e", false).query_event("e", true);
    builder.stream("a").synchronize((40 * i + 6) * kUs, (40 * i + 24) * kUs);
  }
  EXPECT_EQ(run("poll-storm", builder).outcome, Outcome::kClean);
}

// An event for each of 20 kernels.
TraceBuilder events(bool destroyed, bool before_the_work) {
  TraceBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const Id event = builder.event("e" + std::to_string(i));
    builder.columns().event.created_ns[event] = before_the_work ? 0 : (10 * i + 2) * kUs;
    if (destroyed) builder.columns().event.destroyed_ns[event] = (10 * i + 8) * kUs;
    kernel(builder.stream("a"), 10 * i + 1, 10 * i + 6, 10 * i + 9);
    builder.stream("a").record("e" + std::to_string(i));
  }
  return builder;
}

TEST(ChurnAndLeak, DistinguishesChurnFromLeaksOfEvents) {
  const Verdict churn = run("churn-and-leak", events(true, false));
  ASSERT_EQ(churn.findings.size(), 1u);
  EXPECT_THAT(churn.findings[0].title, HasSubstr("created again"));
  const Verdict leak = run("churn-and-leak", events(false, false));
  ASSERT_EQ(leak.findings.size(), 1u);
  EXPECT_THAT(leak.findings[0].title, HasSubstr("never destroyed"));
  EXPECT_EQ(leak.findings[0].count, 20u);
}

TEST(ChurnAndLeak, CountsNoTimeOfACallThatBeganAtAnUnknownTime) {
  constexpr trace::Small kEventCreate = 7;
  TraceBuilder builder = events(true, false);
  builder.add(trace::ApiCall{
      .thread_id = 0, .kind = kEventCreate, .start_ns = 30 * kUs, .end_ns = 33 * kUs});
  builder.add(trace::ApiCall{
      .thread_id = 0, .kind = kEventCreate, .start_ns = trace::kUnknownNs, .end_ns = 50 * kUs});
  const Verdict verdict = run("churn-and-leak", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("creating and destroying took 3"));
}

TEST(ChurnAndLeak, IsSilentForEventsCreatedInAdvance) {
  EXPECT_EQ(run("churn-and-leak", events(false, true)).outcome, Outcome::kClean);
}

TEST(OrphanRecord, FindsRecordsThatNobodyUses) {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    kernel(builder.stream("a"), 10 * i, 10 * i + 5, 10 * i + 9);
    builder.stream("a").record("e");
  }
  const Verdict verdict = run("orphan-record", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 3u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("but never used"));
  EXPECT_EQ(verdict.findings[0].first_op, 0u);
  builder.meta("imported_from", "nsys 2026.1");
  builder.columns().event.flags[0] = 2;
  EXPECT_EQ(run("orphan-record", builder).outcome, Outcome::kFound);
  builder.columns().event.flags[0] = trace::kNoSmall;
  EXPECT_EQ(run("orphan-record", builder).outcome, Outcome::kClean) << "a time may be read";
}

TEST(OrphanRecord, IsSilentIfOnlyTheLastRecordIsNotAwaited) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) {
    kernel(builder.stream("a"), 10 * i, 10 * i + 5, 10 * i + 9);
    builder.stream("a").record("e");
    if (i < 3) builder.stream("b").wait("e");
  }
  EXPECT_EQ(run("orphan-record", builder).outcome, Outcome::kClean);
}

// An urgent kernel needs one that is queued behind two kernels that fill the device, one of which
// has not started when it is ready.
TraceBuilder inversion(trace::Small blocker_priority) {
  TraceBuilder builder;
  auto& columns = builder.columns();
  const Id full = builder.add(trace::LaunchShape{
      .grid_x = 132 * 16, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1});
  for (Ns i : {0, 1}) {
    StreamBuilder hog = builder.stream("hog" + std::to_string(i));
    kernel(hog, i, 200 * i + 6, 200 * i + 200);
    columns.op.launch_shape_id[hog.last_op()] = full;
  }
  kernel(builder.stream("blocker"), 10, 402, 420);
  columns.op.launch_shape_id[builder.stream("blocker").last_op()] = full;
  builder.stream("blocker").record("e");
  builder.stream("urgent").wait("e");
  kernel(builder.stream("urgent"), 15, 422, 900);
  columns.stream.priority[builder.stream("blocker").id()] = blocker_priority;
  columns.stream.priority[builder.stream("urgent").id()] = -5;
  return builder;
}

TEST(PriorityInversion, FindsUrgentWorkBehindABlockerThatIsNotUrgent) {
  const Verdict verdict = run("priority-inversion", inversion(0));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("priority -5"));
  EXPECT_GT(verdict.findings[0].gain_ns.value_or(0), 150 * kUs);
  EXPECT_LT(verdict.findings[0].gain_ns.value_or(0), 250 * kUs);  // the first hog has not ended
}

TEST(PriorityInversion, IsSilentIfTheBlockerIsAsUrgent) {
  EXPECT_EQ(run("priority-inversion", inversion(-5)).outcome, Outcome::kClean);
}

// Kernels with a record after each; stamps make the next start late.
TraceBuilder recorded(bool timed) {
  TraceBuilder builder;
  Ns free = 5;
  for (int i = 0; i < 20; ++i) {
    kernel(builder.stream("a"), i, free, free + 3);
    builder.stream("a").record("e");
    free += 3 + (timed ? 5 : 2);
  }
  builder.columns().event.flags[builder.event("e")] = timed ? 0 : 2;
  return builder;
}

TEST(TimedEventCost, FindsRecordsThatDelayTheDevice) {
  const Verdict verdict = run("timed-event-cost", recorded(true));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 20u);
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("cudaEventDisableTiming"));
  EXPECT_EQ(verdict.findings[0].gain_ns, 19 * 1'950) << "each keeps its stream busy";
}

TEST(TimedEventCost, IsSilentForEventsWithoutTiming) {
  EXPECT_EQ(run("timed-event-cost", recorded(false)).outcome, Outcome::kClean);
}

TEST(Replay, WithoutAChangeEqualsTheRecording) {
  for (const TraceBuilder& builder :
       {alternating(true), barriers(trace::kLegacyStream), uploads(true), crowd(8, true)}) {
    const Trace trace = builder.trace();
    const IssueOrder order(trace);
    const Replay replay(order);
    EXPECT_GT(replay.recorded_ns(), 0);
    EXPECT_EQ(replay.gain_ns({}), 0);
  }
}

// A host that repeatedly launches a kernel and waits for it.
Trace launches_and_waits(trace::ProcessClock clock) {
  TraceBuilder builder;
  builder.columns().process.clock[0] = clock;
  for (Ns at = 0; at < 100; at += 20) {
    kernel(builder.stream("a"), at, at + 6, at + 14);
    builder.stream("a").synchronize((at + 2) * kUs, (at + 16) * kUs);
  }
  return builder.trace();
}

TEST(Replay, SubtractsTheRecordersShareFromBothSidesOnARealClockOnly) {
  for (const auto clock : {trace::kMonotonicClock, trace::kVirtualClock}) {
    const Trace trace = launches_and_waits(clock);
    const IssueOrder order(trace);
    const Replay replay(order);
    EXPECT_EQ(replay.gain_ns({}), 0);
    Change change;
    for (Id sync = 0; sync + 1 < trace.host_sync.size(); ++sync) change.without_sync.add(sync);
    // Per round: launch at 0, start at 6, end at 14, the host continues at 20. Without the waits
    // the kernels follow each other; what delayed the start of each launch is no longer waited for.
    const Ns gain = replay.gain_ns(change);
    if (clock == trace::kVirtualClock) {
      EXPECT_GT(gain, 30 * kUs);
      EXPECT_EQ(replay.recorded_ns(), 96 * kUs);
      continue;
    }
    const Trace unrecorded = launches_and_waits(trace::kVirtualClock);
    const IssueOrder same(unrecorded);
    const Ns less = Replay(same).gain_ns(change) - gain;
    EXPECT_GT(less, 4 * (kRecorderIssueNs + kRecorderBetweenNs)) << "four rounds were bound by it";
    EXPECT_LT(less, 4 * (kRecorderIssueNs + 3 * kRecorderBetweenNs + 3 * kRecorderInsideNs));
  }
}

TEST(Replay, MergesThePiecesOfARecordedPageableCopy) {
  TraceBuilder builder;
  builder.stream("a").memcpy(test::kDtoH, 10 * kUs, 110 * kUs, 1 << 20);
  builder.columns().op.memory_kinds[0] = 0x31;  // device to pageable
  builder.at(120 * kUs).stream("a").kernel("k", 130 * kUs, 140 * kUs);
  const Trace trace = builder.trace();
  const IssueOrder order(trace);
  Change change;
  change.length_ns[0] = 80 * kUs;
  // 100 µs recorded are 80 without the recorder: nothing to gain.
  EXPECT_EQ(Replay(order).gain_ns(change), 0);
}

}  // namespace
}  // namespace streamscope::analysis
