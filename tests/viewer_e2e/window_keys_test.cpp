// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The window without a mouse: each task from an open trace to its result.

#include <algorithm>

#include "support/mistakes.h"
#include "viewer_e2e/window_fixture.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;

class WindowKeys : public Window {
 protected:
  // The mouse is outside the window.
  void SetUp() override {
    Window::SetUp();
    if (!IsSkipped()) move(1390, 890);
  }
  void keys(const std::vector<std::string>& names) const {
    for (const std::string& name : names) key(name);
  }
  void write(const std::string& text) const { input({"type", "--delay", "40", text}); }
  // The panel of a digit, with focus.
  void enter_panel(const std::string& digit, const std::string& name) const {
    key(digit);
    ASSERT_TRUE(becomes("drawer", quoted(name)));
    key("F6");
    ASSERT_TRUE(becomes("focus", quoted(name)));
  }
  // Begin and end of the marked time; 0 without one.
  std::pair<long long, long long> mark() const {
    const std::string state = slurp(state_file());
    std::pair<long long, long long> range;
    if (const size_t at = state.find("\"marked\":["); at != std::string::npos)
      std::sscanf(state.c_str() + at, "\"marked\":[%lld,%lld]", &range.first, &range.second);
    return range;
  }
  bool selects_op() const { return text("selection").find("op:") != std::string::npos; }
  // Presses a key until a condition holds; a panel may need another frame first.
  template <class Condition>
  bool presses_until(const std::string& name, Condition condition, int times = 40) const {
    for (int i = 0; i < times; ++i) {
      key(name);
      for (int wait = 0; wait < 12; ++wait) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
      }
    }
    return condition();
  }
};

TEST_F(WindowKeys, WalkAlongALaneAndToTheNext) {
  open_pipeline();
  key("Right");  // nothing selected: the first in view
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  const std::string lane = text("lane");
  key("Right");
  ASSERT_TRUE(eventually([&] { return text("selection") != quoted("op:0"); }));
  EXPECT_EQ(text("lane"), lane);
  key("Left");
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  key("Down");
  EXPECT_TRUE(eventually([&] { return text("lane") != lane && selects_op(); }))
      << slurp(state_file());
  const double scale = number("ns_per_px");
  key("Return");
  EXPECT_TRUE(eventually([&] { return number("ns_per_px") < scale; })) << slurp(state_file());
}

TEST_F(WindowKeys, GoToEveryEndOfTheEdgesOfAnOperation) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return selects_op(); }));
  const std::string waiter = text("selection");
  std::vector<std::string> ends;
  // Around: each end once, until the first is selected again.
  for (int i = 0; i < 8; ++i) {
    const std::string before = text("selection");
    key("braceright");
    if (!ends.empty() && text("selection") == before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    } else {
      ASSERT_TRUE(eventually([&] { return text("selection") != before; })) << slurp(state_file());
    }
    if (std::ranges::count(ends, text("selection")) > 0) break;
    ends.push_back(text("selection"));
  }
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(std::ranges::count(ends, waiter), 0);
  key("braceleft");
  if (ends.size() > 1) {
    EXPECT_TRUE(becomes("selection", ends.back()));
  }
}

// Shift+X shows all repairs as lanes and hides them; Tab and Enter in the diagnosis hide one.
TEST_F(WindowKeys, ShowTheIterationWithEachRepair) {
  open_steps();
  const double iteration = number("iteration");
  key("j");
  ASSERT_TRUE(eventually([&] { return number("iteration") != iteration; }));
  key("shift+x");
  ASSERT_TRUE(eventually([&] { return number("repair_lanes") > 0; })) << slurp(state_file());
  EXPECT_TRUE(eventually([&] { return number("iteration") == iteration; })) << "the median one";
  const double all = number("repair_lanes");
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("diagnosis")));
  EXPECT_TRUE(presses_until(
      "Tab",
      [&] {
        key("Return");
        return number("repair_lanes") < all || text("focus") != quoted("diagnosis");
      },
      12));
  key("Escape");
  key("shift+x");
  EXPECT_TRUE(eventually([&] { return number("repair_lanes") != all; })) << slurp(state_file());
}

// Ctrl+F finds a sampled function, Down goes to what it calls, Shift+H folds it with its thread.
TEST_F(WindowKeys, FindAndFoldWhatAThreadWasSampledIn) {
  sampled_trace(20).write(folder_ / "sampled.sqlite");
  open(folder_ / "sampled.sqlite");
  ASSERT_TRUE(eventually([&] { return number("iteration") > 0; })) << slurp(folder_ / "err");
  key("ctrl+f");
  ASSERT_TRUE(becomes("overlay", quoted("search")));
  write("forward");
  key("Return");
  key("F3");
  ASSERT_TRUE(eventually([&] { return text("selection").find("samples:") != std::string::npos; }))
      << slurp(state_file());
  const std::string forward = text("selection"), lane = text("lane");
  key("Down");
  ASSERT_TRUE(eventually([&] { return text("selection") != forward; }));
  EXPECT_EQ(text("lane"), lane);
  const double lanes = number("lanes");
  key("shift+h");
  EXPECT_TRUE(eventually([&] { return number("lanes") == lanes - 1; })) << slurp(state_file());
}

TEST_F(WindowKeys, SelectMoveCollapseAndPinALane) {
  open_pipeline();
  key("Right");
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  const std::string order = text("order"), lane = text("lane");
  key("ctrl+Down");
  ASSERT_TRUE(eventually([&] { return text("order") != order; })) << slurp(state_file());
  key("ctrl+Up");
  ASSERT_TRUE(becomes("order", order));
  key("shift+p");
  ASSERT_TRUE(becomes("pinned", 1));
  key("shift+p");
  ASSERT_TRUE(becomes("pinned", 0));
  // Up to the device, which has nothing to select, and collapse it.
  const double lanes = number("lanes");
  key("shift+Up");
  ASSERT_TRUE(eventually([&] { return text("lane") != lane; }));
  EXPECT_EQ(text("selection"), quoted("op:0"));
  key("c");
  EXPECT_TRUE(eventually([&] { return number("lanes") < lanes; })) << slurp(state_file());
  key("c");
  EXPECT_TRUE(becomes("lanes", static_cast<int>(lanes)));
}

TEST_F(WindowKeys, ShowTheValueOfACounter) {
  open_pipeline();
  ASSERT_TRUE(becomes("hovered_value", "null"));
  EXPECT_TRUE(presses_until("shift+Down", [&] { return text("hovered_value") != "null"; }))
      << slurp(state_file());
  key("Escape");
  EXPECT_TRUE(becomes("hovered_value", "null"));
}

TEST_F(WindowKeys, MeasureFromOneOperationToAnother) {
  open_pipeline();
  key("Right");
  ASSERT_TRUE(becomes("selection", quoted("op:0")));
  key("m");
  ASSERT_TRUE(eventually([&] { return mark().second > 0; })) << slurp(state_file());
  const auto [from, to] = mark();
  keys({"Right", "Right"});
  ASSERT_TRUE(eventually([&] { return text("selection") != quoted("op:0"); }));
  key("shift+m");
  EXPECT_TRUE(eventually([&] { return mark().second > to; })) << slurp(state_file());
  EXPECT_EQ(mark().first, from);
}

TEST_F(WindowKeys, GoFromIterationToIteration) {
  open_steps();
  const int median = static_cast<int>(number("iteration"));
  EXPECT_EQ(text("drawer"), quoted("diagnosis"));
  key("j");
  ASSERT_TRUE(becomes("iteration", median + 1));
  keys({"j", "j"});
  ASSERT_TRUE(becomes("iteration", median + 3));
  key("shift+j");
  ASSERT_TRUE(becomes("iteration", median + 2));
  // Its work fits in the window.
  EXPECT_LT(number("end_ns") - number("begin_ns"), 1'100'000);
  key("ctrl+j");
  ASSERT_TRUE(becomes("iteration", median));
  key("f");
  ASSERT_TRUE(becomes("iteration", "null"));
  key("j");
  EXPECT_TRUE(eventually([&] { return number("iteration") > 0; })) << slurp(state_file());
}

TEST_F(WindowKeys, WalkAlongTheStripOfIterations) {
  open_steps();
  const int median = static_cast<int>(number("iteration"));
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("diagnosis")));
  EXPECT_TRUE(presses_until(
      "Right", [&] { return number("iteration") > median; }, 3))
      << slurp(state_file());
  EXPECT_EQ(text("selection"), "null");
  // On to the first finding: its evidence.
  keys({"Tab", "Return"});
  EXPECT_TRUE(becomes("drawer", quoted("findings")));
  EXPECT_EQ(text("finding"), "0");
}

TEST_F(WindowKeys, MoveFocusThroughPanelsAndBack) {
  open_pipeline();
  EXPECT_EQ(text("focus"), quoted("timeline"));
  key("7");
  ASSERT_TRUE(becomes("drawer", quoted("sql")));
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("sql")));
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("inspector")));
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("timeline")));
  key("shift+F6");
  ASSERT_TRUE(becomes("focus", quoted("inspector")));
  // A link in the inspector: the longest wait.
  ASSERT_EQ(text("selection"), "null");
  key("Return");
  EXPECT_TRUE(eventually([&] { return selects_op(); })) << slurp(state_file());
  key("Escape");
  EXPECT_TRUE(becomes("focus", quoted("timeline")));
  EXPECT_TRUE(selects_op());
}

TEST_F(WindowKeys, GoFromTheListOfFindingsToAPlace) {
  needless_sync_trace(6).write(folder_ / "waits.sqlite");
  open(folder_ / "waits.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  enter_panel("2", "findings");
  EXPECT_EQ(text("selection"), "null");
  key("Return");
  EXPECT_TRUE(eventually([&] { return text("selection") != "null"; })) << slurp(state_file());
  // On to the predicted run.
  keys({"Tab", "Return"});
  EXPECT_TRUE(eventually([&] { return number("predicted_gain_ns") > 1'000'000; }))
      << slurp(state_file());
}

TEST_F(WindowKeys, SortATableAndSelectItsFirstRow) {
  open_pipeline();
  enter_panel("6", "statistics");
  key("Return");  // the row with the largest total
  ASSERT_TRUE(eventually([&] { return selects_op(); })) << slurp(state_file());
  const std::string largest = text("selection");
  keys({"shift+Tab", "Right", "Right"});    // the heading of the counts
  keys({"Right", "Return"});                // of the totals: largest first
  keys({"Return"});                         // smallest first
  keys({"Tab", "Home", "Down", "Return"});  // past the headings, where Home goes
  EXPECT_TRUE(eventually([&] { return selects_op() && text("selection") != largest; }))
      << slurp(state_file());
}

TEST_F(WindowKeys, RunSqlAndGoToARow) {
  open_pipeline();
  enter_panel("7", "sql");
  key("ctrl+a");
  write("SELECT 3 AS id UNION SELECT 5");
  key("Return");
  ASSERT_TRUE(becomes("result_rows", 2));
  // Past "Run" and the headings.
  keys({"Tab", "Tab", "Tab", "Down", "Return"});
  EXPECT_TRUE(becomes("selection", quoted("op:5")));
  key("Escape");
  EXPECT_TRUE(becomes("focus", quoted("timeline")));
}

TEST_F(WindowKeys, ReadThePools) {
  open(STREAMSCOPE_TRACES "/example_stream_group.sqlite");
  ASSERT_TRUE(becomes("loaded", "true"));
  key("4");
  ASSERT_TRUE(becomes("drawer", quoted("pools")));
  EXPECT_EQ(text("hovered_holders"), "null");
  key("F6");
  EXPECT_TRUE(eventually([&] { return number("hovered_holders") > 0; })) << slurp(state_file());
  key("Escape");
  EXPECT_TRUE(becomes("hovered_holders", "null"));
}

TEST_F(WindowKeys, ZoomTheGraphAndWalkIt) {
  open_pipeline();
  enter_panel("3", "graph");
  ASSERT_TRUE(eventually([&] { return number("graph_scale") > 0; }));
  const double scale = number("graph_scale"), window = number("ns_per_px");
  key("w");
  EXPECT_TRUE(eventually([&] { return number("graph_scale") > scale * 1.1; }))
      << slurp(state_file());
  key("s");
  EXPECT_TRUE(eventually([&] { return std::fabs(number("graph_scale") / scale - 1) < 1e-4; }));
  EXPECT_EQ(number("ns_per_px"), window);
  key("Right");
  ASSERT_TRUE(eventually([&] { return selects_op(); })) << slurp(state_file());
  const std::string first = text("selection");
  key("Right");
  EXPECT_TRUE(eventually([&] { return text("selection") != first; })) << slurp(state_file());
}

TEST_F(WindowKeys, CompareWithATraceByItsPath) {
  pipeline_trace(8).write(folder_ / "b.sqlite");
  open_pipeline();
  key("shift+c");
  ASSERT_TRUE(becomes("overlay", quoted("compare")));
  write(folder_ / "b.sqlite");
  key("Return");
  ASSERT_TRUE(becomes("compared", "true"));
  ASSERT_EQ(text("drawer"), quoted("compare"));
  key("F6");
  ASSERT_TRUE(becomes("focus", quoted("compare")));
  // A bar of A, then its neighbor.
  ASSERT_TRUE(eventually([&] { return selects_op(); })) << slurp(state_file());
  const std::string first = text("selection");
  key("Right");
  EXPECT_TRUE(eventually([&] { return selects_op() && text("selection") != first; }))
      << slurp(state_file());
}

TEST_F(WindowKeys, OpenATraceInAnEmptyWindow) {
  pipeline_trace(6).write(folder_ / "a.sqlite");
  open("--theme=dark");
  ASSERT_TRUE(becomes("loaded", "false"));
  key("ctrl+o");
  ASSERT_TRUE(becomes("overlay", quoted("open")));
  write(folder_ / "a.sqlite");
  key("Return");
  EXPECT_TRUE(becomes("loaded", "true"));
}

}  // namespace
}  // namespace streamscope::test
