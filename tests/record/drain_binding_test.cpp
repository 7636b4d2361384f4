// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which record a wait means, from the calls of several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "drain_fixture.h"
#include "racing_threads.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;
using test::FakeThread;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;
using trace::kNoId;
using trace::Trace;

// Returns when.
uint64_t switch_recording(FakeThread& thread, bool on, bool measuring, uint64_t progress) {
  auto record = thread.make<ring::CollectingRecord>(RecordKind::kCollecting);
  record.on = on;
  record.measuring = measuring;
  record.progress = progress;
  record.begin = thread.now();
  thread.ring.push(record);
  return record.begin;
}

TEST_F(DrainTest, BindsWaitsOfOneThreadToRecordsOfAnother) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_record.version, ElementsAre(1, 2));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact, trace::kBindingExact));
  EXPECT_THAT(trace.event_wait.record_id, ElementsAre(0, 1));
}

TEST_F(DrainTest, NamesTheCandidatesIfCallsOfTwoThreadsOverlap) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  const uint64_t t = a.now();
  a.call_at(t + 1, t + 2, "cudaEventCreate", 0, 0xe1);
  a.call_at(t + 10, t + 20, "cudaEventRecord", 0xaa, 0xe1);
  b.call_at(t + 30, t + 60, "cudaEventRecord", 0xbb, 0xe1);
  a.call_at(t + 40, t + 50, "cudaStreamWaitEvent", 0xcc, 0xe1);
  a.end();
  usleep(1000);
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  EXPECT_EQ(trace.event_wait.record_id[0], kNoId);
  EXPECT_THAT(trace.event_wait_candidate.event_wait_id, ElementsAre(0, 0));
  EXPECT_THAT(trace.event_wait_candidate.event_record_id, testing::UnorderedElementsAre(0, 1));
  EXPECT_EQ(losses(trace)["ambiguous-binding"], 1);
}

TEST_F(DrainTest, KnowsTheOrderOfCallsOnASimulatedDeviceWhateverTheirVirtualTimes) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.flags = b.flags = ring::kVirtualTime;
  a.call_at(1, 2, "simEventCreate", 0, 0xe1);
  a.call_at(10, 20, "simEventRecord", 0xaa, 0xe1);
  b.call_at(20, 20, "simStreamWaitEvent", 0xcc, 0xe1);  // each begins when the one before has ended
  a.call_at(20, 20, "simEventRecord", 0xaa, 0xe1);
  b.call_at(20, 40, "simStreamWaitEvent", 0xcc, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact, trace::kBindingExact));
  EXPECT_THAT(trace.event_wait.record_id, ElementsAre(0, 1));
  EXPECT_EQ(losses(trace)["ambiguous-binding"], 0);
}

TEST_F(DrainTest, KnowsTheEventsOfThreadsOfASimulatedProgramThatStartWhileItReads) {
  constexpr uint64_t kStarted = 300;
  FakeThread& waiting = program_thread(ring::kVirtualTime);
  drain().cycle();
  std::atomic<bool> stop_draining = false;
  std::thread drainer([&] {
    while (!stop_draining.load()) drain().cycle();
  });
  uint64_t at = 0;
  for (uint64_t n = 1; n <= kStarted; ++n, at += 100) {
    FakeThread started(rings_, static_cast<uint32_t>(n));
    started.flags = ring::kVirtualTime;
    started.thread(200 + static_cast<uint32_t>(n));
    started.call_at(at + 10, at + 20, "simEventCreate", 0, 0xe000 + n);
    started.call_at(at + 20, at + 30, "simEventRecord", 0xaa, 0xe000 + n);
    waiting.call_at(at + 40, at + 50, "simStreamWaitEvent", 0xcc, 0xe000 + n);
  }
  stop_draining = true;
  drainer.join();
  waiting.end();
  const Trace trace = finish();
  EXPECT_EQ(trace.event.size(), kStarted);
  EXPECT_THAT(trace.event_wait.binding, AllOf(SizeIs(kStarted), Each(trace::kBindingExact)));
  EXPECT_FALSE(losses(trace).contains("unknown-history"));
}

TEST_F(DrainTest, HoldsAWaitUntilARecordInAnotherThreadHasReturned) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  b.enter("cudaEventRecord", 0xbb, 0xe1);
  a.call("cudaStreamWaitEvent", 0xcc, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  EXPECT_EQ(trace::read(file_).event_wait.binding[0], trace::kUnknownHistory) << "not decided yet";
  b.leave("cudaEventRecord", 0xbb, 0xe1);
  settle();
  drain().cycle();
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  EXPECT_THAT(trace.event_wait_candidate.event_record_id, testing::UnorderedElementsAre(0, 1));
}

TEST_F(DrainTest, ContinuesWithoutARecordThatIsStuck) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  b.enter("cudaEventRecord", 0xbb, 0xe1);
  usleep(1'100'000);
  a.call("cudaStreamWaitEvent", 0xcc, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  Trace trace = trace::read(file_);
  ASSERT_EQ(trace.event_record.size(), 2u);
  EXPECT_EQ(trace.event_record.end_ns[1], trace::kUnknownNs);
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  b.leave("cudaEventRecord", 0xbb, 0xe1);
  a.end();
  settle();
  trace = finish();
  ASSERT_EQ(trace.event_record.size(), 2u);
  EXPECT_EQ(trace.event_record.version[1], 2);
  EXPECT_NE(trace.event_record.end_ns[1], trace::kUnknownNs);
}

// What the writer reports afterwards must agree with what the threads noted.
TEST_F(DrainTest, NeverContradictsWhatHappenedWhileThreadsRace) {
  options_.clock = ring::best_clock();
  test::RacingThreads threads(rings_, options_.clock);
  drain_.emplace(rings_, trace::Writer::create(file_), options_, ring::read_anchor(options_.clock));
  usleep(2000);
  std::atomic<bool> stop_draining = false;
  threads.start(15'000);
  std::thread drainer([&] {
    while (!stop_draining.load()) {
      drain_->cycle();
      usleep(200);
    }
  });
  threads.join();
  stop_draining = true;
  drainer.join();
  usleep(100);
  threads.first().end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-full"], 0);
  ASSERT_EQ(trace.event_record.size(), threads.records());
  ASSERT_EQ(trace.event_wait.size() + trace.host_sync.size(), threads.looks());
  threads.expect_agreement(trace);
  EXPECT_GT(std::ranges::count(trace.event_wait.binding, trace::kBindingExact), 1000);
  // Versions follow the ends of the records.
  std::map<trace::Id, std::vector<std::pair<trace::Ns, trace::Small>>> versions;
  for (trace::Id record = 0; record < trace.event_record.size(); ++record)
    versions[trace.event_record.event_id[record]].push_back(
        {trace.event_record.end_ns[record], trace.event_record.version[record]});
  for (auto& [event, list] : versions) {
    std::sort(list.begin(), list.end());
    trace::Small expected = 1;
    int swapped = 0;
    for (const auto& [end, version] : list) swapped += version != expected++;
    EXPECT_LE(swapped, 20) << "only ends of the same nanosecond may come in either order";
  }
}

TEST_F(DrainTest, KeepsHandlesThatAreReusedApart) {
  FakeThread& a = thread(0);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaEventDestroy", 0, 0xe1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event.generation, ElementsAre(0, 1));
  EXPECT_NE(trace.event.destroyed_ns[0], trace::kUnknownNs);
  EXPECT_THAT(trace.event_record.event_id, ElementsAre(0, 1));
  EXPECT_THAT(trace.event_record.version, ElementsAre(1, 1));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kNeverRecorded, trace::kBindingExact));
}

TEST_F(DrainTest, BindsNothingToFailedCallsAndMarksCapturedOnes) {
  FakeThread& a = thread(0);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1, 0, 400);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1, 0, 400);
  a.flags = ring::kCapturing;
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaLaunchKernel", 0xbb, 0);
  a.flags = 0;
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_record.version, ElementsAre(trace::kNoSmall, 1));
  EXPECT_THAT(trace.event_record.flags, ElementsAre(trace::kNoSmall, trace::kCapturedRecord));
  EXPECT_THAT(trace.event_wait.binding,
              ElementsAre(trace::kNeverRecorded, trace::kNoSmall, trace::kCaptured));
  EXPECT_EQ(trace.op.size(), 0u) << "a captured launch runs when its graph is launched";
}

TEST_F(DrainTest, QueriesHandlesWithTheTimeOfTheirLastUse) {
  FakeThread& a = program_thread();
  a.context(1);
  a.stream(0xaa, 13);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  const uint64_t recorded = a.now();
  a.call_at(recorded, a.now(), "cudaEventRecord", 0xaa, 0xe1);
  const uint64_t launched = a.now();
  a.call_at(launched, a.now(), "cudaLaunchKernel", 0xaa, 0);
  const uint64_t failed = a.now();
  a.call_at(failed, a.now(), "cudaLaunchKernel", 0xaa, 0, 0, 700);  // proves nothing
  settle();
  drain().cycle();
  const auto questions = drain().live_processes().at(0)->questions(1);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].kind, ring::QuestionKind::kEvent);
  EXPECT_EQ(questions[0].object, 0xe1u);
  EXPECT_EQ(questions[0].since, recorded);
  EXPECT_EQ(questions[1].kind, ring::QuestionKind::kStream);
  EXPECT_EQ(questions[1].object, 0xaau);
  EXPECT_EQ(questions[1].since, launched);
}

TEST_F(DrainTest, KnowsNoHistoryOfUnseenEventsOrAcrossAPause) {
  FakeThread& a = thread(0);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  auto off = a.make<ring::CollectingRecord>(RecordKind::kCollecting);
  off.begin = a.now();
  a.ring.push(off);
  auto on = off;
  on.on = 1;
  on.begin = a.now();
  a.ring.push(on);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kUnknownHistory, trace::kBindingExact,
                                                    trace::kUnknownHistory, trace::kBindingExact));
  EXPECT_EQ(losses(trace)["unknown-history"], 1);
  EXPECT_EQ(losses(trace)["history-lost"], 1);
  EXPECT_EQ(losses(trace)["paused"], 1);
}

TEST_F(DrainTest, KnowsNoHistoryAcrossAPauseThatAnotherThreadMade) {
  FakeThread &a = thread(0), &b = thread(1);  // in the order in which their rings are read
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  switch_recording(b, false, false, 0);
  switch_recording(b, true, false, 0);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  EXPECT_THAT(finish().event_wait.binding,
              ElementsAre(trace::kBindingExact, trace::kUnknownHistory, trace::kBindingExact));
}

// What is between two pauses is complete: a reader must be able to see that.
TEST_F(DrainTest, EveryPauseHasItsOwnRow) {
  FakeThread& a = thread(0);
  for (int pause = 0; pause < 2; ++pause) {
    auto off = a.make<ring::CollectingRecord>(RecordKind::kCollecting);
    off.begin = a.now();
    a.ring.push(off);
    a.call("cudaEventRecord", 0xaa, 0xe1);
    auto on = off;
    on.on = 1;
    on.begin = a.now();
    a.ring.push(on);
    a.call("cudaEventRecord", 0xaa, 0xe1);
  }
  a.end();
  const Trace trace = finish();
  std::vector<trace::Id> pauses;
  for (trace::Id loss = 0; loss < trace.loss.size(); ++loss)
    if (trace.text(trace.loss.name_id[loss]) == "paused") pauses.push_back(loss);
  ASSERT_EQ(pauses.size(), 2u);
  EXPECT_LT(trace.loss.end_ns[pauses[0]], trace.loss.start_ns[pauses[1]]);
}

TEST_F(DrainTest, WindowsOfARunThatIsRecordedLoseNoHistory) {
  FakeThread& a = thread(0);
  std::vector<uint64_t> at;
  const auto mark = [&](bool measuring, uint64_t progress) {
    at.push_back(switch_recording(a, measuring, measuring, progress));
  };
  mark(true, 0);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  mark(true, 10);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  mark(true, 25);
  mark(false, 0);  // a pause
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.cost_window.start_ns, ElementsAre(ns(at[0]), ns(at[1]), ns(at[2])));
  EXPECT_THAT(trace.cost_window.end_ns, ElementsAre(ns(at[1]), ns(at[2]), ns(at[3])));
  EXPECT_THAT(trace.cost_window.recorded, ElementsAre(1, 1, 1));
  EXPECT_THAT(trace.cost_window.progress, ElementsAre(10, 15, trace::kNoInt));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact));
  EXPECT_EQ(losses(trace)["paused"], 1);
}

TEST_F(DrainTest, StoresTheWindowsThatMeasureTheCostOfRecording) {
  FakeThread& a = thread(0);
  std::vector<uint64_t> at;
  const auto turn = [&](bool on, bool measuring, uint64_t progress) {
    at.push_back(switch_recording(a, on, measuring, progress));
  };
  a.call("cudaEventRecord", 0xaa, 0xe1);
  turn(false, true, 100);
  turn(true, true, 160);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  turn(false, true, 200);
  turn(false, false, 0);  // a pause
  turn(true, false, 0);
  turn(false, true, 300);  // and the process ends
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.cost_window.start_ns, ElementsAre(ns(at[0]), ns(at[1]), ns(at[2]), ns(at[5])));
  EXPECT_THAT(trace.cost_window.end_ns,
              ElementsAre(ns(at[1]), ns(at[2]), ns(at[3]), trace::kUnknownNs));
  EXPECT_THAT(trace.cost_window.recorded, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(trace.cost_window.progress, ElementsAre(60, 40, trace::kNoInt, trace::kNoInt));
  EXPECT_THAT(trace.cost_window.process_id, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(losses(trace)["paused"], 1) << "windows are no pauses";
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kUnknownHistory));
}

TEST_F(DrainTest, CountsDropsAndTrustsNoHistoryAcrossThem) {
  FakeThread& a = thread(0, 16);
  FakeThread& b = thread(1);
  b.call("cudaEventCreate", 0, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  settle();
  drain().cycle();
  int pushed = 0;
  while (a.ring.header().dropped.load() < 5) pushed += 1, a.call("cudaLaunchKernel", 0xaa, 0);
  b.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  b.call("cudaEventRecord", 0xaa, 0xe1);
  b.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaLaunchKernel", 0xaa, 0);
  b.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-full"], 5);
  EXPECT_EQ(trace.api_call.size(), 1u + pushed - 5 + 1);
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kUnknownHistory, trace::kBindingExact));
  EXPECT_EQ(losses(trace)["history-lost"], 1);
  EXPECT_EQ(losses(trace)["unknown-history"], 0) << "it was not made before recording began";
}

}  // namespace
}  // namespace streamscope::record
