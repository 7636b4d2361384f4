// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Activity kinds, buffers and flushes, through the stand-in libcupti.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Numbers of the kinds: 1 memcpy, 2 memset, 3 kernel (serializing), 10 concurrent kernel, 17
// overhead, 22 peer copies, 36 event, 38 synchronization, 51 graph trace.
std::string kinds_of(Tier tier, void (*change)(ring::Control&) = nullptr,
                     const char* version = "130001") {
  Observed run;
  run.set("FAKE_CUPTI_VERSION", version);
  run.control().tier = tier;
  if (change != nullptr) change(run.control());
  EXPECT_EQ(run.run_child("kinds"), 0) << run.error_text();
  return run.output_text();
}

TEST(Activities, AreOffInTierStructure) {
  const std::string output = kinds_of(Tier::kStructure);
  EXPECT_THAT(output, StartsWith("subscribe"));
  EXPECT_THAT(output, Not(HasSubstr("enable")));
}

TEST(Activities, OfTierTimesNeverSerializeKernelsAndIncludeGraphLaunches) {
  const std::string output = kinds_of(Tier::kTimes);
  EXPECT_THAT(output, StartsWith("1\n2\n10\n17\n51\n"));
}

TEST(Activities, OfPeerCopiesAreAskedForOnlyWhereMemcpyDoesNotBringThem) {
  EXPECT_THAT(kinds_of(Tier::kTimes, nullptr, "28"), StartsWith("1\n2\n10\n17\n22\n51\n"));
}

TEST(Activities, AreEnabledAfterOurClock) {
  const std::string output = kinds_of(Tier::kTimes);
  EXPECT_LT(output.find("timestamp"), output.find("enable:"));
  EXPECT_LT(output.find("register"), output.find("enable:"));
}

TEST(Activities, ReportNodesInsteadOfLaunchesOnRequest) {
  EXPECT_THAT(kinds_of(Tier::kTimes,
                       [](ring::Control& control) { control.graphs = ring::GraphDetail::kNodes; }),
              StartsWith("1\n2\n10\n17\nsubscribe"));
}

TEST(Activities, OfTierEventsDropUnreadyQueriesAndTakeNoEventTimes) {
  const std::string output = kinds_of(Tier::kEvents);
  EXPECT_THAT(output, StartsWith("1\n2\n10\n17\n36\n38\n51\n"));
  EXPECT_THAT(output, HasSubstr("all-syncs:0"));
  EXPECT_THAT(output, Not(HasSubstr("event-times")));
}

TEST(Activities, TakeEventTimesOnRequestOnly) {
  EXPECT_THAT(
      kinds_of(Tier::kEvents, [](ring::Control& control) { control.with = ring::kWithEventTimes; }),
      HasSubstr("event-times:1"));
}

TEST(Activities, BecomeRecordsJoinedByCorrelationId) {
  Observed run;
  run.control().tier = Tier::kEvents;
  ASSERT_EQ(run.run_child("activities"), 0) << run.error_text();
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].correlation_id, run.calls().at(0).call_number);
  EXPECT_EQ(kernels[0].begin_ns, 1000);
  EXPECT_EQ(kernels[0].end_ns, 2000);
  EXPECT_EQ(kernels[0].stream, 13u);
  EXPECT_EQ(kernels[0].channel, 5);
  EXPECT_EQ(run.text(kernels[0].name), "_Z6kernelv");
  EXPECT_EQ(kernels[0].flags & ring::kUnfinished, 0);
  const auto shapes = run.all<ring::LaunchShapeRecord>(RecordKind::kLaunchShape);
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].shape, kernels[0].shape);
  EXPECT_EQ(shapes[0].grid[0], 4u);
  EXPECT_EQ(shapes[0].block[0], 128u);

  const auto copies = run.all<ring::OpRecord>(RecordKind::kMemcpy);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].memory_kinds, 0x23);
  EXPECT_EQ(copies[0].bytes, 4096u);
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kMemset).size(), 1u);
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kGraphLaunch).size(), 1u);

  const auto witnesses = run.all<ring::SyncWitnessRecord>(RecordKind::kSyncWitness);
  ASSERT_EQ(witnesses.size(), 2u);
  EXPECT_EQ(witnesses[0].act, 0);
  EXPECT_EQ(witnesses[1].act, 1);
  EXPECT_EQ(witnesses[0].sync_id, witnesses[1].sync_id);

  const auto overheads = run.all<ring::OverheadRecord>(RecordKind::kOverhead);
  ASSERT_EQ(overheads.size(), 1u);
  EXPECT_EQ(overheads[0].overhead_kind, 0x8006);
  EXPECT_EQ(overheads[0].tid, 4242u);
}

TEST(Activities, ThatAForcedFlushReturnsUnfinishedHaveNoTimes) {
  Observed run;
  ASSERT_EQ(run.run_child("activities"), 0) << run.error_text();
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_NE(kernels[1].flags & ring::kUnfinished, 0);
  EXPECT_EQ(kernels[1].begin_ns, 0);
  EXPECT_EQ(kernels[1].end_ns, 0);
}

TEST(Activities, ReachTheRingsByThePeriodicFlushBeforeTheProgramDies) {
  Observed run;
  ASSERT_EQ(run.run_child("activities", {"die"}), 3);
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kKernel).size(), 2u);
}

TEST(Activities, ThatCuptiDroppedAreCounted) {
  Observed run;
  ASSERT_EQ(run.run_child("activities", {"drop"}), 0) << run.error_text();
  EXPECT_EQ(run.losses()["cupti-dropped"], 12u);
  const auto ends = run.all<ring::EndRecord>(RecordKind::kEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].cupti_dropped, 12u);
  EXPECT_EQ(ends[0].callbacks, 2u);
}

class OlderCupti : public testing::TestWithParam<const char*> {};

TEST_P(OlderCupti, LayoutsAreStepped) {
  Observed run;
  run.set("FAKE_CUPTI_VERSION", GetParam());
  run.control().tier = Tier::kEvents;
  ASSERT_EQ(run.run_child("activities"), 0) << run.error_text();
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kKernel).size(), 2u);
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kMemcpy).size(), 1u);
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kMemset).size(), 1u);
  EXPECT_EQ(run.all<ring::OverheadRecord>(RecordKind::kOverhead).size(), 1u);
  // Before 12.8 (26) nothing reports which record a wait took.
  const size_t witnesses = std::stoi(GetParam()) < 26 ? 0 : 2;
  EXPECT_EQ(run.all<ring::SyncWitnessRecord>(RecordKind::kSyncWitness).size(), witnesses);
  EXPECT_TRUE(run.losses().empty());
}

INSTANTIATE_TEST_SUITE_P(Versions, OlderCupti,
                         testing::Values("22", "24", "26", "28", "130000", "130001", "140000"));

TEST(Activities, AreFlushedOnlyWhileThereIsWorkAndByForceOnlyAtTheEnd) {
  Observed run;
  EXPECT_EQ(run.run_child("flushes"), 0) << run.error_text();
}

TEST(Activities, AFlushThatBlocksDoesNotKeepTheProgramFromEnding) {
  Observed run;
  EXPECT_EQ(run.run_child("blocked-flush"), 0) << run.error_text();  // the flush never ends
  EXPECT_EQ(run.all<ring::EndRecord>(RecordKind::kEnd).size(), 1u);
}

#if !defined(__SANITIZE_THREAD__)  // which has an _exit() of its own
TEST(Activities, AreDeliveredBeforeExitWithoutHandlersButNotAwaitedForLong) {
  Observed run;
  EXPECT_EQ(run.run_child("die-at-once"), 3) << run.error_text();
  EXPECT_EQ(run.all<ring::OpRecord>(RecordKind::kKernel).size(), 1u);
  Observed blocked;
  EXPECT_EQ(blocked.run_child("blocked-flush", {"die"}), 3) << blocked.error_text();
}
#endif

TEST(Activities, OfARegularFlushInProgressAtTheEndAreAwaited) {
  Observed run;
  ASSERT_EQ(run.run_child("slow-flush"), 0) << run.error_text();
  std::vector<std::string> kernels;
  for (const auto& kernel : run.all<ring::OpRecord>(RecordKind::kKernel))
    kernels.push_back(run.text(kernel.name));
  EXPECT_THAT(kernels, ::testing::ElementsAre("before", "in hand", "late"));
}

TEST(Activities, AreLentToAnotherProfilerAndTheIntervalIsMarked) {
  Observed run;
  ASSERT_EQ(run.run_child("other-profiler"), 0) << run.error_text();
  std::vector<std::string> kernels, launches;
  for (const auto& kernel : run.all<ring::OpRecord>(RecordKind::kKernel))
    kernels.push_back(run.text(kernel.name));
  for (const auto& call : run.calls()) launches.push_back(run.text(call.object));
  EXPECT_THAT(kernels, ::testing::ElementsAre("before", "after", "after teardown"));
  EXPECT_THAT(launches, ::testing::ElementsAre("before", "theirs", "after", "after teardown"));
  const auto losses = run.all<ring::LossRecord>(RecordKind::kLoss);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].loss, static_cast<uint16_t>(ring::Loss::kProfilerConflict));
  EXPECT_LT(losses[0].first, run.calls()[1].begin);
  EXPECT_GT(losses[0].last, run.calls()[1].end);
  EXPECT_LT(losses[0].last, run.calls()[2].begin);
  const std::string& text = run.error_text();
  EXPECT_THAT(text, HasSubstr("another CUDA profiler"));
  EXPECT_EQ(text.find("streamscope:"), text.rfind("streamscope:"));
}

std::vector<std::string> kernels_of(const Observed& run) {
  std::vector<std::string> names;
  for (const auto& kernel : run.all<ring::OpRecord>(RecordKind::kKernel))
    names.push_back(run.text(kernel.name));
  return names;
}

TEST(Activities, WithoutAFreeBufferAreALossOfWholeBuffers) {
  Observed run;
  ASSERT_EQ(run.run_child("held-buffers"), 0) << run.error_text();
  EXPECT_TRUE(kernels_of(run).empty());
  EXPECT_EQ(run.losses()["activity-buffers"], 1u);
  EXPECT_EQ(run.calls().size(), 1u);
}

TEST(Activities, ThatTheWriterDoesNotReadInTimeAreCountedOneByOne) {
  Observed run;
  run.control().ring_records = 256;  // the decoder has four times as many, and the test takes none
  ASSERT_EQ(run.run_child("activity-flood"), 0) << run.error_text();
  const size_t kernels = run.all<ring::OpRecord>(RecordKind::kKernel).size();
  EXPECT_GT(kernels, 500u);
  EXPECT_LT(kernels, 1024u);
  // The loss itself needs space in the full ring; what does not fit is in the ring's own count.
  uint64_t dropped = 0;
  for (const ObservedRing& ring : run.rings()) dropped += ring.dropped;
  EXPECT_GT(run.losses()["activity-ring-full"] + dropped, 0u);
}

TEST(Activities, StayOursWhenAnotherSubscriberIsRefusedAndItsUserIsInformed) {
  Observed run;
  ASSERT_EQ(run.run_child("refused-profiler"), 0) << run.error_text();
  EXPECT_THAT(kernels_of(run), ::testing::ElementsAre("before", "after"));
  EXPECT_THAT(run.losses(), ::testing::ElementsAre(std::pair("profiler-refused", 2u)));
  const std::string& text = run.error_text();
  EXPECT_THAT(text, HasSubstr("another CUDA profiler in the program sees no GPU activity"));
  EXPECT_THAT(text, HasSubstr("_child; the recording is complete"));  // the name of the profiler
  EXPECT_EQ(text.find("streamscope:"), text.rfind("streamscope:"));   // reported once
}

TEST(Activities, StayOursWhenTheBuffersAreRefusedToAnother) {
  Observed run;
  run.set("FAKE_REFUSE_BUFFERS", "again");
  ASSERT_EQ(run.run_child("refused-buffers"), 0) << run.error_text();
  EXPECT_THAT(kernels_of(run), ::testing::ElementsAre("before", "after"));
  EXPECT_TRUE(run.losses().empty());
  EXPECT_EQ(run.error_text(), "");
}

TEST(Activities, OfKindsWeNeverEnabledRevealAnotherProfiler) {
  Observed run;
  EXPECT_EQ(run.run_child("foreign-activity"), 0) << run.error_text();
  EXPECT_GE(run.losses()["profiler-conflict"], 1u);
  const std::string& text = run.error_text();
  EXPECT_THAT(text, HasSubstr("another CUDA profiler"));
  EXPECT_EQ(text.find("streamscope:"), text.rfind("streamscope:"));  // reported once
}

}  // namespace
}  // namespace streamscope::collect
