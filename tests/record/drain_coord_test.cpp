// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reports: dependencies, barriers, timelines, waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drain_fixture.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;
using test::FakeThread;
using testing::ElementsAre;
using trace::Trace;

TEST_F(DrainTest, KeepsADependencyThatIsReportedTwiceOnce) {
  FakeThread& a = program_thread();
  for (const uint16_t elided : {uint16_t{0}, uint16_t{3}}) {
    auto dependencies =
        a.make<ring::OperationDependenciesRecord>(ring::RecordKind::kOperationDependencies);
    dependencies.operation = 2;
    dependencies.count = 2;
    dependencies.dependencies[0] = {0, 0, elided};
    dependencies.dependencies[1] = {1, 1, 0};
    a.ring.push(dependencies);
  }
  const Trace trace = finish();
  EXPECT_THAT(trace.operation_dependency.elided, ElementsAre(1, 0));
  EXPECT_THAT(trace.operation_dependency.elided_because, ElementsAre(2, trace::kNoSmall));
  EXPECT_THAT(trace.operation_dependency.inferred, ElementsAre(0, 1));
}

TEST_F(DrainTest, KnowsWhenBarriersWereReachedAndPassed) {
  FakeThread& a = program_thread(ring::kVirtualTime);
  auto barrier = a.make<ring::BarrierRecord>(RecordKind::kBarrier);
  barrier.operation = 3;
  barrier.begin = 100;
  a.ring.push(barrier);
  for (const uint64_t stream : {0x11, 0x12}) {
    auto member = a.make<ring::BarrierStreamRecord>(RecordKind::kBarrierStream);
    member.operation = 3;
    member.begin = 100;
    member.stream = stream;
    member.context = 1;
    a.ring.push(member);
  }
  auto arrival = a.make<ring::BarrierArrivalRecord>(RecordKind::kBarrierArrival);
  arrival.operation = 3;
  arrival.arrival_ns = 40;
  arrival.stream = 0x12;
  arrival.context = 1;
  a.ring.push(arrival);
  auto state = a.make<ring::OperationStateRecord>(RecordKind::kOperationState);
  state.operation = 3;
  state.state = static_cast<uint8_t>(kOperationCompleted);
  state.begin = 250;
  a.ring.push(state);
  const Trace trace = finish();
  EXPECT_THAT(trace.barrier.first_arrival_ns, ElementsAre(40));
  EXPECT_THAT(trace.barrier.release_ns, ElementsAre(250));
  EXPECT_THAT(trace.barrier_stream.arrival_ns, ElementsAre(100, 40));
}

TEST_F(DrainTest, FindsTheEndsOfSubmissionsInTheNextOperationAndInTheHeadOfTheRing) {
  FakeThread& a = thread(0);
  a.flags = ring::kVirtualTime;
  a.process("/bin/app");
  a.thread(7);
  for (const uint32_t i : {0u, 1u, 2u, 3u}) {
    auto operation = a.make<ring::OperationRecord>(RecordKind::kOperation);
    operation.operation = i;
    operation.begin = operation.begun = 100 * (i + 1);
    operation.context = ring::kNone32;
    operation.parent = ring::kNone32;
    operation.ended = i == 2 ? 1 : 0;
    operation.ended_before = i == 2 ? 30 : 0;
    a.ring.push(operation);
  }
  a.ring.header().submission.begin(2, ring::kVirtualTime);
  a.ring.header().submission.end(390);
  drain().cycle();
  a.ring.header().submission.begin(3, ring::kVirtualTime);
  a.ring.header().submission.end(450);  // no record comes any more
  const Trace trace = finish();
  EXPECT_THAT(trace.operation.submitted_ns, ElementsAre(trace::kUnknownNs, 270, 390, 450));
  EXPECT_THAT(trace.operation.state,
              ElementsAre(trace::kOperationBegun, trace::kOperationSubmitted,
                          trace::kOperationSubmitted, trace::kOperationSubmitted));
}

TEST_F(DrainTest, KeepsTheActionsOfTimelines) {
  FakeThread& a = program_thread();
  auto point = a.make<ring::TimelinePointRecord>(RecordKind::kTimelinePoint);
  point.timeline = 5;  // described later
  point.begin = a.now();
  point.act = 1;
  point.value = 12;
  point.context = ring::kNone32;
  a.ring.push(point);
  point.act = 0;
  point.context = 1;
  point.stream = 0x11;
  a.ring.push(point);
  auto timeline = a.make<ring::TimelineRecord>(RecordKind::kTimeline);
  timeline.timeline = 5;
  timeline.initial = 3;
  timeline.name = a.text("steps");
  a.ring.push(timeline);
  const Trace trace = finish();
  ASSERT_EQ(trace.timeline.size(), 1u);
  EXPECT_EQ(trace.text(trace.timeline.name_id[0]), "steps");
  EXPECT_EQ(trace.timeline.initial[0], 3);
  EXPECT_THAT(trace.timeline_point.act, ElementsAre(1, 0));
  EXPECT_THAT(trace.timeline_point.value, ElementsAre(12, 12));
  EXPECT_EQ(trace.timeline_point.stream_id[0], trace::kNoId);
  EXPECT_NE(trace.timeline_point.stream_id[1], trace::kNoId);
  EXPECT_NE(trace.timeline_point.start_ns[0], trace::kUnknownNs);
}

TEST_F(DrainTest, KnowsTheStreamOfAnOperationWhoseThreadHasAVirtualClockThatIsBehind) {
  FakeThread& a = program_thread(ring::kVirtualTime);
  auto stream = a.make<ring::StreamRecord>(RecordKind::kStream);
  stream.context = 1;
  stream.stream = 2;
  stream.handle = 0x11;
  stream.begin = 3000;
  a.ring.push(stream);
  auto operation = a.make<ring::OperationRecord>(RecordKind::kOperation);
  operation.context = 1;
  operation.stream = 0x11;
  operation.parent = ring::kNone32;
  operation.begun = ring::kNotYet;
  a.ring.push(operation);  // at 0
  const Trace trace = finish();
  ASSERT_EQ(trace.stream.size(), 1u);
  EXPECT_THAT(trace.operation.stream_id, ElementsAre(0));
}

ring::TaskRecord task_of(FakeThread& thread, uint64_t number, uint32_t worker) {
  auto task = thread.make<ring::TaskRecord>(RecordKind::kTask);
  task.queue = 4;
  task.task = number;
  task.worker = worker;
  task.sm = task.run = ring::kNone32;
  task.type = ring::kNoTaskType;
  return task;
}

TEST_F(DrainTest, KeepsTasksOfThreadsWithTheirThread) {
  FakeThread& a = program_thread(ring::kVirtualTime);
  auto task = task_of(a, 0, 2);  // its queue is described later
  task.begin = 100;
  task.end = 130;
  task.type = 1;
  a.ring.push(task);
  auto queue = a.make<ring::TaskQueueRecord>(RecordKind::kTaskQueue);
  queue.queue = 4;
  queue.name = a.text("blocks");
  queue.workers = 3;
  a.ring.push(queue);
  const Trace trace = finish();
  ASSERT_EQ(trace.task_queue.size(), 1u);
  EXPECT_EQ(trace.text(trace.task_queue.name_id[0]), "blocks");
  EXPECT_EQ(trace.task_queue.on_device[0], 0);
  EXPECT_EQ(trace.task_queue.workers[0], 3);
  ASSERT_EQ(trace.task.size(), 1u);
  EXPECT_EQ(trace.task.task_queue_id[0], 0u);
  EXPECT_EQ(trace.task.task_run_id[0], trace::kNoId);
  EXPECT_EQ(trace.task.worker[0], 2);
  EXPECT_EQ(trace.thread.os_tid[trace.task.thread_id[0]], 100);
  EXPECT_EQ(trace.task.sm[0], trace::kNoSmall);
  EXPECT_EQ(trace.task.type[0], 1);
  EXPECT_EQ(trace.task.start_ns[0], 100);
  EXPECT_EQ(trace.task.offset_ns[0], trace::kNoInt);
  EXPECT_EQ(trace.task.duration_ns[0], 30);
}

TEST_F(DrainTest, KeepsTasksOfAGpuRelativeToTheirRunAndCountsWhatIsMissing) {
  FakeThread& a = program_thread();
  for (const uint32_t number : {0u, 1u}) {
    auto run = a.make<ring::TaskRunRecord>(RecordKind::kTaskRun);
    run.queue = 4;
    run.run = number;
    run.call_number = 50 + number;
    run.operation = ring::kNone32;
    a.ring.push(run);
    auto task = task_of(a, ~uint64_t{0} - 1, 9);
    task.run = number;
    task.sm = 131;
    task.begin =
        static_cast<uint64_t>(int64_t{-10});  // its block began before the first one's report
    task.end = 30;
    a.ring.push(task);
    run.ended = 1;
    run.call_number = 99;  // of whatever was called last
    run.left_out = 5 * number;
    a.ring.push(run);
  }
  const Trace trace = finish();
  EXPECT_THAT(trace.task_run.call_number, ElementsAre(50, 51));
  EXPECT_THAT(trace.task_run.left_out, ElementsAre(0, 5));
  EXPECT_THAT(trace.task.task_run_id, ElementsAre(0, 1));
  EXPECT_THAT(trace.task.number, ElementsAre(-2, -2));
  EXPECT_THAT(trace.task.sm, ElementsAre(131, 131));
  EXPECT_THAT(trace.task.start_ns, ElementsAre(trace::kUnknownNs, trace::kUnknownNs));
  EXPECT_THAT(trace.task.offset_ns, ElementsAre(-10, -10));
  EXPECT_THAT(trace.task.duration_ns, ElementsAre(40, 40));
  // The process that these records are of is the test, which outlives the recording.
  ASSERT_EQ(trace.loss.size(), 2u);
  EXPECT_EQ(trace.text(trace.loss.name_id[0]), "tasks-left-out");
  EXPECT_EQ(trace.loss.count[0], 5);
  EXPECT_EQ(trace.text(trace.loss.name_id[1]), "recording-ended-early");
}

// What libcoord reports: thread 100 waits at a barrier for what comes after operation 7.
void report_waits(FakeThread& thread, bool given_up, uint32_t links_reported = 2) {
  auto waits = thread.make<ring::WaitsRecord>(RecordKind::kWaits);
  waits.given_up = given_up ? 1 : 0;
  waits.party_count = 3;
  waits.link_count = 2;
  waits.begin = thread.now();
  const auto party = [&](uint32_t index, uint8_t kind, uint8_t state, uint64_t object,
                         std::string_view label) {
    auto record = thread.make<ring::WaitPartyRecord>(RecordKind::kWaitParty);
    record.index = index;
    record.party = kind;
    record.state = state;
    record.object = object;
    record.label = thread.text(label);
    thread.ring.push(record);
  };
  thread.ring.push(waits);
  party(0, 2, given_up ? 2 : 1, 0, "barrier \"exchange\"");
  party(1, 1, given_up ? 2 : 0, 100, "host thread 1");
  party(2, 0, 0, 7, "operation 7");
  auto links = thread.make<ring::WaitLinksRecord>(RecordKind::kWaitLinks);
  links.count = static_cast<uint16_t>(links_reported);
  links.links[0] = {1, 0};
  links.links[1] = {0, 2};
  thread.ring.push(links);
}

TEST_F(DrainTest, StoresAWaitThatLibcoordAbandonedAsAHang) {
  FakeThread& a = thread(0);
  report_waits(a, true);
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.hang.size(), 1u);
  EXPECT_EQ(trace.text(trace.hang.verdict_id[0]), "deadlock");
  EXPECT_THAT(std::string(trace.text(trace.hang.text_id[0])),
              testing::HasSubstr("barrier \"exchange\" and host thread 1 wait for each other"));
  EXPECT_THAT(trace.hang_node.kind,
              ElementsAre(trace::kHangOutside, trace::kHangThread, trace::kHangOperation));
  EXPECT_THAT(trace.hang_node.in_cycle, ElementsAre(1, 1, 0));
  ASSERT_LT(trace.hang_node.object_id[1], trace.thread.size());
  EXPECT_EQ(trace.thread.os_tid[trace.hang_node.object_id[1]], 100);
  ASSERT_LT(trace.hang_node.object_id[2], trace.operation.size());
  EXPECT_EQ(trace.operation.native_id[trace.hang_node.object_id[2]], 7);
  EXPECT_THAT(trace.hang_edge.from_node_id, ElementsAre(1, 0));
  EXPECT_THAT(trace.hang_edge.to_node_id, ElementsAre(0, 2));
}

TEST_F(DrainTest, KeepsTheLastWaitReportOfLibcoord) {
  FakeThread& a = thread(0);
  report_waits(a, false, 1);
  drain().cycle();
  ProcessDrain& process = *drain().live_processes().at(0);
  EXPECT_EQ(process.coord_waits(), nullptr) << "a link is missing";
  report_waits(a, false);
  while (drain().cycle() > 0) {
  }
  ASSERT_NE(process.coord_waits(), nullptr);
  EXPECT_EQ(process.coord_waits()->verdict, "missing-participant");
  EXPECT_EQ(process.coord_waits()->headline, "barrier \"exchange\"");
  auto nobody = a.make<ring::WaitsRecord>(RecordKind::kWaits);
  a.ring.push(nobody);
  a.end();
  while (drain().cycle() > 0) {
  }
  EXPECT_EQ(process.coord_waits(), nullptr) << "it said that nobody waits any more";
  EXPECT_TRUE(finish().hang.empty());
}

}  // namespace
}  // namespace streamscope::record
