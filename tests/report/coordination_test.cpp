// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "report/sections/coordination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/formats/exporter.h"
#include "report/sections/document.h"
#include "report/sections/info.h"
#include "report/sections/summary.h"
#include "support/trace_builder.h"

namespace streamscope::report {
namespace {

void add_dependency(trace::Trace& trace, trace::Small elided, trace::Small because) {
  auto& rows = trace.operation_dependency;
  rows.operation_id.push_back(0);
  rows.depends_on_operation_id.push_back(0);
  rows.inferred.push_back(0);
  rows.elided.push_back(elided);
  rows.elided_because.push_back(because);
  ++rows.row_count;
}

void add_point(trace::Trace& trace, trace::TimelineAct act, trace::Int value) {
  auto& rows = trace.timeline_point;
  rows.timeline_id.push_back(0);
  rows.act.push_back(act);
  rows.value.push_back(value);
  rows.thread_id.push_back(trace::kNoId);
  rows.stream_id.push_back(trace::kNoId);
  rows.start_ns.push_back(0);
  ++rows.row_count;
}

TEST(Coordination, ReportsWhyWaitsWereNotNeeded) {
  test::TraceBuilder builder;
  trace::Trace trace = builder.trace();
  EXPECT_EQ(coordination_text(coordination_of(trace)), "") << "nothing was reported";
  add_dependency(trace, 0, trace::kNoSmall);
  add_dependency(trace, 1, 1);
  add_dependency(trace, 1, 1);
  add_dependency(trace, 1, 4);
  add_dependency(trace, 1, trace::kNoSmall);
  add_dependency(trace, 1, 77);
  const Coordination coordination = coordination_of(trace);
  EXPECT_EQ(coordination.dependencies, 6u);
  EXPECT_EQ(coordination.waited, 1u);
  EXPECT_THAT(coordination.elided, testing::ElementsAre(2, 2, 0, 0, 1));
  const std::string text = coordination_text(coordination);
  EXPECT_THAT(text, testing::HasSubstr("1 of 6 dependencies made a stream wait"));
  EXPECT_THAT(text, testing::HasSubstr("2 not needed: the stream's own order"));
  EXPECT_EQ(dependencies_sentence(coordination),
            "1 of 6 dependencies made a stream wait; not needed: 2 (reason not reported), 2 (the "
            "stream's own order), 1 (already completed).");
}

TEST(Coordination, ReportsTheProgressOfTimelines) {
  test::TraceBuilder builder;
  trace::Trace trace = builder.trace();
  trace.timeline.process_id.push_back(trace::kNoId);
  trace.timeline.native_id.push_back(1);
  trace.timeline.name_id.push_back(static_cast<trace::Id>(trace.strings.size()));
  trace.strings.emplace_back("steps");
  trace.timeline.initial.push_back(3);
  trace.timeline.row_count = 1;
  add_point(trace, trace::kTimelineSignal, 7);
  add_point(trace, trace::kTimelineWait, 5);
  add_point(trace, trace::kTimelineReach, 5);
  add_point(trace, trace::kTimelineRelease, 5);
  add_point(trace, trace::kTimelineWait, 9);
  add_point(trace, trace::kTimelineGiveUp, 9);
  EXPECT_EQ(coordination_text(coordination_of(trace)),
            "  timeline steps: reached 5 of 7, 2 waits, 1 of them given up\n");
}

TEST(Coordination, IsPartOfTheReport) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 10, 20);
  builder.add(trace::Timeline{.name_id = builder.intern("steps"), .initial = 0});
  trace::Trace trace = builder.trace();
  const auto written = [&](std::string_view format) {
    return std::ranges::find(exporters(), format, &Exporter::name)
        ->write(trace, summarize(trace), {});
  };
  EXPECT_THAT(written("text"), testing::HasSubstr("Dependencies and timelines"));
  add_dependency(trace, 1, 2);
  add_point(trace, trace::kTimelineSignal, 7);
  EXPECT_THAT(written("text"),
              testing::HasSubstr("0 of 1 dependency made a stream wait; not needed: 1 (an earlier "
                                 "wait of the stream)."));
  EXPECT_THAT(written("text"), testing::ContainsRegex("steps +7 +0 +0"));
  EXPECT_THAT(written("json"), testing::HasSubstr("\"earlier_wait\": 1"));
  EXPECT_THAT(written("text"), testing::HasSubstr("steps"));
}

TEST(Coordination, ShowsHowEvenlyWorkersOfTaskQueuesWereBusy) {
  test::TraceBuilder builder;
  builder.add(trace::TaskQueue{
      .process_id = 0, .name_id = builder.intern("tree"), .on_device = 1, .workers = 4});
  builder.add(trace::TaskQueue{
      .process_id = 0, .name_id = builder.intern("quiet"), .on_device = 1, .workers = 8});
  builder.add(trace::TaskRun{.task_queue_id = 0, .left_out = 7});
  for (const trace::Small worker : {0, 0, 1}) {
    builder.add(
        trace::Task{.task_queue_id = 0,
                    .task_run_id = 0,
                    .worker = worker,
                    .sm = worker,
                    .offset_ns = 1000 * static_cast<trace::Int>(builder.columns().task.size()),
                    .duration_ns = 1000});
  }
  const trace::Trace trace = builder.trace();
  const Coordination coordination = coordination_of(trace);
  EXPECT_THAT(
      coordination_text(coordination),
      testing::HasSubstr("task queue tree: 3 tasks by 4 workers, longest busy 2.67 x the mean"));
  const Document document = compose(trace, summarize(trace), By::kStream);
  const auto section =
      std::find_if(document.sections.begin(), document.sections.end(),
                   [](const Section& each) { return each.title == "Task queues"; });
  ASSERT_NE(section, document.sections.end());
  ASSERT_EQ(section->rows.size(), 2u);
  EXPECT_THAT(section->rows[1],
              testing::ElementsAre("quiet", "8 warps", "not recorded", "", "–", "–", "–", ""));
  EXPECT_THAT(coordination_text(coordination),
              testing::HasSubstr("task queue quiet: its tasks are not recorded"));
  EXPECT_THAT(section->rows[0], testing::ElementsAre("tree", "4 warps on 2 SMs", "3", "0 to 2",
                                                     "750 ns", "2.00 µs", "2.67", "7"));
  EXPECT_THAT(info_json(info_of(trace)), testing::HasSubstr("\"imbalance\": 2.66"));
}

}  // namespace
}  // namespace streamscope::report
