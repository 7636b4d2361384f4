// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/lane_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace_model.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

// process > GPU > copies, math, results; host > main.
test::TraceBuilder three_streams() {
  test::TraceBuilder builder;
  for (const char* name : {"copies", "math", "results"}) builder.stream(name).kernel("k", 10, 20);
  return builder;
}

std::vector<std::string> titles(const TraceModel& model, const LaneOrder::Shown& shown) {
  std::vector<std::string> result;
  for (const size_t lane : shown.lanes) {
    const Lane& each = model.lanes()[lane];
    if (each.kind == LaneKind::kStream || each.kind == LaneKind::kThread)
      result.push_back(each.title);
  }
  return result;
}

size_t lane(const TraceModel& model, std::string_view title) {
  return static_cast<size_t>(std::ranges::find(model.lanes(), title, &Lane::title) -
                             model.lanes().begin());
}

TEST(LaneOrder, ShowsAllLanesInDocumentOrder) {
  const TraceModel model(three_streams().trace());
  const LaneOrder order;
  EXPECT_EQ(order.shown(model.lanes(), {}).lanes.size(), model.lanes().size());
  EXPECT_THAT(titles(model, order.shown(model.lanes(), {})),
              ElementsAre("copies", "math", "results", "main"));
}

TEST(LaneOrder, HidesTheContentOfACollapsedLane) {
  const TraceModel model(three_streams().trace());
  std::vector<bool> collapsed(model.lanes().size());
  collapsed[lane(model, "Host threads")] = true;
  EXPECT_THAT(titles(model, LaneOrder().shown(model.lanes(), collapsed)),
              ElementsAre("copies", "math", "results"));
}

TEST(LaneOrder, KeepsTheGroupsOfMatchingLanes) {
  const TraceModel model(three_streams().trace());
  LaneOrder order;
  order.set_filter("MAT");
  const LaneOrder::Shown shown = order.shown(model.lanes(), {});
  EXPECT_THAT(titles(model, shown), ElementsAre("math"));
  EXPECT_EQ(shown.lanes.size(), 3u);  // with the process and the device
  order.set_filter("no such lane");
  EXPECT_TRUE(order.shown(model.lanes(), {}).lanes.empty());
  order.set_filter("");
  EXPECT_EQ(order.shown(model.lanes(), {}).lanes.size(), model.lanes().size());
}

TEST(LaneOrder, PutsPinnedLanesFirst) {
  const TraceModel model(three_streams().trace());
  LaneOrder order;
  order.toggle_pinned(model.lanes(), lane(model, "results"));
  const LaneOrder::Shown shown = order.shown(model.lanes(), {});
  EXPECT_EQ(shown.pinned_count, 1u);
  EXPECT_THAT(titles(model, shown), ElementsAre("results", "copies", "math", "main"));
  order.toggle_pinned(model.lanes(), 0);  // a group: stays
  EXPECT_EQ(order.shown(model.lanes(), {}).pinned_count, 1u);
  order.toggle_pinned(model.lanes(), lane(model, "results"));
  EXPECT_EQ(order.shown(model.lanes(), {}).pinned_count, 0u);
}

TEST(LaneOrder, MovesLanesWithinTheirGroup) {
  const TraceModel model(three_streams().trace());
  LaneOrder order;
  order.move(model.lanes(), lane(model, "copies"), lane(model, "results"));
  EXPECT_THAT(titles(model, order.shown(model.lanes(), {})),
              ElementsAre("math", "results", "copies", "main"));
  order.move(model.lanes(), lane(model, "copies"), lane(model, "math"));
  EXPECT_THAT(titles(model, order.shown(model.lanes(), {})),
              ElementsAre("copies", "math", "results", "main"));
  order.move(model.lanes(), lane(model, "main"), lane(model, "copies"));  // of another group
  EXPECT_THAT(titles(model, order.shown(model.lanes(), {})),
              ElementsAre("copies", "math", "results", "main"));
}

TEST(LaneOrder, MovesAGroupWithItsContent) {
  test::TraceBuilder builder = three_streams();
  builder.device("second");
  builder.stream("elsewhere").kernel("k", 10, 20);
  const TraceModel model(builder.trace());
  LaneOrder order;
  order.move(model.lanes(), lane(model, "GPU 0"), lane(model, "GPU 1"));
  EXPECT_THAT(titles(model, order.shown(model.lanes(), {})),
              ElementsAre("elsewhere", "copies", "math", "results", "main"));
}

}  // namespace
}  // namespace streamscope::viewer
