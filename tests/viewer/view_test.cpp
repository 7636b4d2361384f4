// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "window/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "support/mistakes.h"
#include "support/trace_builder.h"
#include "window/commands.h"

namespace streamscope::viewer {
namespace {

TraceModel two_streams() {
  test::TraceBuilder builder;
  builder.stream("copies")
      .memcpy(test::kHtoD, 100, 200)
      .record("loaded")
      .memcpy(test::kHtoD, 220, 320);
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350).kernel("relu", 360, 400);
  return TraceModel(builder.trace());
}

ViewState state_of(const TraceModel& model) {
  ViewState state;
  state.nav.window.width_px = 1000;
  fit(model, state);
  return state;
}

constexpr Item op(Id id) { return {ItemKind::kOp, id}; }

TEST(Fit, ShowsTheWholeTrace) {
  const TraceModel model = two_streams();
  const ViewState state = state_of(model);
  EXPECT_GE(state.nav.window.to_px(model.extent().begin_ns), 0);
  EXPECT_LE(state.nav.window.to_px(model.extent().end_ns), 1000);
}

TEST(Pan, NeverLosesTheTrace) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  for (int i = 0; i < 50; ++i) pan(model, state, 900);
  EXPECT_LE(state.nav.window.to_px(model.extent().begin_ns), 1000);
  for (int i = 0; i < 50; ++i) pan(model, state, -900);
  EXPECT_GE(state.nav.window.to_px(model.extent().end_ns), 0);
}

TEST(Zoom, EndsAtTheTraceAndAtPartsOfANanosecond) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  for (int i = 0; i < 100; ++i) zoom(model, state, 500, 0.5);
  EXPECT_LE(state.nav.window.span_ns(), 2.01 * static_cast<double>(model.extent().duration_ns()));
  for (int i = 0; i < 100; ++i) zoom(model, state, 500, 2);
  EXPECT_EQ(state.nav.window.ns_per_px, kMinNsPerPx);
}

TEST(StepInRow, WalksAlongALane) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  step_in_row(model, state, 1);
  EXPECT_EQ(state.selection.item, op(0));
  step_in_row(model, state, 1);
  EXPECT_EQ(state.selection.item, op(1));
  step_in_row(model, state, 1);
  EXPECT_EQ(state.selection.item, op(1)) << "there is no next one";
  step_in_row(model, state, -1);
  EXPECT_EQ(state.selection.item, op(0));
}

TEST(StepToRow, FindsTheNearestInTheNextLane) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  state.selection.item = op(1);
  step_to_row(model, state, 1);
  EXPECT_EQ(state.selection.item, op(2));
  state.selection.item = op(3);
  step_to_row(model, state, -1);
  EXPECT_EQ(state.selection.item, op(1));
}

TEST(FollowEdge, GoesToTheCauseAndBack) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  state.selection.item = op(2);
  follow_edge(model, state, true);
  EXPECT_EQ(state.selection.item, op(0));
  follow_edge(model, state, false);
  EXPECT_EQ(state.selection.item, op(2));
  follow_edge(model, state, false);
  EXPECT_EQ(state.selection.item, op(3)) << "without an edge, the order of the stream";
}

TEST(StepToHit, CyclesThroughTheHitsOfASearch) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  step_to_hit(model, state, 1);
  EXPECT_FALSE(state.selection.item) << "nothing was searched for";
  state.selection.searched = model.items().names_with("E");
  state.selection.hits = model.lanes().items_with(state.selection.searched, 100);
  std::erase_if(state.selection.hits, [](Item item) { return item.kind != ItemKind::kOp; });
  ASSERT_EQ(state.selection.hits.size(), 2u) << "gemm and relu";
  state.selection.item = op(2);
  step_to_hit(model, state, 1);
  EXPECT_EQ(state.selection.item, op(3));
  step_to_hit(model, state, 1);
  EXPECT_EQ(state.selection.item, op(2));
  step_to_hit(model, state, -1);
  EXPECT_EQ(state.selection.item, op(3));
}

TEST(ToggleDrawer, OpensAndClosesAView) {
  ViewState state;
  toggle_drawer(state, "findings");
  EXPECT_EQ(state.look.drawer, "findings");
  toggle_drawer(state, "graph");
  EXPECT_EQ(state.look.drawer, "graph");
  toggle_drawer(state, "graph");
  EXPECT_TRUE(state.look.drawer.empty());
}

TEST(JumpToCause, LeadsBetweenOpAndCall) {
  const TraceModel model = two_streams();
  ViewState state = state_of(model);
  state.selection.item = op(2);
  jump_to_cause(model, state);
  EXPECT_EQ(state.selection.item.kind, ItemKind::kApiCall);
  jump_to_cause(model, state);
  EXPECT_EQ(state.selection.item, op(2));
}

TEST(Commands, HaveUniqueNamesAndKeys) {
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
  const TraceModel documents[] = {two_streams(), TraceModel(trace::Trace{})};
  for (const TraceModel& model : documents) {
    for (const Item item : {Item{}, op(0), op(2), Item{ItemKind::kEventWait, 0}, op(12345)}) {
      for (const Command& command : commands()) {
        ViewState state = state_of(model);
        state.selection.item = item;
        command.action.on_trace(model, state);
        EXPECT_GT(state.nav.window.ns_per_px, 0) << command.name;
      }
    }
  }
}

// All of a state that commands change, except its status.
auto changeable(const TraceModel& model, const ViewState& state) {
  const auto window = state.nav.window.range();
  const LaneOrder::Shown shown = state.nav.lane_order.shown(model.lanes(), state.nav.collapsed);
  std::string text;
  const auto add = [&](const auto& value) { text += std::to_string(value) + ","; };
  const auto add_item = [&](Item item) { add(static_cast<int>(item.kind)), add(item.id); };
  add(window.begin_ns), add(window.end_ns);
  add_item(state.selection.item);
  add(state.selection.lane ? static_cast<int>(state.selection.lane->lane) : -1);
  add(state.nav.marked ? state.nav.marked->begin_ns : -1),
      add(state.nav.marked ? state.nav.marked->end_ns : -1);
  for (const size_t lane : shown.lanes) add(lane), add(state.nav.lane_order.is_pinned(lane));
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) add(state.nav.is_collapsed(lane));
  for (const size_t finding : state.repaired) add(finding);
  add(state.selection.finding ? static_cast<int>(*state.selection.finding) : -1);
  add(state.look.inspector), add(state.look.minimap), add(state.look.critical_path);
  add(state.look.whole_chain), add(static_cast<int>(state.look.color_by)),
      add(static_cast<int>(state.look.theme));
  add(state.look.scale), add(static_cast<int>(state.overlay)), add(state.wanted.quit),
      add(state.nav.reveal);
  return text + std::string(state.look.drawer) + "," + std::string(state.focus.view);
}

TEST(Commands, HaveAnEffectOrReportWhyNot) {
  test::TraceBuilder host_bound;
  host_bound.stream("a")
      .kernel("k", 10, 20)
      .synchronize(11, 50'000)
      .at(50'010)
      .kernel("k", 50'020, 50'030);
  std::vector<TraceModel> documents;
  documents.push_back(two_streams());
  documents.emplace_back(trace::Trace{});
  documents.emplace_back(host_bound.trace());
  for (const TraceModel& model : documents) {
    for (const Item item :
         {Item{}, op(0), op(1), op(2), Item{ItemKind::kApiCall, 0}, Item{ItemKind::kEventWait, 0},
          Item{ItemKind::kHostSync, 0}, op(12345)}) {
      for (const Command& command : commands()) {
        // Showing everything may already be in effect; Escape may have nothing left to close.
        if (command.group == "Move" || command.name == "Clear") continue;
        ViewState state = state_of(model);
        state.selection.item = item;
        const auto before = changeable(model, state);
        command.action.on_trace(model, state);
        EXPECT_TRUE(changeable(model, state) != before || !state.status.empty())
            << command.name << " with " << to_string(item.kind) << " " << item.id << " of document "
            << &model - documents.data();
      }
    }
  }
}

TEST(LongestWait, IsThatOfTheInspectorOnEveryRecording) {
  size_t with_waits = 0, of_no_edge = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() != ".sqlite") continue;
    const TraceModel model(trace::read(entry.path()));
    ViewState state = state_of(model);
    find_command("L")->action.on_trace(model, state);
    if (model.waits().groups().empty()) {
      EXPECT_EQ(state.status, "no waits in this trace") << entry.path();
      continue;
    }
    ++with_waits;
    const auto longest =
        std::ranges::max_element(model.waits().groups(), {}, [](const auto& group) {
          return group.longest.duration_ns;
        })->longest;
    of_no_edge += longest.edge == analysis::WaitPart::kNoEdge;
    EXPECT_EQ(model.waits().longest(1).at(0).duration_ns, longest.duration_ns) << entry.path();
    EXPECT_EQ(state.selection.item, op(model.waits().longest(1)[0].op)) << entry.path();
    // The whole wait is in view.
    EXPECT_LE(state.nav.window.range().begin_ns,
              model.items().time(state.selection.item)->begin_ns - longest.duration_ns)
        << entry.path();
  }
  EXPECT_GT(with_waits, 5u);
  EXPECT_GT(of_no_edge, 0u);
}

TEST(WhatIf, UsesTheFirstFindingThatCanBeReplayed) {
  const TraceModel model(test::needless_sync_trace(6).trace());
  ViewState state = state_of(model);
  find_command("X")->action.on_trace(model, state);
  ASSERT_TRUE(state.selection.finding);
  EXPECT_EQ(state.repaired, std::vector<size_t>{*state.selection.finding});
  EXPECT_EQ(state.look.drawer, "findings");
  find_command("X")->action.on_trace(model, state);
  EXPECT_TRUE(state.repaired.empty());
}

TEST(WhatIf, ReportsWhyItCannotReplay) {
  const TraceModel clean = two_streams();
  ASSERT_TRUE(clean.insights().findings.empty());
  ViewState state = state_of(clean);
  find_command("X")->action.on_trace(clean, state);
  EXPECT_EQ(state.status, "no findings in this trace");
}

TEST(MatchingCommands, FindWordsIgnoringCase) {
  const auto found = matching_commands("ZOOM in");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0]->name, "Zoom in");
  EXPECT_EQ(matching_commands("").size(), commands().size());
  EXPECT_TRUE(matching_commands("make coffee").empty());
}

TraceModel steps() { return TraceModel(test::host_bound_trace(20).trace()); }

TEST(Opening, IsTheMedianIteration) {
  const TraceModel model = steps();
  ViewState state;
  first_fit(model, state, 1000);
  const auto iteration = current_iteration(model, state);
  ASSERT_TRUE(iteration);
  const TimeRange range = model.diagnosis().range(*iteration);
  EXPECT_EQ(range.duration_ns(), model.diagnosis().iterations.median_ns);
  EXPECT_NEAR(state.nav.window.to_px(range.begin_ns), 20, 10);
  EXPECT_NEAR(state.nav.window.to_px(range.end_ns), 980, 10);
}

TEST(Opening, IsAllWorkWithoutIterationsAndWhileItIsRecordedOrCompared) {
  const TraceModel model = steps(), without = two_streams();
  const auto shows_all = [](const TraceModel& shown, ViewState state) {
    first_fit(shown, state, 1000);
    EXPECT_LE(state.nav.window.range().begin_ns, shown.work().begin_ns);
    EXPECT_GE(state.nav.window.range().end_ns, shown.work().end_ns);
    EXPECT_EQ(current_iteration(shown, state), std::nullopt);
  };
  shows_all(without, {});
  ViewState live;
  live.is_live = true;
  shows_all(model, std::move(live));
  ViewState comparing;
  comparing.compared = std::make_shared<const TraceModel>(steps());
  shows_all(model, std::move(comparing));
}

TEST(Opening, IsAllWorkOfAProgramThatHangs) {
  test::TraceBuilder builder = test::host_bound_trace(20);
  const Ns end = 100'000'000;
  builder.at(end).stream("stuck").memory_wait(0x10, 1, end, trace::kUnknownNs);
  builder.synchronize_device(end + 10, trace::kUnknownNs);
  builder.range("the program goes on", 0, 100 * end);
  const TraceModel model(builder.trace());
  ASSERT_TRUE(model.diagnosis().has_iterations());
  EXPECT_FALSE(opens_at_iteration(model, {}));
}

TEST(StepIteration, GoesFromOneToTheNextAndFitsEach) {
  const TraceModel model = steps();
  ViewState state;
  first_fit(model, state, 1000);
  go_to_iteration(model, state, 4);
  EXPECT_EQ(current_iteration(model, state), 4u);
  step_iteration(model, state, 1);
  EXPECT_EQ(current_iteration(model, state), 5u);
  step_iteration(model, state, -1);
  step_iteration(model, state, -1);
  EXPECT_EQ(current_iteration(model, state), 3u);
  // Also from a part of one.
  zoom(model, state, 500, 8);
  step_iteration(model, state, 1);
  EXPECT_EQ(current_iteration(model, state), 4u);
  const TimeRange range = model.diagnosis().range(4);
  EXPECT_NEAR(state.nav.window.span_ns(), 1.04 * range.span_ns(), 0.02 * range.span_ns());
}

TEST(StepIteration, GoesToTheOneInTheMiddleOfAWiderView) {
  const TraceModel model = steps();
  ViewState state = state_of(model);
  ASSERT_EQ(current_iteration(model, state), std::nullopt);
  const auto middle = model.diagnosis().iteration_at(state.nav.window.to_ns(500));
  step_iteration(model, state, 1);
  EXPECT_EQ(current_iteration(model, state), middle);
}

TEST(StepIteration, ReportsTheEnds) {
  const TraceModel model = steps();
  ViewState state = state_of(model);
  const size_t last = model.diagnosis().iterations.all.size() - 1;
  go_to_iteration(model, state, last);
  step_iteration(model, state, 1);
  EXPECT_EQ(state.status, "this is the last iteration");
  EXPECT_EQ(current_iteration(model, state), last);
  go_to_iteration(model, state, 0);
  step_iteration(model, state, -1);
  EXPECT_EQ(state.status, "this is the first iteration");
  go_to_median_iteration(model, state);
  EXPECT_EQ(current_iteration(model, state), model.diagnosis().opening());

  const TraceModel without = two_streams();
  ViewState other = state_of(without);
  for (const auto& key : {"J", "Shift+J", "Ctrl+J"}) {
    other.status.clear();
    const Command* command = find_command(key);
    ASSERT_NE(command, nullptr) << key;
    command->action.on_trace(without, other);
    EXPECT_NE(other.status, "") << key;
  }
}

}  // namespace
}  // namespace streamscope::viewer
