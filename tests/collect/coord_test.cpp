// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord as the collector records it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::SizeIs;

TEST(CoordObserver, ReportsOperationsByTheirKinds) {
  Observed run;
  ASSERT_EQ(run.run_child("coord-kinds"), 0) << run.error_text();
  std::map<uint32_t, ring::OperationRecord> operations;
  for (const auto& each : run.all<ring::OperationRecord>(RecordKind::kOperation))
    operations[each.operation] = each;
  ASSERT_THAT(operations, SizeIs(6));
  EXPECT_EQ(operations.count(4), 0u);
  const uint64_t now = operations[0].begin;
  for (const auto& [number, each] : operations) {
    EXPECT_EQ(run.text(each.name), "step");
    EXPECT_EQ(run.text(each.call_site),
              number == 3 || number == 6 ? "main.cpp:8 main" : "main.cpp:7 main");
    EXPECT_EQ(each.type, 3);      // reduction
    EXPECT_EQ(each.priority, 1);  // high
    EXPECT_EQ(each.stream, 40u);
    EXPECT_EQ(each.context, 1u);
    EXPECT_EQ(each.parent, ring::kNone32);
    EXPECT_EQ(each.flags, 0);
  }
  for (uint32_t i : {0u, 1u, 2u}) {
    EXPECT_EQ(operations[i].begin, now + 10 * i);
    EXPECT_EQ(operations[i].begun, now + 10 * i + 1);
  }
  EXPECT_EQ(operations[0].ended_before, 0u);
  EXPECT_EQ(operations[1].ended, 0u);
  EXPECT_EQ(operations[1].ended_before, 8u);
  EXPECT_EQ(operations[2].ended, 1u);
  EXPECT_EQ(operations[2].ended_before, 8u);
  EXPECT_EQ(operations[3].ended_before, 0u) << "that is too long for the record";
  const auto states = run.all<ring::OperationStateRecord>(RecordKind::kOperationState);
  ASSERT_THAT(states, SizeIs(1));
  EXPECT_EQ(states[0].operation, 2u);
  EXPECT_EQ(states[0].begin, now + 22);
  EXPECT_EQ(operations[6].ended, 5u);
  const auto reasons =
      run.all<ring::OperationDependenciesRecord>(RecordKind::kOperationDependencies);
  ASSERT_THAT(reasons, SizeIs(1));
  EXPECT_EQ(reasons[0].operation, 1u);
  EXPECT_EQ(reasons[0].dependencies[0].inferred, 1);
  // The texts go to the child as well.
  const auto texts = run.all<ring::TextRecord>(RecordKind::kText);
  for (const ring::TextHash hash :
       {operations[0].name, operations[0].call_site, operations[3].call_site}) {
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                            [&](const auto& text) { return text.hash == hash; }),
              2);
  }
}

TEST(CoordObserver, ReportsSimulatedWorkInVirtualTime) {
  Observed run;
  ASSERT_EQ(run.run_child("coord"), 0) << run.error_text();
  EXPECT_EQ(run.all<ring::DeviceRecord>(RecordKind::kDevice).at(0).simulated, 1u);
  const auto streams = run.all<ring::StreamRecord>(RecordKind::kStream);
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(run.text(streams[0].name), "math");
  const auto operations = run.all<ring::OperationRecord>(RecordKind::kOperation);
  ASSERT_THAT(operations, SizeIs(4));
  EXPECT_EQ(run.text(operations[0].name), "gemm");
  EXPECT_EQ(run.text(operations[0].call_site), "main.cpp:3 main");
  EXPECT_EQ(operations[0].begin, 5u);
  EXPECT_EQ(operations[0].begun, ring::kNotYet);
  for (uint32_t i : {1u, 2u, 3u}) {
    EXPECT_EQ(run.text(operations[i].name),
              i == 3 ? "a name that is longer than what the collector remembers of names" : "axpy");
    EXPECT_EQ(run.text(operations[i].call_site), "main.cpp:7 main");
    EXPECT_EQ(operations[i].begin, 50u + 10 * i);
    EXPECT_EQ(operations[i].begun, 51u + 10 * i);
    EXPECT_EQ(operations[i].flags, ring::kVirtualTime);
  }
  // The end of a submission is in the thread's next operation, the last in the ring's head.
  EXPECT_EQ(operations[1].ended_before, 0u);
  for (uint32_t i : {2u, 3u}) {
    EXPECT_EQ(operations[i].ended, i);
    EXPECT_EQ(operations[i].begin - operations[i].ended_before, 45u + 10 * i);
  }
  EXPECT_EQ(run.rings().at(0).ended, 4u);
  EXPECT_EQ(run.rings().at(0).ended_at, 85u);
  const auto dependencies =
      run.all<ring::OperationDependenciesRecord>(RecordKind::kOperationDependencies);
  ASSERT_THAT(dependencies, SizeIs(3));  // at registration, when it was satisfied; two in one
  EXPECT_EQ(dependencies[2].count, 2);
  EXPECT_EQ(dependencies[2].dependencies[0].elided, 2);  // the same stream
  EXPECT_EQ(dependencies[2].dependencies[1].inferred, 1);
  const auto points = run.all<ring::TimelinePointRecord>(RecordKind::kTimelinePoint);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].begin, 90u);
  EXPECT_EQ(points[0].value, 4u);
  EXPECT_EQ(points[0].stream, 40u);
  EXPECT_EQ(run.text(run.all<ring::TimelineRecord>(RecordKind::kTimeline).at(0).name), "steps");
  EXPECT_EQ(run.all<ring::BarrierArrivalRecord>(RecordKind::kBarrierArrival).at(0).arrival_ns, 85);
  const auto calls = run.calls();
  ASSERT_THAT(calls, SizeIs(7));
  EXPECT_EQ(name_of(calls[0]), "simLaunchKernel");
  EXPECT_EQ(name_of(calls[2]), "simEventQuery");
  EXPECT_EQ(ring::PollWord{calls[2].value}.more(), 99u);
  EXPECT_EQ(calls[2].begin, 9u);
  EXPECT_EQ(ring::last_end(calls[2]), 209u);
  EXPECT_EQ(calls[0].operation, 1u);  // made between begin and end
  for (size_t i = 1; i < 7; ++i) EXPECT_EQ(calls[i].operation, ring::kNone32);
  const auto completed = run.all<ring::OperationsCompletedRecord>(RecordKind::kOperationsCompleted);
  ASSERT_THAT(completed, SizeIs(2));
  EXPECT_EQ(completed[0].count + completed[1].count, 14);
  EXPECT_EQ(completed[1].operations[1], 13u);
  EXPECT_EQ(completed[1].begin, 89u);
  EXPECT_NE(calls[0].flags & ring::kVirtualTime, 0);
  EXPECT_EQ(run.losses()["bad-observer-fact"], 1u);
  EXPECT_EQ(run.loss_detail(ring::Loss::kBadObserverFact), "simUnheardOf");
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].flags, ring::kVirtualTime);  // began at 0 and is finished
  EXPECT_EQ(kernels[0].end_ns, 50);
  const auto work = run.all<ring::OpRecord>(RecordKind::kDeviceWork);
  ASSERT_THAT(work, SizeIs(1));
  EXPECT_NE(work[0].flags & ring::kUnfinished, 0);
  EXPECT_EQ(work[0].begin_ns, 60);
  EXPECT_EQ(run.text(kernels[0].name), "gemm_kernel");
  EXPECT_EQ(work[0].name, 0u) << "what libcoord calls other work is no name";
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kMark), SizeIs(1));
  const auto queues = run.all<ring::TaskQueueRecord>(RecordKind::kTaskQueue);
  ASSERT_THAT(queues, SizeIs(1));
  EXPECT_EQ(run.text(queues[0].name), "warps");
  const auto runs = run.all<ring::TaskRunRecord>(RecordKind::kTaskRun);
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].run, 6u);
  const auto tasks = run.all<ring::TaskRecord>(RecordKind::kTask);
  ASSERT_GT(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].run, ring::kNone32);
  EXPECT_EQ(tasks[0].flags, ring::kVirtualTime);
  EXPECT_EQ(tasks[0].begin, 209u) << "the thread's call before it had ended then";
  EXPECT_EQ(tasks[0].end, 120u);
  EXPECT_EQ(tasks[0].type, 2);
  EXPECT_EQ(tasks[1].run, 6u);
  EXPECT_EQ(tasks[1].flags, 0) << "times of a run are its own";
  EXPECT_EQ(tasks[1].begin, 5u);
  EXPECT_EQ(tasks[1].end, 25u);
}

TEST(CoordObserver, CallsDoNotBelongToAnOperationThatAnotherThreadHasEnded) {
  Observed run;
  ASSERT_EQ(run.run_child("coord-threads"), 0) << run.error_text();
  std::map<uint32_t, uint32_t> operation_of;
  for (const ring::CallRecord& call : run.calls()) operation_of[call.call_number] = call.operation;
  const std::map<uint32_t, uint32_t> expected = {{1, 1}, {2, 2}, {3, ring::kNone32}};
  EXPECT_EQ(operation_of, expected);
}

}  // namespace
}  // namespace streamscope::collect
