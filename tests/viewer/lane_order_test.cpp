// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/lane_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::vector<std::string> titles(const Document& document, const LaneOrder::Shown& shown) {
  std::vector<std::string> result;
  for (const size_t lane : shown.lanes) {
    const Lane& each = document.lanes()[lane];
    if (each.kind == LaneKind::kStream || each.kind == LaneKind::kThread)
      result.push_back(each.title);
  }
  return result;
}

size_t lane(const Document& document, std::string_view title) {
  return static_cast<size_t>(std::ranges::find(document.lanes(), title, &Lane::title) -
                             document.lanes().begin());
}

TEST(LaneOrder, ShowsAllLanesInDocumentOrder) {
  const Document document(three_streams().trace());
  const LaneOrder order;
  EXPECT_EQ(order.shown(document, {}).lanes.size(), document.lanes().size());
  EXPECT_THAT(titles(document, order.shown(document, {})),
              ElementsAre("copies", "math", "results", "main"));
}

TEST(LaneOrder, HidesTheContentOfACollapsedLane) {
  const Document document(three_streams().trace());
  std::vector<bool> collapsed(document.lanes().size());
  collapsed[lane(document, "Host threads")] = true;
  EXPECT_THAT(titles(document, LaneOrder().shown(document, collapsed)),
              ElementsAre("copies", "math", "results"));
}

TEST(LaneOrder, KeepsTheGroupsOfMatchingLanes) {
  const Document document(three_streams().trace());
  LaneOrder order;
  order.set_filter("MAT");
  const LaneOrder::Shown shown = order.shown(document, {});
  EXPECT_THAT(titles(document, shown), ElementsAre("math"));
  EXPECT_EQ(shown.lanes.size(), 3u);  // with the process and the device
  order.set_filter("no such lane");
  EXPECT_TRUE(order.shown(document, {}).lanes.empty());
  order.set_filter("");
  EXPECT_EQ(order.shown(document, {}).lanes.size(), document.lanes().size());
}

TEST(LaneOrder, PutsPinnedLanesFirst) {
  const Document document(three_streams().trace());
  LaneOrder order;
  order.toggle_pinned(document, lane(document, "results"));
  const LaneOrder::Shown shown = order.shown(document, {});
  EXPECT_EQ(shown.pinned_count, 1u);
  EXPECT_THAT(titles(document, shown), ElementsAre("results", "copies", "math", "main"));
  order.toggle_pinned(document, 0);  // a group: stays
  EXPECT_EQ(order.shown(document, {}).pinned_count, 1u);
  order.toggle_pinned(document, lane(document, "results"));
  EXPECT_EQ(order.shown(document, {}).pinned_count, 0u);
}

TEST(LaneOrder, MovesLanesWithinTheirGroup) {
  const Document document(three_streams().trace());
  LaneOrder order;
  order.move(document, lane(document, "copies"), lane(document, "results"));
  EXPECT_THAT(titles(document, order.shown(document, {})),
              ElementsAre("math", "results", "copies", "main"));
  order.move(document, lane(document, "copies"), lane(document, "math"));
  EXPECT_THAT(titles(document, order.shown(document, {})),
              ElementsAre("copies", "math", "results", "main"));
  order.move(document, lane(document, "main"), lane(document, "copies"));  // of another group
  EXPECT_THAT(titles(document, order.shown(document, {})),
              ElementsAre("copies", "math", "results", "main"));
}

TEST(LaneOrder, MovesAGroupWithItsContent) {
  test::TraceBuilder builder = three_streams();
  builder.device("second");
  builder.stream("elsewhere").kernel("k", 10, 20);
  const Document document(builder.trace());
  LaneOrder order;
  order.move(document, lane(document, "GPU 0"), lane(document, "GPU 1"));
  EXPECT_THAT(titles(document, order.shown(document, {})),
              ElementsAre("elsewhere", "copies", "math", "results", "main"));
}

}  // namespace
}  // namespace streamscope::viewer
