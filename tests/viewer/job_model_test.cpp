// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/job_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/run_on_disk.h"
#include "job/simulated_job.h"
#include "job/small_job.h"
#include "model/job_facts.h"
#include "model/loader.h"
#include "model/rank_lane.h"
#include "trace/error.h"
#include "window/view.h"

namespace streamscope::viewer {
namespace {

using analysis::TimeShare;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

JobModel model_of(const std::vector<job::RankSummary>& summaries) {
  job::StepReader reader;
  for (const job::RankSummary& summary : summaries) reader.add(summary);
  return {report::JobReport{job::analyze(reader.take()), {}}, "run"};
}

// Four ranks that work 100 ns, the last one 60 more; then an all-reduce of 10.
job::SmallJob with_a_late_rank(int ranks = 4, int iterations = 5) {
  job::SmallJob small(ranks);
  for (int i = 0; i < iterations; ++i) {
    for (int rank = 0; rank < ranks; ++rank) small.work(rank, 100);
    small.work(ranks - 1, 60, TimeShare::kOutside);
    small.all_reduce(10);
    small.end_iteration();
  }
  return small;
}

std::vector<std::pair<Ns, Ns>> intervals(const Row& row, uint8_t kind) {
  std::vector<std::pair<Ns, Ns>> result;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row.kind[i] == kind) result.push_back({row.start_ns[i], row.end_ns[i]});
  }
  return result;
}

TEST(RankLanes, TellWaitingFromTheCollectiveItself) {
  const JobModel model = model_of(with_a_late_rank(4, 1).complete());
  const RankLane early = lane_of(model, 0), late = lane_of(model, 3);
  ASSERT_THAT(early.collectives, SizeIs(1));
  EXPECT_THAT(intervals(early.collectives[0], kWaits), ElementsAre(std::pair<Ns, Ns>(100, 160)));
  EXPECT_THAT(intervals(early.collectives[0], kTogether), ElementsAre(std::pair<Ns, Ns>(160, 170)));
  EXPECT_THAT(intervals(late.collectives[0], kWaits), ElementsAre());
  EXPECT_THAT(intervals(late.work, static_cast<uint8_t>(TimeShare::kKernels)),
              ElementsAre(std::pair<Ns, Ns>(0, 160)));
}

TEST(RankLanes, ColorWorkByItsLargestShare) {
  job::SmallJob small(2);
  small.work(0, 100);
  small.work(0, 300, TimeShare::kCopies);
  small.work(1, 100);
  small.all_reduce();
  small.end_iteration();
  const JobModel model = model_of(small.complete());
  EXPECT_THAT(intervals(lane_of(model, 0).work, static_cast<uint8_t>(TimeShare::kCopies)),
              ElementsAre(std::pair<Ns, Ns>(0, 400)));
}

TEST(AlikeRanks, AreFoldedAndALateRankStandsAlone) {
  const JobModel model = model_of(with_a_late_rank(8).complete());
  ASSERT_THAT(model.groups(), SizeIs(2));
  EXPECT_THAT(model.groups()[0].ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(model.groups()[1].ranks, ElementsAre(7));
  EXPECT_EQ(model.name_of_group(0), "ranks 0\u20136");
}

TEST(AlikeRanks, ThatWaitDifferentlyAreApart) {
  job::SmallJob small(3);  // rank 0 waits much longer than rank 1
  for (int i = 0; i < 5; ++i) {
    small.work(0, 20);
    small.work(1, 80);
    small.work(2, 100);
    small.all_reduce();
    small.end_iteration();
  }
  EXPECT_THAT(model_of(small.complete()).groups(), SizeIs(3));
}

TEST(ShownRanks, ComeLateFirstOrByNumberAndUnfold) {
  const std::vector<AlikeRanks> groups = {{{0, 1, 3}}, {{2}}};
  const std::vector<double> caused = {0, 5, 100, 7};
  const auto ranks = [&](bool by_number, const std::vector<bool>& unfolded) {
    std::vector<uint32_t> result;
    for (const ShownRank& row : shown_ranks(groups, caused, by_number, unfolded))
      result.push_back(row.rank);
    return result;
  };
  EXPECT_THAT(ranks(false, {}), ElementsAre(2, 0));
  EXPECT_THAT(ranks(true, {}), ElementsAre(0, 2));
  EXPECT_THAT(ranks(false, {true, false}), ElementsAre(2, 0, 3, 1, 0));
  EXPECT_THAT(ranks(true, {true, false}), ElementsAre(0, 0, 1, 3, 2));
}

TEST(JobPath, JumpsToTheRankThatWasLate) {
  const JobModel model = model_of(with_a_late_rank().complete());
  ASSERT_FALSE(model.path().empty());
  size_t of_late_rank = 0;
  Ns end = 0;
  for (const PathHop& hop : model.path()) {
    EXPECT_GE(hop.end_ns, end);
    end = hop.end_ns;
    of_late_rank += model.steps().rank_number(hop.step) == 3 ? 1 : 0;
  }
  EXPECT_GE(of_late_rank, 5u);
  EXPECT_EQ(model.hop_of(model.path()[1].step), 1u);
}

// Times of a simulated job are off by up to a second between hosts.
TEST(JobClocks, PutAllRanksOnOneAxis) {
  const job::SimulatedJob job = job::simulate({.ranks = 32, .seed = 3});
  const JobModel model = model_of(job.summaries);
  const job::IterationRow& first = model.steps().iterations[model.steps().ranks[0].first_row];
  for (uint32_t rank = 0; rank < 32; ++rank) {
    ASSERT_TRUE(model.has_clock(rank));
    const job::IterationRow* own = model.iteration_of(rank, first.number + 1);
    ASSERT_NE(own, nullptr);
    EXPECT_NEAR(static_cast<double>(model.at(rank, own->start_ns)),
                static_cast<double>(model.at(0, model.iteration_of(0, first.number + 1)->start_ns)),
                1e6)
        << rank;
  }
  EXPECT_EQ(model.warning(), "");
}

TEST(JobClocks, ARankWithoutOneIsShownOnItsOwnAndMarked) {
  std::vector<job::RankSummary> ranks = with_a_late_rank().complete();
  // Another host, and no collective with the first three ranks.
  ranks[3].identity.host = "elsewhere";
  ranks[3].communicators = {{"alone", 1, 0}};
  for (job::RankIteration& iteration : ranks[3].iterations) {
    iteration.start_ns += 1'000'000;
    iteration.end_ns += 1'000'000;
    for (job::Collective& collective : iteration.collectives) {
      collective.start_ns += 1'000'000;
      collective.end_ns += 1'000'000;
    }
  }
  const JobModel model = model_of(ranks);
  EXPECT_FALSE(model.has_clock(3));
  EXPECT_EQ(model.at(3, 1'000'000), 0);  // its first iteration begins with that of the others
  EXPECT_THAT(model.warning(), HasSubstr("The clock of rank 3 is not known"));
  const ShownRank row{.rank = 3};
  EXPECT_THAT(hints_of_row(model, row), Contains(HasSubstr("own clock")));
}

TEST(JobFacts, NameRankWorkPlaceAndHop) {
  const JobModel model = model_of(with_a_late_rank().complete());
  const StepPart late{model.path()[2].step, true};
  std::string all;
  for (const Fact& fact : facts_of(model, late)) all += fact.name + ": " + fact.text + "\n";
  EXPECT_THAT(all, HasSubstr("rank: 3"));
  EXPECT_THAT(all, HasSubstr("mostly at: train.py:1"));
  EXPECT_THAT(all, HasSubstr("critical path: hop 3 of"));
  EXPECT_THAT(all, HasSubstr("host outside CUDA"));
  EXPECT_THAT(title_of(model, late), HasSubstr("work before all-reduce"));
  // Of the collective, another rank names who came last.
  const uint32_t early = model.job().matching.of(model.steps().group[late.step]).front();
  EXPECT_EQ(model.steps().rank_number(late_part(model, {early, false}).step), 3);
  EXPECT_FALSE(late_part(model, {late.step, false}));
}

class JobActions : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = std::make_shared<const JobModel>(model_of(with_a_late_rank(8).complete()));
    set_job(state_, model_);
    first_fit(*model_, state_, 1000);
  }
  int32_t selected_rank() const { return model_->steps().rank_number(state_.job.selection.step); }

  std::shared_ptr<const JobModel> model_;
  ViewState state_;
};

TEST_F(JobActions, OpenAtAnIterationAndStepThroughThem) {
  EXPECT_EQ(current_iteration(*model_, state_), model_->opening());
  for (int i = 0; i < 9; ++i) step_iteration(*model_, state_, -1);
  EXPECT_EQ(current_iteration(*model_, state_), 0u);
  EXPECT_EQ(state_.status, "this is the first iteration");
  fit(*model_, state_);
  EXPECT_EQ(current_iteration(*model_, state_), std::nullopt);
  EXPECT_LE(state_.job.window.begin_ns, model_->extent().begin_ns);
}

TEST_F(JobActions, FollowThePathForwardAndBack) {
  select_latest(*model_, state_);
  ASSERT_TRUE(state_.job.selection);
  EXPECT_EQ(selected_rank(), 7);
  const StepPart from = state_.job.selection;
  follow_path(*model_, state_, false);
  EXPECT_EQ(state_.job.selection, (StepPart{from.step, false}));
  follow_path(*model_, state_, true);
  EXPECT_EQ(state_.job.selection, from);
  for (int i = 0; i < 100; ++i) follow_path(*model_, state_, true);
  EXPECT_EQ(state_.status, "the critical path begins here");
}

TEST_F(JobActions, StepBetweenLanesAndUnfoldThem) {
  ASSERT_THAT(state_.job.rows, SizeIs(2));  // rank 7 first, then the fold of all others
  select_rank(*model_, state_, 7);
  step_to_row(*model_, state_, 1);
  EXPECT_EQ(selected_rank(), 0);
  toggle_current_fold(*model_, state_);
  EXPECT_THAT(state_.job.rows, SizeIs(9));
  step_to_row(*model_, state_, 1);
  EXPECT_EQ(selected_rank(), 1);
  toggle_order(*model_, state_);
  EXPECT_EQ(state_.job.rows.back().rank, 7u);
  toggle_current_fold(*model_, state_);
  EXPECT_THAT(state_.job.rows, SizeIs(2));
}

TEST_F(JobActions, OpenTheTraceOfARankAtTheIterationInView) {
  open_rank(*model_, state_, 2);
  EXPECT_EQ(state_.wanted.open, std::filesystem::path("run") / "");  // these have no traces
  ASSERT_TRUE(state_.wanted.shown);
  const job::IterationRow& iteration =
      *model_->iteration_of(2, model_->iterations()[model_->opening()].number);
  EXPECT_EQ(*state_.wanted.shown, (TimeRange{iteration.start_ns, iteration.end_ns}));
}

TEST(JobFolder, IsReadWithItsSummaries) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "streamscope_job_folder";
  std::filesystem::remove_all(folder);
  job::write_run(folder, job::simulate({.ranks = 4, .seed = 2}).summaries);
  Loader loader(folder, 1000, [] {});
  loader.wait();
  EXPECT_EQ(loader.error(), "");
  ASSERT_NE(loader.job(), nullptr);
  EXPECT_EQ(loader.model(), nullptr);
  EXPECT_THAT(loader.job()->steps().ranks, SizeIs(4));
  EXPECT_EQ(loader.job()->steps().ranks[3].identity.trace, "rank-00003.sqlite");
  std::filesystem::remove_all(folder);
  Loader absent(folder / "absent.sqlite", 1000, [] {});
  absent.wait();
  EXPECT_NE(absent.error(), "");
}

TEST(JobFolder, WithoutARankIsAnError) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "streamscope_no_job";
  std::filesystem::create_directories(folder);
  EXPECT_THROW(read_job(folder), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace streamscope::viewer
