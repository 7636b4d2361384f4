// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors of events and streams that do not do what was intended: SS006, SS008 and SS009.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::StreamBuilder;
using test::TraceBuilder;
using testing::HasSubstr;

enum class Between { kNothing, kWait, kSync, kOrder };

// "done" is recorded on two streams in a row; "main" waits for it afterwards.
TraceBuilder one_event_for_two(Between between) {
  TraceBuilder builder;
  StreamBuilder a = builder.stream("a"), b = builder.stream("b"), main = builder.stream("main");
  a.kernel("produce_a", 10, 20).record("done");
  if (between == Between::kWait) main.wait("done");
  if (between == Between::kSync) builder.synchronize_event("done", 20, 21);
  if (between == Between::kOrder) {
    a.record("a to b");
    b.wait("a to b");
  }
  b.kernel("produce_b", 30, 40).record("done");
  main.wait("done").kernel("consume", 50, 60);
  return builder;
}

TEST(RecordOverwritten, NamesTheWorkThatNobodyWaitsFor) {
  const Trace trace = one_event_for_two(Between::kNothing).trace();
  const Verdict verdict = run("record-overwritten", trace);
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.event_record, 0u);
  EXPECT_EQ(finding.event_wait, 0u);
  EXPECT_THAT(finding.text, HasSubstr("produce_a on stream 7 a before consume on stream 9 main"));
}

TEST(RecordOverwritten, StaysSilentIfTheFirstRecordWasUsedOrOrderedAnyway) {
  for (Between between : {Between::kWait, Between::kSync, Between::kOrder}) {
    EXPECT_EQ(run("record-overwritten", one_event_for_two(between).trace()).outcome,
              Outcome::kClean);
  }
  // The next iteration of a loop overwrites the record of the previous one on the same stream.
  TraceBuilder loop;
  for (int i = 0; i < 3; ++i) loop.stream("a").kernel("k", 10, 20).record("done");
  loop.stream("b").wait("done").kernel("k", 30, 40);
  EXPECT_EQ(run("record-overwritten", loop.trace()).outcome, Outcome::kClean);
}

TEST(RecordOverwritten, StaysSilentForEventsWithTiming) {
  TraceBuilder builder = one_event_for_two(Between::kNothing);
  builder.columns().event.flags.assign(builder.columns().event.size(), 0);
  EXPECT_EQ(run("record-overwritten", builder.trace()).outcome, Outcome::kClean);
}

TEST(RacyBinding, NamesTheThreadsWhoseCallsOverlap) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 10, 20).record("ready").record("ready");
  builder.thread("waiter").stream("b").wait("ready").kernel("k", 30, 40);
  EXPECT_EQ(run("racy-binding", builder.trace()).outcome, Outcome::kClean);
  builder.columns().event_wait.binding[0] = trace::kAmbiguous;
  builder.columns().event_wait.record_id[0] = kNoId;
  for (Id record : {0u, 1u})
    builder.add(trace::EventWaitCandidate{.event_wait_id = 0, .event_record_id = record});
  const Verdict verdict = run("racy-binding", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  EXPECT_EQ(verdict.findings[0].event_wait, 0u);
  EXPECT_NE(verdict.findings[0].event_record, kNoId);
  EXPECT_EQ(verdict.findings[0].place.thread, "waiter");
}

// A stream and an event that live until `destroyed_ns`; their last use is the wait at 3.
TraceBuilder destroyed(Ns stream_ns, Ns event_ns) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 10, 20).record("done");
  builder.stream("b").wait("done");
  builder.columns().stream.destroyed_ns[1] = stream_ns;
  builder.columns().event.destroyed_ns[0] = event_ns;
  return builder;
}

TEST(DestroyedInUse, NamesUsesAfterTheDestruction) {
  const Verdict stream = run("destroyed-in-use", destroyed(2, 10).trace());
  ASSERT_EQ(stream.findings.size(), 1u);
  EXPECT_EQ(stream.findings[0].title, "cudaStreamWaitEvent uses stream 8 b after its destruction");
  const Verdict event = run("destroyed-in-use", destroyed(10, 2).trace());
  ASSERT_EQ(event.findings.size(), 1u);
  EXPECT_EQ(event.findings[0].title,
            "cudaStreamWaitEvent uses event \"done\" after its destruction");
}

TEST(DestroyedInUse, NamesADestructionThatOverlapsAUseByAnotherThread) {
  for (const char* thread : {"main", "cleaner"}) {
    TraceBuilder builder = destroyed(kUnknownNs, 5);
    builder.thread(thread);
    builder.add(trace::ApiCall{.thread_id = builder.columns().thread.size() > 1 ? Id{1} : Id{0},
                               .kind = 8,
                               .name_id = builder.intern("cudaEventDestroy"),
                               .start_ns = 2,
                               .end_ns = 5,
                               .result = 0});
    EXPECT_EQ(run("destroyed-in-use", builder.trace()).outcome,
              thread == std::string("main") ? Outcome::kClean : Outcome::kFound)
        << "one thread makes one call at a time, whatever a clock says";
  }
}

TEST(DestroyedInUse, StaysSilentWhenAllUsesCameBeforeAndForUnknownPasts) {
  EXPECT_EQ(run("destroyed-in-use", destroyed(10, 10).trace()).outcome, Outcome::kClean);
  TraceBuilder unknown = destroyed(2, 2);
  unknown.columns().stream.created_ns.assign(2, kUnknownNs);
  unknown.columns().event.created_ns.assign(1, kUnknownNs);
  EXPECT_EQ(run("destroyed-in-use", unknown.trace()).outcome, Outcome::kClean);
}

}  // namespace
}  // namespace streamscope::analysis
