// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The window on a run of many ranks: lanes of ranks, the critical path between them, and the way to
// the trace of a rank and back.

#include "job/growing_run.h"
#include "job/simulated_job.h"
#include "viewer_e2e/window_fixture.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class JobWindow : public Window {
 protected:
  // Below header, overview, iterations and axis.
  static constexpr int kLanesTop = 44 + 46 + 20 + 28, kRow = 45;
  static constexpr int name_y(int row) { return kLanesTop + row * kRow + 12; }
  static constexpr int work_y(int row) { return kLanesTop + row * kRow + 10; }

  void open_run(const std::vector<std::string>& more = {}) {
    job_ = job::simulate(
        {.ranks = 16, .iterations = 8, .layers = 2, .fault = job::Fault::kSlowLoader, .seed = 7});
    job::write_run(folder_ / "run", job_.summaries);
    open(folder_ / "run", more);
    ASSERT_TRUE(becomes("ranks", 16));
    ASSERT_TRUE(eventually([&] { return number("width_px") > 100; }));
  }

  job::SimulatedJob job_;
};

TEST_F(JobWindow, ShowsTheLateRankFirstAndTheOthersFolded) {
  open_run();
  EXPECT_TRUE(becomes("first_rank", job_.faulty_rank));
  EXPECT_EQ(text("rank_order"), quoted("late"));
  const auto folded = static_cast<int>(number("rank_rows"));
  EXPECT_LT(folded, 8);
  EXPECT_GT(number("iteration"), 0);
  EXPECT_EQ(text("notice"), "\"\"");
  // A click on the name of the row below it unfolds; another one folds.
  move(100, name_y(1));
  input({"click", "1"});
  EXPECT_TRUE(eventually([&] { return number("rank_rows") > folded; })) << slurp(state_file());
  input({"click", "1"});
  EXPECT_TRUE(becomes("rank_rows", folded));
  key("r");
  EXPECT_TRUE(becomes("rank_order", quoted("number")));
  EXPECT_TRUE(becomes("first_rank", 0));
}

TEST_F(JobWindow, NamesWhatIsUnderTheMouseAndSelectsIt) {
  open_run();
  // The late rank works for most of the iteration.
  move(kGutter + 120, work_y(0));
  ASSERT_TRUE(becomes("hovered_rank", job_.faulty_rank)) << slurp(state_file());
  EXPECT_THAT(text("hovered_step"), StartsWith("\"work before"));
  input({"click", "1"});
  EXPECT_TRUE(becomes("selected_rank", job_.faulty_rank));
  key("Escape");
  EXPECT_TRUE(becomes("selected_rank", "null"));
}

TEST_F(JobWindow, FollowsTheCriticalPathByKeys) {
  open_run();
  key("l");
  ASSERT_TRUE(becomes("selected_rank", job_.faulty_rank));
  const double hop = number("selected_hop");
  ASSERT_GT(hop, 0);
  for (int i = 0; i < 3; ++i) key("bracketright");
  EXPECT_TRUE(eventually([&] { return number("selected_hop") > hop; })) << slurp(state_file());
  for (int i = 0; i < 3; ++i) key("bracketleft");
  EXPECT_TRUE(eventually([&] { return number("selected_hop") == hop; })) << slurp(state_file());
}

TEST_F(JobWindow, ZoomsPansAndFitsLikeTheTimeline) {
  open_run();
  const double scale = number("ns_per_px"), begin = number("begin_ns");
  move(600, work_y(0));
  input({"click", "4"});
  EXPECT_TRUE(eventually([&] { return std::fabs(number("ns_per_px") * 1.25 / scale - 1) < 1e-9; }))
      << slurp(state_file());
  key("ctrl+j");
  EXPECT_TRUE(eventually([&] { return std::fabs(number("ns_per_px") / scale - 1) < 1e-6; }));
  press();
  move(500, work_y(0));
  input({"mouseup", "1"});
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("begin_ns") - (begin + 100 * scale)) <= 2;
  })) << slurp(state_file());
  key("f");
  EXPECT_TRUE(eventually([&] { return number("ns_per_px") > 4 * scale; })) << slurp(state_file());
  key("j");
  EXPECT_TRUE(eventually([&] { return number("iteration") > 0; })) << slurp(state_file());
}

TEST_F(JobWindow, OpensTheTraceOfARankAtTheSameIterationAndComesBack) {
  open_run();
  ASSERT_TRUE(becomes("first_rank", job_.faulty_rank));
  const auto iteration = static_cast<size_t>(number("iteration")) - 1;
  move(100, name_y(0));
  input({"click", "1"});
  ASSERT_TRUE(becomes("job", "null"));
  EXPECT_TRUE(becomes("operations", 8));
  const job::RankIteration& expected =
      job_.summaries[static_cast<size_t>(job_.faulty_rank)].iterations[iteration];
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("begin_ns") - static_cast<double>(expected.start_ns)) <= 1;
  })) << expected.start_ns
      << slurp(state_file());
  key("u");
  EXPECT_TRUE(becomes("ranks", 16));
  EXPECT_EQ(number("iteration"), static_cast<double>(iteration + 1));
}

TEST_F(JobWindow, ShowsRanksThatAppearWhileItIsOpenUntilAllAreThere) {
  job_ = job::simulate(
      {.ranks = 16, .iterations = 8, .layers = 2, .fault = job::Fault::kSlowLoader, .seed = 7});
  job::add_to_run(folder_ / "run", job::part_of(job_.summaries, 0, 6));
  open(folder_ / "run");
  ASSERT_TRUE(becomes("ranks", 6));
  ASSERT_TRUE(eventually([&] { return number("width_px") > 100; }));
  EXPECT_EQ(text("running"), "true");
  EXPECT_EQ(number("world_size"), 16);
  key("f");
  key("ctrl+j");
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selected_rank") != "null"; })) << slurp(state_file());
  const std::string rank = text("selected_rank"), step = text("selected_step");
  const double scale = number("ns_per_px"), iteration = number("iteration");
  job::add_to_run(folder_ / "run", job::part_of(job_.summaries, 6, 12));
  ASSERT_TRUE(becomes("ranks", 12));
  EXPECT_EQ(text("running"), "true");
  EXPECT_EQ(text("selected_rank"), rank);
  EXPECT_EQ(text("selected_step"), step);
  job::add_to_run(folder_ / "run", job::part_of(job_.summaries, 12, 16));
  ASSERT_TRUE(becomes("ranks", 16));
  EXPECT_EQ(text("running"), "false");
  EXPECT_EQ(text("status"), quoted("the run has ended"));
  EXPECT_EQ(text("selected_rank"), rank);
  EXPECT_EQ(text("selected_step"), step);
  EXPECT_EQ(number("ns_per_px"), scale);
  EXPECT_EQ(number("iteration"), iteration);
  // Not polled any more.
  std::filesystem::remove(folder_ / "run/rank-00003.sqlite");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_EQ(number("ranks"), 16);
}

TEST_F(JobWindow, RefusesWhatIsForATrace) {
  open_run();
  key("x");
  EXPECT_TRUE(eventually([&] { return text("status").find("one rank") != std::string::npos; }))
      << slurp(state_file());
  key("9");
  EXPECT_TRUE(becomes("drawer", quoted("")));
  EXPECT_TRUE(becomes("status", quoted("")));
  key("1");
  EXPECT_TRUE(eventually([&] { return text("status").find("one rank") != std::string::npos; }))
      << slurp(state_file());
  EXPECT_EQ(text("drawer"), quoted(""));
  key("9");
  EXPECT_TRUE(becomes("drawer", quoted("job")));
}

}  // namespace
}  // namespace streamscope::test
