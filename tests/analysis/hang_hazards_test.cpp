// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors of what makes programs hang: SS105, SS106, SS108 and SS109.

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

// The sample of a thread five seconds after the start.
void lock_sample(TraceBuilder& builder, Id thread, Id lock_owner = kNoId) {
  trace::ThreadSample row;
  row.thread_id = thread;
  row.at_ns = kLook;
  row.state = 'S';
  row.ran_ns = 0;
  row.lock_owner_id = lock_owner;
  builder.add(row);
}

// Thread main waits for the device, or for nothing; thread other for a lock that main holds.
TraceBuilder lock_held(bool in_sync) {
  TraceBuilder builder;
  builder.thread("other").stream("right").kernel("k", 10, 20);
  builder.thread("main").stream("left").kernel("k", kNotYet, kNotYet);
  if (in_sync) builder.stream("left").synchronize(50, kNotYet);
  lock_sample(builder, 0);
  lock_sample(builder, 1, 0);
  return builder;
}

TEST(SyncHoldingLock, NamesTheCallAndWhoWantsTheLock) {
  const Verdict verdict = run("sync-holding-lock", lock_held(true));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title,
            "cudaStreamSynchronize on thread main holds a lock that thread other waits for");
  EXPECT_NE(verdict.findings[0].host_sync, kNoId);
}

TEST(SyncHoldingLock, StaysSilentWhenTheOwnerIsInNoCall) {
  EXPECT_EQ(run("SS105", lock_held(false)).outcome, Outcome::kClean);
}

TEST(SyncHoldingLock, IsNotEvaluatedWithoutSamples) {
  TraceBuilder builder;
  builder.stream("left").kernel("k", 10, 20).synchronize(15, 30);
  EXPECT_EQ(run("SS105", builder).outcome, Outcome::kNotAtThisTier);
}

// A collective of a communicator, as NCCL reports it.
void collective(TraceBuilder& builder, std::string_view stream, std::string_view communicator) {
  StreamBuilder on = builder.stream(stream);
  on.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", kNotYet, kNotYet);
  trace::Trace& trace = builder.columns();
  const Id call = trace.op.api_call_id[on.last_op()];
  trace::CollectiveCall collective{.thread_id = trace.api_call.thread_id[call],
                                   .name_id = builder.intern("ncclAllReduce"),
                                   .start_ns = trace.api_call.start_ns[call],
                                   .end_ns = trace.api_call.end_ns[call]};
  if (!communicator.empty()) collective.communicator_id = builder.intern(communicator);
  builder.add(collective);
}

TraceBuilder two_communicators(bool opposite, bool reported = true) {
  TraceBuilder builder;
  for (int step = 0; step < 2; ++step) {
    collective(builder, "left", reported ? "0xa" : "");
    collective(builder, "left", reported ? "0xb" : "");
  }
  builder.device("second rank");
  for (int step = 0; step < 2; ++step) {
    const bool turned = opposite && step == 1;
    collective(builder, "right", !reported ? "" : turned ? "0xb" : "0xa");
    collective(builder, "right", !reported ? "" : turned ? "0xa" : "0xb");
  }
  return builder;
}

TEST(CollectiveOrder, NamesTheCollectivesThatChangePlaces) {
  const Verdict verdict = run("collective-order", two_communicators(true));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title,
            "streams 7 left and 8 right run collectives in opposite orders");
  EXPECT_THAT(verdict.findings[0].text,
              AllOf(HasSubstr("all-reduce 1 of communicator 0xb on stream 8 right comes before "
                              "all-reduce 1 of communicator 0xa"),
                    HasSubstr("after it on stream 7 left")));
}

TEST(CollectiveOrder, StaysSilentWhenAllRanksKeepOneOrder) {
  EXPECT_EQ(run("SS106", two_communicators(false)).outcome, Outcome::kClean);
}

TEST(CollectiveOrder, StaysSilentWhenOneRankUsesACommunicatorOnTwoStreams) {
  TraceBuilder builder;
  for (const auto& [stream, communicator] :
       {std::pair{"left", "0xa"}, {"left", "0xb"}, {"right", "0xb"}, {"right", "0xa"}})
    collective(builder, stream, communicator);
  EXPECT_EQ(run("SS106", builder).outcome, Outcome::kClean);
}

TEST(CollectiveOrder, IsNotEvaluatedWithoutCommunicators) {
  EXPECT_EQ(run("SS106", two_communicators(true, false)).outcome, Outcome::kNotAtThisTier);
}

// A launch that has not returned, behind a memory wait and this many kernels.
TraceBuilder queued(int kernels) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.memory_wait(0x10, 1, kNotYet, kNotYet);
  for (int i = 0; i < kernels; ++i) left.kernel("k", kNotYet, kNotYet);
  trace::ApiCall launch;
  launch.thread_id = 0;
  launch.kind = builder.columns().api_call.kind.back();
  launch.name_id = builder.intern("cudaLaunchKernel");
  launch.stream_id = left.id();
  launch.start_ns = 10'000;
  builder.add(launch);
  lock_sample(builder, 0);
  return builder;
}

TEST(QueueFullBlock, NamesTheLaunchAndTheHeadOfTheQueue) {
  const Verdict verdict = run("queue-full-block", queued(1100));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title,
            "cudaLaunchKernel on thread main blocks on a full queue behind memory wait on stream 7 "
            "left");
  EXPECT_NE(verdict.findings[0].first_op, kNoId);
}

TEST(QueueFullBlock, StaysSilentWhenTheQueueIsNotFull) {
  EXPECT_THAT(run("SS108", queued(100)).findings, IsEmpty());
}

// A thread that polls until it is sampled; the value comes or does not.
TraceBuilder polling(bool written) {
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.memory_wait(0x10, 1, kNotYet, kNotYet);
  if (written) builder.stream("right").memory_write(0x10, 1, kNotYet, kNotYet);
  for (Ns at = kLook - 1'000'000'000; at < kLook; at += 100'000'000) {
    builder.at(at);
    left.query(false);
  }
  lock_sample(builder, 0);
  return builder;
}

TEST(EndlessPoll, NamesTheLoopThatWaitsForWhatNobodyWrites) {
  const Verdict verdict = run("endless-poll", polling(false));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title,
            "cudaStreamQuery on thread main polls for work that can never finish");
  EXPECT_NE(verdict.findings[0].host_sync, kNoId);
}

TEST(EndlessPoll, StaysSilentWhenTheValueIsOnItsWay) {
  EXPECT_THAT(run("SS109", polling(true)).findings, IsEmpty());
}

// The results of `failures` queries are one error; the last one is then success, if it ends well.
TraceBuilder failing(int failures, bool ends_well) {
  constexpr trace::Small kIllegalAddress = 700;
  TraceBuilder builder;
  StreamBuilder left = builder.stream("left");
  left.kernel("k", 10, 20);
  for (int i = 0; i < failures; ++i) {
    left.query(false);
    builder.columns().host_sync.result.back() = kIllegalAddress;
  }
  if (ends_well) left.query();
  return builder;
}

TEST(EndlessPoll, NamesTheLoopThatIgnoresErrors) {
  const Verdict verdict = run("endless-poll", failing(150, false));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "cudaStreamQuery keeps polling after error 700");
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("The last 150 queries"));
}

TEST(EndlessPoll, StaysSilentAfterAFewErrorsOrASuccess) {
  EXPECT_THAT(run("SS109", failing(3, false)).findings, IsEmpty());
  EXPECT_THAT(run("SS109", failing(150, true)).findings, IsEmpty());
}

}  // namespace
}  // namespace streamscope::analysis
