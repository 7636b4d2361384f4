// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/usage/task_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_builder.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;

trace::Task task(Id run, trace::Small worker, Ns offset_ns, trace::Int duration_ns) {
  return {.task_queue_id = 0,
          .task_run_id = run,
          .number = 1,
          .worker = worker,
          .sm = worker / 2,
          .offset_ns = offset_ns,
          .duration_ns = duration_ns};
}

TEST(TaskUsage, CountsTimeOnceInWhichAWarpRunsSeveralTasks) {
  TraceBuilder builder;
  builder.add(trace::TaskQueue{
      .process_id = 0, .name_id = builder.intern("tree"), .on_device = 1, .workers = 4});
  builder.add(trace::TaskRun{.task_queue_id = 0, .left_out = 3});
  builder.add(trace::TaskRun{.task_queue_id = 0, .left_out = 2});
  builder.add(task(0, 0, 100, 50));
  builder.add(task(0, 0, 100, 30));  // another lane, or inside of it
  builder.add(task(0, 0, 140, 20));
  builder.add(task(1, 0, 100, 40));  // times of another run are no earlier or later
  builder.add(task(0, 3, 0, 100));
  const std::vector<TaskUsage> queues = task_usage(builder.trace());
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].name, "tree");
  EXPECT_EQ(queues[0].tasks, 5u);
  EXPECT_EQ(queues[0].runs, 2u);
  EXPECT_EQ(queues[0].left_out, 5u);
  EXPECT_EQ(queues[0].sms, 2u);
  EXPECT_THAT(queues[0].busy_ns, ElementsAre(100, 0, 0, 100));
  EXPECT_THAT(queues[0].tasks_of, ElementsAre(4, 0, 0, 1));
  EXPECT_DOUBLE_EQ(queues[0].imbalance(), 2.0);
}

TEST(TaskUsage, AddsUpTimesOfAnyLength) {
  const TaskUsage queue{.busy_ns = std::vector<Ns>(3, trace::kMostSum)};
  EXPECT_EQ(queue.total_ns(), trace::kMostSum);
}

TEST(TaskUsage, AcceptsAnUnknownQueue) {
  TraceBuilder builder;
  builder.add(trace::TaskQueue{});
  builder.add(trace::Task{.task_queue_id = 0});
  builder.add(trace::Task{.task_queue_id = 0, .worker = 2, .start_ns = 10});
  builder.add(trace::Task{.task_queue_id = 0, .worker = 2, .start_ns = 10, .duration_ns = -5});
  const std::vector<TaskUsage> queues = task_usage(builder.trace());
  EXPECT_EQ(queues[0].tasks, 3u);
  EXPECT_EQ(queues[0].imbalance(), 0);
  EXPECT_THAT(queues[0].busy_ns, ElementsAre(0, 0, 0));
}

TEST(TaskUsage, FindsTheKernelOfARunAmongTheProcesses) {
  TraceBuilder builder;
  test::StreamBuilder first = builder.stream("a");
  first.kernel("workers", 1000, 2000);
  const trace::Int launch = builder.columns().op.call_number[first.last_op()];
  builder.process("other");
  test::StreamBuilder second = builder.stream("b");
  second.kernel("no workers", 10, 20);
  builder.columns().op.call_number[second.last_op()] = launch;
  builder.add(trace::TaskQueue{.process_id = 0});
  builder.add(trace::TaskRun{.task_queue_id = 0, .thread_id = 0, .call_number = launch});
  builder.add(trace::TaskRun{.task_queue_id = 0, .thread_id = 0});
  builder.add(task(0, 0, 30, 5));
  builder.add(task(1, 0, 30, 5));
  builder.add(trace::Task{.task_queue_id = 0, .start_ns = 7});
  const trace::Trace trace = builder.trace();
  const std::vector<Id> ops = task_run_ops(trace);
  EXPECT_THAT(ops, ElementsAre(first.last_op(), kNoId));
  EXPECT_EQ(task_start_ns(trace, ops, 0), 1030);
  EXPECT_EQ(task_start_ns(trace, ops, 1), kUnknownNs);
  EXPECT_EQ(task_start_ns(trace, ops, 2), 7);
}

}  // namespace
}  // namespace streamscope::analysis
