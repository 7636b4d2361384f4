// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "model/trace_model.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

std::vector<const Lane*> lanes_of(const TraceModel& model, LaneKind kind) {
  std::vector<const Lane*> lanes;
  for (const Lane& lane : model.lanes()) {
    if (lane.kind == kind) lanes.push_back(&lane);
  }
  return lanes;
}

// Where the work issued in the range of this name ran.
TimeRange on_gpu(const TraceModel& model, std::string_view name) {
  for (const Lane* lane : lanes_of(model, LaneKind::kGpuRanges)) {
    for (const Band& band : lane->bands) {
      for (size_t i = 0; i < band.row.size(); ++i) {
        if (model.items().label(unpack(band.row.item[i])) == name)
          return {band.row.start_ns[i], band.row.end_ns[i]};
      }
    }
  }
  return {0, 0};
}

TEST(GpuRanges, SpanTheWorkIssuedInThem) {
  test::TraceBuilder builder;
  builder.range("step", 0, 100).range("forward", 10, 50).range("idle", 60, 70);
  test::StreamBuilder math = builder.stream("math"), other = builder.stream("other");
  builder.at(20);
  math.kernel("first", 200, 300);
  other.kernel("second", 250, 400);
  builder.at(80);
  math.kernel("third", 500, 600);
  builder.at(150);
  math.kernel("outside", 700, 800);
  const TraceModel model(builder.trace());
  EXPECT_EQ(on_gpu(model, "forward"), (TimeRange{200, 400}));
  EXPECT_EQ(on_gpu(model, "step"), (TimeRange{200, 600}));
  EXPECT_EQ(on_gpu(model, "idle"), (TimeRange{0, 0}));
}

TEST(GpuRanges, KnowTheirThread) {
  test::TraceBuilder builder;
  builder.thread("loader").range("load", 0, 100);
  builder.thread("main").at(20).stream("math").kernel("gemm", 200, 300);
  EXPECT_TRUE(lanes_of(TraceModel(builder.trace()), LaneKind::kGpuRanges).empty());
}

TEST(Copies, OfADirectionShareALaneAndAreCountedOnce) {
  test::TraceBuilder builder;
  builder.stream("a").memcpy(test::kHtoD, 100, 200).memcpy(test::kDtoH, 300, 350);
  builder.stream("b").memcpy(test::kHtoD, 150, 250).kernel("gemm", 260, 280);
  const TraceModel model(builder.trace());
  const auto lanes = lanes_of(model, LaneKind::kCopies);
  ASSERT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes[0]->title, "Copies to device");
  EXPECT_EQ(lanes[0]->bands.size(), 2u);  // they overlap
  EXPECT_EQ(lanes[1]->title, "Copies to host");
  const auto sums = model.lanes().sums(model.extent());
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kCopyToDevice)].count, 2);
  const Item first{ItemKind::kOp, 0};
  EXPECT_EQ(model.lanes()[model.lanes().place(first)->lane].kind, LaneKind::kStream);
}

}  // namespace
}  // namespace streamscope::viewer
