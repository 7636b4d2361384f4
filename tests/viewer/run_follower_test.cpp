// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/run_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "job/growing_run.h"
#include "job/simulated_job.h"
#include "model/job_facts.h"
#include "model/loader.h"
#include "trace/write/writer.h"
#include "window/view.h"

namespace streamscope::viewer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FollowedRun : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Starts with what is there.
  void follow() {
    shown_ = read_job(folder_);
    follower_ = std::make_unique<RunFollower>(*shown_, [this] { ++changes_; });
  }
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 2400; ++i) {  // a minute: generous, for machines under load
      if (auto model = follower_->take()) shown_ = std::move(model);
      if (condition()) return true;
      std::this_thread::sleep_for(25ms);
    }
    return false;
  }
  size_t ranks() const { return shown_->steps().ranks.size(); }
  bool ends() {
    return eventually([&] { return follower_->is_done(); });
  }
  void make_older(std::chrono::seconds by) const {
    for (const auto& file : std::filesystem::directory_iterator(folder_))
      std::filesystem::last_write_time(file, file.last_write_time() - by);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("followed_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::vector<job::RankSummary> job_ =
      job::simulate({.ranks = 4, .iterations = 8, .layers = 2, .seed = 5}).summaries;
  std::shared_ptr<const JobModel> shown_;
  std::atomic<int> changes_ = 0;
  std::unique_ptr<RunFollower> follower_;  // last: it uses the others
};

TEST_F(FollowedRun, ShowsRanksAsTheyAppearUntilAllAreThere) {
  job::add_to_run(folder_, job::part_of(job_, 0, 2));
  follow();
  EXPECT_TRUE(shown_->progress().is_running);
  EXPECT_FALSE(shown_->progress().is_recorded);
  job::add_to_run(folder_, job::part_of(job_, 3, 4));
  ASSERT_TRUE(eventually([&] { return ranks() == 3; }));
  EXPECT_TRUE(shown_->progress().is_running);
  EXPECT_FALSE(shown_->row_of(2));
  EXPECT_EQ(shown_->row_of(3), 2u);
  EXPECT_FALSE(follower_->is_done());
  job::add_to_run(folder_, job::part_of(job_, 2, 3));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(eventually([&] { return ranks() == 4; }));
  EXPECT_FALSE(shown_->progress().is_running);
  EXPECT_EQ(follower_->error(), "");
}

TEST_F(FollowedRun, ShowsIterationsThatAreAdded) {
  job::add_to_run(folder_, job::part_of(job_, 0, 3, 4));
  follow();
  const size_t before = shown_->iterations().size();
  job::add_to_run(folder_, job::part_of(job_, 0, 3));
  EXPECT_TRUE(eventually([&] { return shown_->iterations().size() == before + 4; }))
      << before << " and then " << shown_->iterations().size();
}

TEST_F(FollowedRun, FollowsARecordingUntilItIsFinished) {
  std::filesystem::create_directories(folder_);
  trace::Writer writer = trace::Writer::create(folder_ / "rank-00000.sqlite");
  writer.append(trace::Process{.os_pid = 1, .rank = 0, .world_size = 1});
  writer.append(trace::Device{.ordinal = 0});
  writer.append(trace::Context{.process_id = 0, .device_id = 0});
  writer.append(trace::Stream{.context_id = 0, .kind = trace::kNonBlockingStream});
  Ns at = 0;
  const auto work = [&] {
    for (int i = 0; i < 10; ++i, at += 1000)
      writer.append(
          trace::Op{.kind = trace::kKernel, .stream_id = 0, .start_ns = at, .end_ns = at + 900});
    writer.flush();
  };
  work();
  follow();
  EXPECT_TRUE(shown_->progress().is_recorded);
  EXPECT_TRUE(shown_->progress().is_running);
  EXPECT_EQ(shown_->warning().find("unfinished"), std::string::npos) << shown_->warning();
  const Ns before = shown_->extent().duration_ns();
  work();
  EXPECT_TRUE(eventually([&] { return shown_->extent().duration_ns() >= before + 9000; }));
  EXPECT_FALSE(follower_->is_done());
  writer.finish(true);
  EXPECT_TRUE(ends());
  EXPECT_TRUE(eventually([&] { return !shown_->progress().is_running; }));
}

TEST_F(FollowedRun, IsNotPolledOnceItHasEnded) {
  job::add_to_run(folder_, job_);
  follow();
  EXPECT_FALSE(shown_->progress().is_running);
  EXPECT_EQ(running_text(*shown_, shown_->progress().read_at), "");
  ASSERT_TRUE(ends());
  job::add_to_run(folder_, job::part_of(job_, 0, 4, 4));  // as if it were recorded again
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(follower_->take(), nullptr);
  EXPECT_EQ(changes_, 1) << "only that it has ended";
}

TEST_F(FollowedRun, HasEndedIfARankIsMissingForLong) {
  job::add_to_run(folder_, job::part_of(job_, 0, 2));
  make_older(kQuietRun - 5s);
  follow();
  EXPECT_TRUE(shown_->progress().is_running);
  make_older(10s);
  EXPECT_TRUE(ends());
  EXPECT_TRUE(eventually([&] { return !shown_->progress().is_running; }));
  EXPECT_THAT(shown_->warning(), HasSubstr("ranks 2-3 of 4 have no trace"));
}

TEST_F(FollowedRun, ReportsAFolderThatIsGone) {
  job::add_to_run(folder_, job::part_of(job_, 0, 2));
  follow();
  std::filesystem::remove_all(folder_);
  ASSERT_TRUE(ends());
  EXPECT_THAT(follower_->error(), HasSubstr("is no folder"));
  EXPECT_EQ(follower_->take(), nullptr);
}

TEST_F(FollowedRun, IsReadAgainAfterAFileThatCannotBeRead) {
  job::add_to_run(folder_, job::part_of(job_, 0, 2));
  follow();
  std::ofstream(folder_ / "rank-00002.sqlite") << "half of a trace";
  ASSERT_TRUE(eventually([&] {
    return shown_->warning().find("rank-00002.sqlite cannot be read") != std::string::npos;
  }));
  job::add_to_run(folder_, job::part_of(job_, 2, 4));
  EXPECT_TRUE(ends());
  EXPECT_TRUE(eventually([&] { return ranks() == 4; }));
  EXPECT_EQ(shown_->warning().find("cannot be read"), std::string::npos) << shown_->warning();
}

std::shared_ptr<const JobModel> model_of_ranks(const std::vector<job::RankSummary>& summaries,
                                               RunProgress progress = {}) {
  job::StepReader reader;
  for (const job::RankSummary& summary : summaries) reader.add(summary);
  return std::make_shared<const JobModel>(report::JobReport{job::analyze(reader.take()), {}}, "run",
                                          std::move(progress));
}

TEST(RunningText, SaysHowManyRanksThereAreAndHowOldThatIs) {
  const auto job = job::simulate({.ranks = 2, .iterations = 4}).summaries;
  RunProgress progress{.world_size = 4, .is_running = true};
  const auto at = progress.read_at;
  EXPECT_EQ(running_text(*model_of_ranks(job, progress), at + 3900ms),
            "running, 2 of 4 ranks, updated 3 s ago");
  progress.world_size = -1;
  EXPECT_EQ(running_text(*model_of_ranks(job, progress), at + 200s),
            "running, 2 ranks, updated 3 min ago");
  progress.is_running = false;
  EXPECT_EQ(running_text(*model_of_ranks(job, progress), at), "");
}

// The clocks of the two hosts are up to a second apart; the first rank's is that of all.
class GrownRun : public ::testing::Test {
 protected:
  const std::vector<job::RankSummary> job_ =
      job::simulate(
          {.ranks = 16, .iterations = 8, .layers = 2, .fault = job::Fault::kSlowLoader, .seed = 7})
          .summaries;
  const std::shared_ptr<const JobModel> part_ = model_of_ranks(job::part_of(job_, 8, 16, 6)),
                                        all_ = model_of_ranks(job_);
  ViewState state_;

  void open() {
    set_job(state_, part_);
    first_fit(*part_, state_, 1000);
  }
  double px_of(const JobModel& job, StepPart part) const {
    return state_.job.window.to_px(job.time(part)->begin_ns);
  }
};

TEST_F(GrownRun, KeepsTheSelectionAndWhereItIsInView) {
  ASSERT_GT(std::abs(part_->extent().begin_ns - all_->extent().begin_ns), 1'000'000)
      << "the clocks are not apart, so nothing has to be kept";
  open();
  go_to_iteration(*part_, state_, 2);
  for (const int steps : {0, 1, 2, 3, 4}) {
    open();
    go_to_iteration(*part_, state_, 2);
    select_rank(*part_, state_, 3);
    for (int i = 0; i < steps; ++i) step_in_row(*part_, state_, 1);
    const StepPart before = state_.job.selection;
    ASSERT_TRUE(before);
    const double at = px_of(*part_, before), scale = state_.job.window.ns_per_px;
    const std::string title = title_of(*part_, before);
    update_job(state_, all_);
    const StepPart after = state_.job.selection;
    ASSERT_TRUE(after) << title;
    EXPECT_EQ(title_of(*all_, after), title);
    EXPECT_EQ(all_->steps().rank_number(after.step), 11);
    EXPECT_EQ(after.is_work, before.is_work);
    EXPECT_NEAR(px_of(*all_, after), at, 2);
    EXPECT_EQ(state_.job.window.ns_per_px, scale);
  }
}

TEST_F(GrownRun, ForgetsAHoveredStepAndKeepsRanksUnfolded) {
  open();
  const auto fold = std::ranges::find_if(part_->groups(), &AlikeRanks::is_fold);
  ASSERT_NE(fold, part_->groups().end());
  const auto group = static_cast<uint32_t>(fold - part_->groups().begin());
  const int32_t rank = part_->steps().ranks[fold->ranks.front()].identity.rank;
  toggle_fold(*part_, state_, group);
  state_.job.hovered = {0, true};
  update_job(state_, all_);
  EXPECT_FALSE(state_.job.hovered);
  const uint32_t now = all_->group_of(all_->row_of(rank).value());
  EXPECT_TRUE(state_.job.unfolded[now]);
  EXPECT_EQ(std::ranges::count(state_.job.unfolded, true), 1);
  EXPECT_EQ(state_.job.row_of.size(), 16u);
}

TEST_F(GrownRun, StaysFittedToAllOfIt) {
  open();
  fit(*part_, state_);
  update_job(state_, all_);
  ViewState fitted = state_;
  fit(*all_, fitted);
  EXPECT_EQ(state_.job.window.range(), fitted.job.window.range());
}

TEST_F(GrownRun, FollowsTheEndOnlyIfNothingIsSelected) {
  for (const bool selects : {false, true}) {
    open();
    go_to_iteration(*part_, state_, part_->iterations().size() - 1);
    if (selects) select_rank(*part_, state_, 3);
    update_job(state_, all_);
    const double end = state_.job.window.to_px(all_->extent().end_ns);
    EXPECT_EQ(end <= 1000, !selects) << end;
  }
}

}  // namespace
}  // namespace streamscope::viewer
