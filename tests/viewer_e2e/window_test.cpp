// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The window with mouse and keys: what each of them does.

#include <sstream>

#include "support/mistakes.h"
#include "trace/write/writer.h"
#include "viewer_e2e/window_fixture.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;
using trace::Ns;

TEST_F(Window, ClickSelectsWhatIsUnderTheMouse) {
  open_pipeline();
  move(x_of(100'000), kCopiesY);
  ASSERT_TRUE(becomes("hovered", quoted("op:0")));
  input({"click", "1"});
  EXPECT_TRUE(becomes("selection", quoted("op:0")));
  move(x_of(100'000), kEmptyY);
  input({"click", "1"});
  EXPECT_TRUE(becomes("selection", "null"));
}

TEST_F(Window, DragPansByExactlyTheMouseMovement) {
  open_pipeline();
  const double begin = number("begin_ns"), scale = number("ns_per_px");
  move(500, kEmptyY);
  press();
  move(600, kEmptyY);
  move(700, kEmptyY);
  input({"mouseup", "1"});
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("begin_ns") - (begin - 200 * scale)) <= 1;
  })) << slurp(state_file());
  EXPECT_EQ(number("ns_per_px"), scale);
}

TEST_F(Window, WheelZoomsWhereTheMouseIs) {
  open_pipeline();
  const double scale = number("ns_per_px"), under = number("begin_ns") + (600 - kGutter) * scale;
  move(600, kEmptyY);
  input({"click", "4"});
  input({"click", "4"});
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("ns_per_px") * 1.25 * 1.25 / scale - 1) < 1e-9;
  })) << slurp(state_file());
  EXPECT_NEAR(number("begin_ns") + (600 - kGutter) * number("ns_per_px"), under, 2);
}

TEST_F(Window, ShiftDragMarksARange) {
  open_pipeline();
  const double from = number("begin_ns") + (500 - kGutter) * number("ns_per_px");
  move(500, kEmptyY);
  input({"keydown", "shift"});
  press();
  move(640, kEmptyY);
  input({"mouseup", "1"});
  input({"keyup", "shift"});
  EXPECT_TRUE(eventually([&] { return text("marked") != "null" && !text("marked").empty(); }))
      << slurp(state_file());
  EXPECT_NEAR(std::atof(text("marked").c_str() + 1), from, 2);
}

TEST_F(Window, KeysFollowTheEdgesOfTheSelection) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string waiter = text("selection");
  key("bracketleft");
  EXPECT_TRUE(eventually([&] { return text("selection") != waiter; }));
  key("bracketright");
  EXPECT_TRUE(becomes("selection", waiter));
  key("Escape");
  EXPECT_TRUE(becomes("selection", "null"));
}

// A kernel that waited for one on another stream, with nothing for a long time between them.
TEST_F(Window, AClickOnATagGoesToTheEndOfAnEdgeOutOfView) {
  TraceBuilder builder;
  builder.stream("a").kernel("early", 0, 1'000).record("done");
  builder.stream("b").wait("done").kernel("late", 50'000'000, 50'100'000);
  builder.write(folder_ / "far.sqlite");
  open(folder_ / "far.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("l");
  ASSERT_TRUE(becomes("selection", quoted("op:1")));
  key("End");
  for (int i = 0; i < 12; ++i) key("w");
  ASSERT_TRUE(eventually([&] { return number("begin_ns") > 40'000'000; })) << slurp(state_file());
  // The tag of the first lane is at the left edge, where the plot is otherwise empty.
  move(kGutter + 14, kCopiesY - kIterations);
  ASSERT_TRUE(becomes("hovered", quoted("op:0")));
  input({"click", "1"});
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  EXPECT_TRUE(eventually([&] { return number("begin_ns") < 0 && number("end_ns") > 1'000; }))
      << slurp(state_file());
  // Back by the tag of the second lane, at the right edge.
  move(1200 - 372 - 30, kCopiesY - kIterations + 43);
  ASSERT_TRUE(becomes("hovered", quoted("op:1")));
  input({"click", "1"});
  ASSERT_TRUE(becomes("selection", quoted("op:1")));
  EXPECT_TRUE(eventually([&] { return number("begin_ns") > 40'000'000; })) << slurp(state_file());
}

TEST_F(Window, AClickOnAnEdgeGoesToItsOtherEnd) {
  TraceBuilder builder;
  builder.stream("a").kernel("early", 0, 1'000).record("done");
  builder.stream("b").wait("done").kernel("late", 2'000, 3'000);
  builder.write(folder_ / "near.sqlite");
  open(folder_ / "near.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("l");
  ASSERT_TRUE(becomes("selection", quoted("op:1")));
  // Halfway between the two in time, and between their lanes.
  const auto middle = static_cast<int>((1'500 - number("begin_ns")) / number("ns_per_px"));
  move(kGutter + middle, kCopiesY - kIterations + 21);
  ASSERT_TRUE(becomes("hovered", quoted("op:0"))) << slurp(state_file());
  input({"click", "1"});
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  ASSERT_TRUE(becomes("hovered", quoted("op:1")));  // the same arrow leads back
  input({"click", "1"});
  EXPECT_TRUE(becomes("selection", quoted("op:1")));
}

TEST_F(Window, PaletteRunsACommandByItsName) {
  open_pipeline();
  key("ctrl+p");
  ASSERT_TRUE(becomes("overlay", quoted("palette")));
  input({"type", "--delay", "40", "theme"});
  key("Return");
  EXPECT_TRUE(eventually([&] { return text("theme") == "\"light\"" && text("overlay") == "\"\""; }))
      << slurp(state_file());
  key("question");
  EXPECT_TRUE(becomes("overlay", quoted("help")));
  key("F1");
  EXPECT_TRUE(becomes("overlay", quoted("")));
}

TEST_F(Window, DigitsOpenAndClosePanels) {
  open_pipeline();
  const std::pair<const char*, const char*> panels[] = {
      {"1", "diagnosis"}, {"2", "findings"},   {"3", "graph"}, {"4", "pools"},
      {"5", "deadlocks"}, {"6", "statistics"}, {"7", "sql"},   {"8", "compare"}};
  for (const auto& [digit, panel] : panels) {
    key(digit);
    EXPECT_TRUE(becomes("drawer", quoted(panel)));
  }
  key("8");
  EXPECT_TRUE(becomes("drawer", quoted("")));
}

TEST_F(Window, AClickOnAnIterationGoesThere) {
  open_steps();
  const auto median = number("iteration");
  // Its neighbor is at the right edge of the strip above the axis.
  move(1200 - 372 - 4, 44 + 46 + 10);
  press();
  input({"mouseup", "1"});
  EXPECT_TRUE(becomes("iteration", static_cast<int>(median) + 1));
}

TEST_F(Window, AClickOnAColumnOfTheStripGoesToItsIteration) {
  open_steps();
  // The fifth of 27 columns, near its foot.
  constexpr int kLeft = 14, kRight = 395, kFoot = 705;
  move(kLeft + (kRight - kLeft) * 9 / (2 * 27), kFoot);
  press();
  input({"mouseup", "1"});
  EXPECT_TRUE(becomes("iteration", 5));
}

TEST_F(Window, AClickOnATabOpensItsPanel) {
  open_pipeline();
  move(40, 800 - 30 - 16);  // the first tab, in the strip above the legend
  input({"click", "1"});
  EXPECT_TRUE(becomes("drawer", quoted("diagnosis")));
}

TEST_F(Window, SearchFindsNamesAndGoesFromHitToHit) {
  open_pipeline();
  key("ctrl+f");
  ASSERT_TRUE(becomes("overlay", quoted("search")));
  input({"type", "--delay", "40", "GEMM"});
  ASSERT_TRUE(becomes("hits", 6));
  key("Return");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string first = text("selection");
  key("F3");
  EXPECT_TRUE(eventually([&] { return text("selection") != first; })) << slurp(state_file());
  key("shift+F3");
  EXPECT_TRUE(becomes("selection", first));
  key("Escape");
  EXPECT_TRUE(becomes("hits", 0));
}

TEST_F(Window, FiltersLanesByName) {
  open_pipeline();
  const double all = number("lanes");
  key("shift+f");
  ASSERT_TRUE(becomes("overlay", quoted("filter")));
  input({"type", "--delay", "40", "RESULTS"});
  ASSERT_TRUE(becomes("lanes", 3));
  key("Return");
  ASSERT_TRUE(becomes("overlay", quoted("")));
  EXPECT_EQ(number("lanes"), 3);
  key("shift+f");
  ASSERT_TRUE(becomes("overlay", quoted("filter")));
  key("Escape");
  EXPECT_TRUE(becomes("lanes", static_cast<int>(all)));
}

// A job of two phases.
TEST_F(Window, ShowsOneGroupOfOperationsInTheGraph) {
  test::TraceBuilder builder;
  const test::StreamBuilder stream = builder.stream("a");
  const trace::Id load = builder.operation("load phase", stream);
  const trace::Id solve = builder.operation("solve phase", stream);
  for (const trace::Id group : {load, solve}) {
    const trace::Id step = builder.operation("step", stream);
    builder.columns().operation.parent_operation_id[step] = group;
    builder.add(trace::OperationOp{.operation_id = step,
                                   .op_id = static_cast<trace::Id>(builder.columns().op.size())});
    test::StreamBuilder(stream).kernel("k", 100 * (step + 1), 100 * (step + 1) + 50);
  }
  builder.write(folder_ / "groups.sqlite");
  open(folder_ / "groups.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("shift+g");
  ASSERT_TRUE(becomes("overlay", quoted("groups")));
  input({"type", "--delay", "40", "SOLVE"});
  key("Return");
  EXPECT_TRUE(becomes("graph_group", static_cast<int>(solve)));
  EXPECT_EQ(text("drawer"), quoted("graph"));
  key("shift+g");
  ASSERT_TRUE(becomes("overlay", quoted("groups")));
  key("Return");  // the first line: all of them
  EXPECT_TRUE(becomes("graph_group", "null"));
}

TEST_F(Window, CyclesThroughAllColorings) {
  open_pipeline();
  for (const char* by : {"name", "stream", "cause of a late start", "critical path", "kind"}) {
    key("k");
    EXPECT_TRUE(becomes("color_by", quoted(by)));
  }
}

TEST_F(Window, DragsALaneToAnotherPlace) {
  open_pipeline();
  key("l");  // the longest wait, on another stream than the first
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string before = text("order");
  move(60, kCopiesY);
  press();
  move(60, kCopiesY + 30);
  move(60, kCopiesY + 60);
  input({"mouseup", "1"});
  EXPECT_TRUE(eventually([&] { return text("order") != before; })) << slurp(state_file());
}

TEST_F(Window, PinsTheLaneOfTheSelection) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  key("shift+p");
  EXPECT_TRUE(becomes("pinned", 1));
  key("shift+p");
  EXPECT_TRUE(becomes("pinned", 0));
}

TEST_F(Window, KeepsBookmarksBesideTheTrace) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string begin = text("begin_ns");
  key("ctrl+b");
  ASSERT_TRUE(becomes("overlay", quoted("note")));
  input({"type", "--delay", "40", "it stalls"});
  key("Return");
  ASSERT_TRUE(becomes("bookmarks", 1));
  EXPECT_THAT(slurp(folder_ / "pipeline.sqlite.bookmarks"), HasSubstr("it stalls"));
  key("f");
  ASSERT_TRUE(eventually([&] { return text("begin_ns") != begin; }));
  key("shift+b");
  ASSERT_TRUE(becomes("overlay", quoted("bookmarks")));
  key("Return");
  EXPECT_TRUE(eventually([&] { return std::fabs(number("begin_ns") - std::stod(begin)) <= 2; }))
      << slurp(state_file());
}

TEST_F(Window, GoesFromFindingToFinding) {
  TraceBuilder builder = pipeline_trace(6);
  builder.stream("math").wait("never recorded").kernel("late", 4'000'000, 4'100'000);
  builder.write(folder_ / "faulty.sqlite");
  open(folder_ / "faulty.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("e");
  EXPECT_TRUE(eventually([&] {
    return text("finding") == "0" && text("drawer") == "\"findings\"";
  })) << slurp(state_file());
  key("shift+e");
  EXPECT_TRUE(eventually([&] { return text("finding") != "null"; })) << slurp(state_file());
}

TEST_F(Window, PredictsTheRunWithAFindingFixed) {
  needless_sync_trace(6).write(folder_ / "waits.sqlite");
  open(folder_ / "waits.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("e");
  ASSERT_TRUE(becomes("finding", "0"));
  key("x");
  EXPECT_TRUE(eventually([&] { return number("predicted_gain_ns") > 1'000'000; }))
      << slurp(state_file());
  key("x");
  EXPECT_TRUE(becomes("predicted_gain_ns", "null"));
}

TEST_F(Window, OpensATraceAtTheRangeLastViewed) {
  open_pipeline();
  move(600, kEmptyY);
  input({"click", "4"});
  input({"click", "4"});
  key("3");
  ASSERT_TRUE(becomes("drawer", quoted("graph")));
  const double begin = number("begin_ns");
  key("ctrl+q");
  ASSERT_TRUE(eventually([&] { return !program_->is_running(); }));
  std::filesystem::remove(state_file());
  open(folder_ / "pipeline.sqlite");
  EXPECT_TRUE(eventually([&] {
    return text("drawer") == "\"graph\"" && std::fabs(number("begin_ns") - begin) <= 2;
  })) << slurp(state_file());
}

TEST_F(Window, FollowsATraceThatIsBeingRecorded) {
  trace::Writer writer = trace::Writer::create(folder_ / "live.sqlite");
  writer.append(trace::Process{.os_pid = 1});
  writer.append(trace::Device{.ordinal = 0});
  writer.append(trace::Context{.process_id = 0, .device_id = 0});
  writer.append(trace::Stream{.context_id = 0, .kind = trace::kNonBlockingStream});
  Ns at = 0;
  const auto work = [&](int ops) {
    for (int i = 0; i < ops; ++i, at += 1000)
      writer.append(
          trace::Op{.kind = trace::kKernel, .stream_id = 0, .start_ns = at, .end_ns = at + 900});
    writer.flush();
  };
  work(10);
  open(folder_ / "live.sqlite");
  ASSERT_TRUE(eventually([&] { return number("operations") == 10 && text("live") == "true"; }))
      << slurp(state_file()) << slurp(folder_ / "err");
  work(15);
  EXPECT_TRUE(becomes("operations", 25));
  writer.finish(true);
  EXPECT_TRUE(becomes("live", "false"));
  EXPECT_EQ(number("operations"), 25);
}

TEST_F(Window, ComparesWithASecondTrace) {
  pipeline_trace(8).write(folder_ / "other.sqlite");
  pipeline_trace(6).write(folder_ / "pipeline.sqlite");
  open(folder_ / "pipeline.sqlite", {folder_ / "other.sqlite"});
  ASSERT_TRUE(eventually([&] {
    return text("loaded") == "true" && text("compared") == "true" &&
           text("drawer") == "\"compare\"";
  })) << slurp(state_file())
      << slurp(folder_ / "err");
  // The second is longer; all of both is in view, on the axis of the timeline.
  EXPECT_TRUE(eventually([&] { return number("end_ns") > 2'400'000; })) << slurp(state_file());
  const double scale = number("ns_per_px");
  move(600, 560);
  input({"click", "4"});
  EXPECT_TRUE(eventually([&] { return std::fabs(number("ns_per_px") * 1.25 / scale - 1) < 1e-9; }))
      << slurp(state_file());
}

TEST_F(Window, QuitsOnItsKeyWithCode0) {
  open_pipeline();
  key("ctrl+q");
  ASSERT_TRUE(eventually([&] { return !program_->is_running(); }));
  EXPECT_EQ(program_->wait(), 0);
}

TEST_F(Window, ShowsTheReadersMessageForAnUnusableTrace) {
  std::ofstream(folder_ / "foreign.sqlite") << "this is no database";
  open(folder_ / "foreign.sqlite");
  EXPECT_TRUE(eventually([&] { return text("error").find("foreign.sqlite") != std::string::npos; }))
      << slurp(state_file());
  EXPECT_TRUE(program_->is_running());
}

// User and system time of a process so far, in ticks of the clock.
long cpu_ticks(pid_t pid) {
  std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  stat.erase(0, stat.rfind(')') + 1);  // after the name, which may contain anything
  std::istringstream fields(stat);
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST_F(Window, ShowsTheValueOfTheCounterUnderTheMouse) {
  open_pipeline();
  move(x_of(300'000), kBusyY);  // in the first gemm
  EXPECT_TRUE(becomes("hovered_value", 1));
  EXPECT_EQ(number("hovered_mean"), 1);
  EXPECT_EQ(text("hovered"), "null");
  move(x_of(20'000), kBusyY);  // before all work
  EXPECT_TRUE(becomes("hovered_value", 0));
  move(x_of(300'000), kCopiesY);
  EXPECT_TRUE(becomes("hovered_value", "null"));
}

// Of a device that is idle most of the time, at a scale at which each pixel has some work.
TEST_F(Window, ShowsTheShareOfTimeThatADeviceIsBusy) {
  open_steps();
  for (const char* name : {"f", "s", "s", "s"}) key(name);
  ASSERT_TRUE(eventually([&] { return number("ns_per_px") > 120'000; }));
  constexpr int kBusyOfStepsY = 381;
  move(x_of(20'000'000), kBusyOfStepsY);  // in the steady part
  EXPECT_TRUE(eventually([&] { return number("hovered_value") == 1; })) << slurp(state_file());
  EXPECT_GT(number("hovered_mean"), 0.05);
  EXPECT_LT(number("hovered_mean"), 0.8);
}

TEST_F(Window, CountsWhoHoldsElementsOfThePoolUnderTheMouse) {
  open(STREAMSCOPE_TRACES "/example_stream_group.sqlite", {"--range", "332ms:333ms"});
  ASSERT_TRUE(becomes("loaded", "true"));
  move(60, kCopiesY);
  key("4");
  ASSERT_TRUE(becomes("drawer", quoted("pools")));
  EXPECT_EQ(text("hovered_holders"), "null");
  move(x_of(332'400'000), 800 - 30 - 340 + 40);  // the first pool, in the middle of the run
  EXPECT_TRUE(eventually([&] { return number("hovered_holders") > 0; })) << slurp(state_file());
  move(x_of(332'400'000), kCopiesY);
  EXPECT_TRUE(becomes("hovered_holders", "null"));
}

TEST_F(Window, IsIdleWhenNothingHappens) {
  open_pipeline();
  const auto changed = [&] { return std::filesystem::last_write_time(state_file()); };
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto before = changed();
  const long ticks = cpu_ticks(program_->pid());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(changed(), before);
  EXPECT_GT(ticks, 0);
  EXPECT_LE(cpu_ticks(program_->pid()) - ticks, 2);  // of a hundred
}

}  // namespace
}  // namespace streamscope::test
