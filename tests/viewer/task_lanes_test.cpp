// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace_model.h"
#include "support/trace_builder.h"
#include "window/view.h"

namespace streamscope::viewer {
namespace {

using testing::ElementsAre;
using trace::Small;

std::vector<std::string> indented_titles(const TraceModel& model) {
  std::vector<std::string> result;
  for (const Lane& lane : model.lanes())
    result.push_back(std::string(static_cast<size_t>(lane.depth), ' ') + lane.title);
  return result;
}

// A queue on the GPU whose workers run from 1000 on, with a task on each of this many SMs.
Id add_device_queue(test::TraceBuilder& builder, Small sms) {
  test::StreamBuilder stream = builder.stream("math");
  stream.kernel("workers", 1000, 2000);
  const Id queue = builder.add(
      trace::TaskQueue{.process_id = 0, .name_id = builder.intern("tree"), .on_device = 1});
  const Id run = builder.add(
      trace::TaskRun{.task_queue_id = queue,
                     .thread_id = 0,
                     .call_number = builder.columns().op.call_number[stream.last_op()]});
  for (Small sm = 0; sm < sms; ++sm) {
    builder.add(trace::Task{.task_queue_id = queue,
                            .task_run_id = run,
                            .number = 40 + sm,
                            .worker = 8 * sm,
                            .sm = sm,
                            .offset_ns = 100 * sm,
                            .duration_ns = 300});
  }
  return run;
}

TEST(TaskLanes, ShowTasksOfAGpuByMultiprocessorUnderTheirDevice) {
  test::TraceBuilder builder;
  const Id run = add_device_queue(builder, 2);
  builder.add(trace::Task{.task_queue_id = 0,
                          .task_run_id = run,
                          .number = 9,
                          .worker = 1,
                          .sm = 1,
                          .offset_ns = 200,
                          .duration_ns = 50});  // another warp at the same time
  const TraceModel model(builder.trace());
  EXPECT_THAT(indented_titles(model),
              ElementsAre(testing::_, " GPU 0", "  math", "  Tasks of tree", "   SM 0", "   SM 1",
                          "  Busy", " Host threads", "  main"));
  const Item second{ItemKind::kTask, 1};
  EXPECT_EQ(model.items().time(second), (TimeRange{1100, 1400}));
  EXPECT_EQ(model.items().label(second), "task 41");
  EXPECT_EQ(model.items().category(second), Category::kTask);
  const auto place = model.lanes().place(second);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(model.lanes()[place->lane].title, "SM 1");
  EXPECT_EQ(model.lanes()[place->lane].bands.size(), 2u);
  EXPECT_EQ(model.lanes().at(*place), second);
  EXPECT_TRUE(model.lanes().has(Category::kTask));
}

TEST(TaskLanes, ShowTasksOfTheHostByWorkerUnderTheirProcess) {
  test::TraceBuilder builder;
  builder.stream("math").kernel("k", 100, 200);
  builder.add(trace::TaskQueue{.process_id = 0, .on_device = 0, .workers = 3});
  builder.add(trace::Task{.task_queue_id = 0,
                          .number = 0,
                          .worker = 2,
                          .thread_id = 0,
                          .start_ns = 50,
                          .duration_ns = 900});
  const TraceModel model(builder.trace());
  EXPECT_THAT(indented_titles(model),
              ElementsAre(testing::_, " GPU 0", "  math", "  Busy", " Tasks", "  worker 2",
                          " Host threads", "  main"));
  EXPECT_EQ(model.extent().end_ns, 950);
}

TEST(TaskLanes, OmitTasksWithoutTimes) {
  test::TraceBuilder builder;
  const Id run = add_device_queue(builder, 1);
  builder.columns().op.start_ns[0] = builder.columns().op.end_ns[0] = trace::kUnknownNs;
  builder.add(trace::Task{});
  builder.add(trace::Task{.task_queue_id = 0, .task_run_id = run + 1, .worker = 0, .sm = 0});
  const TraceModel model(builder.trace());
  for (const Lane& lane : model.lanes()) EXPECT_NE(lane.kind, LaneKind::kTaskWorker);
  for (Id task = 0; task < 3; ++task) {
    EXPECT_FALSE(model.items().time({ItemKind::kTask, task}).has_value());
    EXPECT_FALSE(model.lanes().place({ItemKind::kTask, task}).has_value());
  }
}

TEST(TaskLanes, AreCollapsedAtFirstIfThereAreMany) {
  test::TraceBuilder few, many;
  add_device_queue(few, 4);
  add_device_queue(many, 132);
  for (const bool collapsed : collapsed_at_first(TraceModel(few.trace()).lanes()))
    EXPECT_FALSE(collapsed);
  const TraceModel model(many.trace());
  const std::vector<bool> collapsed = collapsed_at_first(model.lanes());
  for (size_t lane = 0; lane < collapsed.size(); ++lane)
    EXPECT_EQ(collapsed[lane], model.lanes()[lane].kind == LaneKind::kTaskQueue);
}

}  // namespace
}  // namespace streamscope::viewer
