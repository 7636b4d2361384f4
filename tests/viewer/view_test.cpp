// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "view.h"

#include <gtest/gtest.h>

#include <set>

#include "commands.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

Document sample() {
  test::TraceBuilder builder;
  builder.stream("copies")
      .memcpy(test::kHtoD, 100, 200)
      .record("loaded")
      .memcpy(test::kHtoD, 220, 320);
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350).kernel("relu", 360, 400);
  return Document(builder.trace());
}

ViewState state_of(const Document& document) {
  ViewState state;
  state.window.width_px = 1000;
  fit(document, state);
  return state;
}

constexpr Item op(Id id) { return {ItemKind::kOp, id}; }

TEST(Fit, ShowsTheWholeTrace) {
  const Document document = sample();
  const ViewState state = state_of(document);
  EXPECT_GE(state.window.to_px(document.extent().begin_ns), 0);
  EXPECT_LE(state.window.to_px(document.extent().end_ns), 1000);
}

TEST(Pan, NeverLosesTheTrace) {
  const Document document = sample();
  ViewState state = state_of(document);
  for (int i = 0; i < 50; ++i) pan(document, state, 900);
  EXPECT_LE(state.window.to_px(document.extent().begin_ns), 1000);
  for (int i = 0; i < 50; ++i) pan(document, state, -900);
  EXPECT_GE(state.window.to_px(document.extent().end_ns), 0);
}

TEST(Zoom, EndsAtTheTraceAndAtPartsOfANanosecond) {
  const Document document = sample();
  ViewState state = state_of(document);
  for (int i = 0; i < 100; ++i) zoom(document, state, 500, 0.5);
  EXPECT_LE(state.window.span_ns(), 2.01 * static_cast<double>(document.extent().duration_ns()));
  for (int i = 0; i < 100; ++i) zoom(document, state, 500, 2);
  EXPECT_EQ(state.window.ns_per_px, kMinNsPerPx);
}

TEST(StepInRow, WalksAlongALane) {
  const Document document = sample();
  ViewState state = state_of(document);
  step_in_row(document, state, 1);
  EXPECT_EQ(state.selection, op(0));
  step_in_row(document, state, 1);
  EXPECT_EQ(state.selection, op(1));
  step_in_row(document, state, 1);
  EXPECT_EQ(state.selection, op(1)) << "there is no next one";
  step_in_row(document, state, -1);
  EXPECT_EQ(state.selection, op(0));
}

TEST(StepToRow, FindsTheNearestInTheNextLane) {
  const Document document = sample();
  ViewState state = state_of(document);
  state.selection = op(1);
  step_to_row(document, state, 1);
  EXPECT_EQ(state.selection, op(2));
  state.selection = op(3);
  step_to_row(document, state, -1);
  EXPECT_EQ(state.selection, op(1));
}

TEST(FollowEdge, GoesToTheCauseAndBack) {
  const Document document = sample();
  ViewState state = state_of(document);
  state.selection = op(2);
  follow_edge(document, state, true);
  EXPECT_EQ(state.selection, op(0));
  follow_edge(document, state, false);
  EXPECT_EQ(state.selection, op(2));
  follow_edge(document, state, false);
  EXPECT_EQ(state.selection, op(3)) << "without an edge, the order of the stream";
}

TEST(StepToHit, GoesRoundTheHitsOfASearch) {
  const Document document = sample();
  ViewState state = state_of(document);
  step_to_hit(document, state, 1);
  EXPECT_FALSE(state.selection) << "nothing was searched for";
  state.searched = document.names_with("E");
  state.hits = document.items_with(state.searched, 100);
  std::erase_if(state.hits, [](Item item) { return item.kind != ItemKind::kOp; });
  ASSERT_EQ(state.hits.size(), 2u) << "gemm and relu";
  state.selection = op(2);
  step_to_hit(document, state, 1);
  EXPECT_EQ(state.selection, op(3));
  step_to_hit(document, state, 1);
  EXPECT_EQ(state.selection, op(2));
  step_to_hit(document, state, -1);
  EXPECT_EQ(state.selection, op(3));
}

TEST(ToggleDrawer, OpensAndClosesAView) {
  ViewState state;
  toggle_drawer(state, "findings");
  EXPECT_EQ(state.drawer, "findings");
  toggle_drawer(state, "graph");
  EXPECT_EQ(state.drawer, "graph");
  toggle_drawer(state, "graph");
  EXPECT_TRUE(state.drawer.empty());
}

TEST(JumpToCause, LeadsBetweenOpAndCall) {
  const Document document = sample();
  ViewState state = state_of(document);
  state.selection = op(2);
  jump_to_cause(document, state);
  EXPECT_EQ(state.selection.kind, ItemKind::kApiCall);
  jump_to_cause(document, state);
  EXPECT_EQ(state.selection, op(2));
}

TEST(Commands, HaveNamesOfTheirOwnAndKeysOfTheirOwn) {
  std::set<std::string> names, keys;
  for (const Command& command : commands()) {
    EXPECT_TRUE(names.insert(std::string(command.name)).second) << command.name;
    std::string all(command.keys);
    for (size_t at = 0; at < all.size();) {
      const size_t end = std::min(all.find(' ', at), all.size());
      EXPECT_TRUE(keys.insert(all.substr(at, end - at)).second) << all;
      EXPECT_EQ(find_command(all.substr(at, end - at)), &command) << all;
      at = end + 1;
    }
    EXPECT_FALSE(all.empty()) << command.name;
  }
  EXPECT_EQ(find_command("Ctrl+Alt+X"), nullptr);
}

TEST(Commands, RunOnAnyTraceInAnyState) {
  const Document documents[] = {sample(), Document(trace::Trace{})};
  for (const Document& document : documents) {
    for (const Item item : {Item{}, op(0), op(2), Item{ItemKind::kEventWait, 0}, op(12345)}) {
      for (const Command& command : commands()) {
        ViewState state = state_of(document);
        state.selection = item;
        command.run(document, state);
        EXPECT_GT(state.window.ns_per_px, 0) << command.name;
      }
    }
  }
}

TEST(MatchingCommands, FindWordsInAnyCase) {
  const auto found = matching_commands("ZOOM in");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0]->name, "Zoom in");
  EXPECT_EQ(matching_commands("").size(), commands().size());
  EXPECT_TRUE(matching_commands("make coffee").empty());
}

}  // namespace
}  // namespace streamscope::viewer
