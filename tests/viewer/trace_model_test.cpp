// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/trace_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace_facts.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Lane* find_lane(const TraceModel& model, std::string_view title) {
  for (const Lane& lane : model.lanes()) {
    if (lane.title == title) return &lane;
  }
  return nullptr;
}

// copies: |copy 100-200|; math: waits for it, |gemm 210-350|; nothing before gemm on math.
TraceBuilder copy_then_gemm() {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200, 4096).record("loaded");
  builder.stream("math").wait("loaded").kernel("void ns::gemm<float>(float*)", 210, 350);
  return builder;
}

TEST(TraceModel, ShowsProcessThenDeviceThenStreamsThenThreads) {
  const TraceModel model(copy_then_gemm().trace());
  std::vector<LaneKind> kinds;
  for (const Lane& lane : model.lanes()) kinds.push_back(lane.kind);
  EXPECT_THAT(kinds, ElementsAre(LaneKind::kProcess, LaneKind::kDevice, LaneKind::kStream,
                                 LaneKind::kStream, LaneKind::kCopies, LaneKind::kCounter,
                                 LaneKind::kHost, LaneKind::kThread));
  EXPECT_EQ(model.lanes()[2].title, "copies");
  EXPECT_EQ(model.lanes()[2].parent, 1);
}

TEST(TraceModel, KnowsWhereEveryItemIsDrawn) {
  const TraceModel model(copy_then_gemm().trace());
  for (const Item item :
       {Item{ItemKind::kOp, 0}, Item{ItemKind::kOp, 1}, Item{ItemKind::kApiCall, 0},
        Item{ItemKind::kEventRecord, 0}, Item{ItemKind::kEventWait, 0}}) {
    const auto place = model.lanes().place(item);
    ASSERT_TRUE(place) << static_cast<int>(item.kind);
    EXPECT_EQ(model.lanes().at(*place), item);
  }
  EXPECT_FALSE(model.lanes().place({ItemKind::kOp, 2}));
  EXPECT_FALSE(model.lanes().place({}));
}

TEST(TraceModel, TiesARecordToTheWaitingOp) {
  const TraceModel model(copy_then_gemm().trace());
  ASSERT_EQ(model.edges().size(), 1u);
  ASSERT_EQ(model.edges().incoming(1).size(), 1u);
  const Dependency& dependency = model.edges()[model.edges().incoming(1)[0]];
  EXPECT_EQ(dependency.from_op, 0u);
  EXPECT_EQ(dependency.to_op, 1u);
  EXPECT_EQ(dependency.record, 0u);
  EXPECT_EQ(dependency.wait, 0u);
  EXPECT_EQ(model.edges().outgoing(0).size(), 1u);
  EXPECT_THAT(model.edges().of({ItemKind::kEventWait, 0}),
              ElementsAre(model.edges().incoming(1)[0]));
  EXPECT_THAT(model.edges().of({ItemKind::kEventRecord, 0}),
              ElementsAre(model.edges().incoming(1)[0]));
  // Issued at 3, it started at 210, 10 after what it waited for.
  EXPECT_EQ(model.edges().waited_ns(model.edges().incoming(1)[0]), 197);
  ASSERT_EQ(model.waits().of(1).size(), 2u);
  EXPECT_EQ(model.waits().of(1)[0].cause, streamscope::WaitCause::kEvent);
  EXPECT_EQ(model.waits().of(1)[1].cause, streamscope::WaitCause::kStart);
  const Lane* math = find_lane(model, "math");
  ASSERT_NE(math, nullptr);
  ASSERT_EQ(math->waits.size(), 1u);
  EXPECT_EQ(math->waits.start_ns[0], 3);
  EXPECT_EQ(math->waits.end_ns[0], 200);
  EXPECT_EQ(math->passed_waits.size(), 1u);
}

TEST(TraceModel, DrawsNoWaitIfTheWorkWasAlreadyDone) {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").kernel("before", 50, 400).wait("loaded").kernel("gemm", 410, 500);
  const TraceModel model(builder.trace());
  ASSERT_EQ(model.edges().size(), 1u);
  EXPECT_EQ(model.edges().waited_ns(0), 0);
  EXPECT_TRUE(model.waits().longest(5).empty());
  EXPECT_EQ(find_lane(model, "math")->waits.size(), 0u);
}

TEST(TraceModel, GroupsSimilarWaits) {
  TraceBuilder builder;
  for (const Ns at : {0, 10'000, 20'000}) {
    builder.at(at);
    builder.stream("copies").memcpy(test::kHtoD, at + 100, at + 200 + at / 10).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm", at + 210 + at / 10, at + 3000);
  }
  const TraceModel model(builder.trace());
  const auto groups = model.waits().groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].count, 3u);
  EXPECT_EQ(groups[0].longest.edge, model.waits().longest(1).at(0).edge);
  Ns total = 0;
  for (uint32_t i = 0; i < 3; ++i) total += model.edges().waited_ns(i);
  EXPECT_EQ(groups[0].times.total_ns(), total);
}

TEST(TraceModel, HidesAPoolOfUnusedStreamsButNotAFew) {
  const auto shown = [](int unused) {
    TraceBuilder builder = copy_then_gemm();
    for (int i = 0; i < unused; ++i) builder.stream("spare " + std::to_string(i));
    const TraceModel model(builder.trace());
    size_t streams = 0;
    for (const Lane& lane : model.lanes()) streams += lane.kind == LaneKind::kStream;
    return std::pair(streams, model.lanes()[1].detail);
  };
  EXPECT_EQ(shown(4).first, 6u);
  EXPECT_THAT(shown(4).second, ::testing::Not(HasSubstr("idle")));
  EXPECT_EQ(shown(32).first, 2u);
  EXPECT_THAT(shown(32).second, HasSubstr("32 unused"));
}

TEST(TraceModel, KnowsWhenTheDevicesWorked) {
  TraceBuilder builder = copy_then_gemm();
  builder.synchronize_device(400, 90'000);
  const TraceModel model(builder.trace());
  EXPECT_EQ(model.work().begin_ns, 100);
  EXPECT_EQ(model.work().end_ns, 350);
  EXPECT_EQ(model.extent().end_ns, 90'000);
}

TEST(TraceModel, KnowsWhatNeverEnded) {
  TraceBuilder builder = copy_then_gemm();
  builder.stream("math").memory_wait(0x1000, 1, 400, trace::kUnknownNs);
  builder.synchronize_device(500, trace::kUnknownNs);
  const TraceModel model(builder.trace());
  EXPECT_THAT(never_ended_ops(model.trace()), ElementsAre(2u));
  EXPECT_TRUE(model.items().never_ended({ItemKind::kHostSync, 0}));
  EXPECT_FALSE(model.items().never_ended({ItemKind::kOp, 1}));
  EXPECT_EQ(model.work().end_ns, model.extent().end_ns);
}

TEST(TraceModel, UsesIssueTimesIfThereAreNoDeviceTimes) {
  TraceBuilder builder = copy_then_gemm();
  for (size_t i = 0; i < 2; ++i) {
    builder.columns().op.start_ns[i] = trace::kUnknownNs;
    builder.columns().op.end_ns[i] = trace::kUnknownNs;
  }
  const TraceModel model(builder.trace());
  const Lane* math = find_lane(model, "math");
  ASSERT_NE(math, nullptr);
  EXPECT_TRUE(math->host_times);
  EXPECT_LT(math->busy_share, 0);
  EXPECT_EQ(model.items().time({ItemKind::kOp, 1}), model.items().time(model.items().call_of(1)));
}

TEST(TraceModel, KeepsACallThatNeverReturnedOpenToTheEnd) {
  TraceBuilder builder = copy_then_gemm();
  builder.synchronize_device(20, 30);
  builder.columns().host_sync.end_ns[0] = trace::kUnknownNs;
  const TraceModel model(builder.trace());
  EXPECT_EQ(model.items().time({ItemKind::kHostSync, 0})->end_ns, model.extent().end_ns);
}

TEST(TraceModel, NamesCopiesByDirectionAndSizeAndKernelsByFunction) {
  const TraceModel model(copy_then_gemm().trace());
  EXPECT_EQ(model.items().label({ItemKind::kOp, 0}), "HtoD 4\u00a0KiB");
  EXPECT_EQ(model.items().label({ItemKind::kOp, 1}), "gemm");
  EXPECT_EQ(model.items().name({ItemKind::kOp, 1}), "void ns::gemm<float>(float*)");
  EXPECT_EQ(model.items().category({ItemKind::kOp, 0}), Category::kCopyToDevice);
}

TEST(TraceModel, ShowsNoTerminalOrDirectionControls) {
  TraceBuilder builder;
  builder.thread("main\x1b[31m");
  builder.stream("\u202emath").kernel("\u200fgemm", 100, 200).record("\u2066ready");
  const TraceModel model(builder.trace());
  const Item gemm{ItemKind::kOp, 0};
  EXPECT_EQ(model.items().label(gemm), "[U+200F]gemm");
  EXPECT_EQ(model.items().name(gemm), "[U+200F]gemm");
  EXPECT_EQ(model.lanes().label_with_stream(gemm), "[U+200F]gemm on [U+202E]math");
  EXPECT_EQ(model.items().stream_name(0), "[U+202E]math");
  EXPECT_EQ(model.items().event_name(0), "[U+2066]ready");
  EXPECT_EQ(model.items().thread_name(model.trace().thread.size() - 1), "main [31m");
}

TEST(TraceModel, SumsAMarkedRange) {
  const TraceModel model(copy_then_gemm().trace());
  const Sums sums = model.lanes().sums({150, 300});
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kCopyToDevice)].busy_ns, 50);
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kKernel)].busy_ns, 90);
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kKernel)].count, 1);
  ASSERT_EQ(sums.by_stream.size(), 2u);
  EXPECT_EQ(sums.by_stream[1].second.busy_ns, 90);
}

TEST(TraceModel, ReportsWhatIsMissing) {
  TraceBuilder builder = copy_then_gemm();
  builder.loss("ring-full", 1204);
  const TraceModel model(builder.trace());
  ASSERT_FALSE(loss_lines(model).empty());
  EXPECT_THAT(loss_lines(model)[0], HasSubstr("1,204"));
  EXPECT_THAT(warning(model, false), HasSubstr("1,204"));
}

TEST(TraceModel, SurvivesAnEmptyTrace) {
  const TraceModel model{trace::Trace{}};
  EXPECT_GT(model.extent().duration_ns(), 0);
  EXPECT_TRUE(model.lanes().empty());
  EXPECT_TRUE(model.waits().longest(3).empty());
  EXPECT_EQ(model.activity().kernels.size(), Activity::kBuckets);
}

TEST(TraceModel, SurvivesDanglingIds) {
  TraceBuilder builder = copy_then_gemm();
  trace::Trace& columns = builder.columns();
  columns.op.stream_id[0] = 77;
  columns.op.api_call_id[1] = 4711;
  columns.op.name_id[1] = kNoId;
  columns.event_wait.record_id[0] = 99;
  columns.event_record.thread_id[0] = kNoId;
  builder.add(trace::Edge{.kind = trace::kEventEdge, .from_op_id = 500, .to_op_id = 1});
  const TraceModel model(builder.trace());
  EXPECT_FALSE(model.lanes().place({ItemKind::kOp, 0}));
  EXPECT_FALSE(model.items().call_of(1));
  EXPECT_EQ(model.items().label({ItemKind::kOp, 1}), "kernel");
}

}  // namespace
}  // namespace streamscope::viewer
