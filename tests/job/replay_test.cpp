// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/replay.h"

#include <gmock/gmock.h>

#include "job/small_job.h"

namespace streamscope::job {
namespace {

using analysis::TimeShare;
using testing::SizeIs;

struct Analyzed {
  explicit Analyzed(Steps read)
      : steps(std::move(read)),
        matching(matching_of(steps)),
        peers(peers_of(steps)),
        waiting(waiting_of(steps, peers)),
        replay(steps, matching, peers),
        measured(replay.measured(waiting)) {}
  double iteration_ns(const Scenario& scenario) const {
    return replay.iteration_ns(scenario, replay.ends(scenario));
  }
  const Wait& wait(uint32_t rank, uint32_t position) const {
    const uint32_t step = steps.iterations[steps.ranks[rank].first_row].first_step + position;
    return waiting.waits[steps.group[step]];
  }

  Steps steps;
  Matching matching;
  Peers peers;
  Waiting waiting;
  Replay replay;
  Scenario measured;
};

/// Three ranks of which the last has 30 more in each of three iterations.
SmallJob job_with_a_late_rank() {
  SmallJob job(3);
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int rank = 0; rank < 3; ++rank) {
      job.work(rank, 100);
      if (rank == 2) job.work(rank, 30, TimeShare::kOutside);
    }
    job.all_reduce(10);
    for (int rank = 0; rank < 3; ++rank) job.work(rank, 5);
    job.end_iteration();
  }
  return job;
}

TEST(Waiting, IsCausedByTheRankThatArrivesLast) {
  const Analyzed job(job_with_a_late_rank().steps());
  const Wait& wait = job.wait(0, 0);
  EXPECT_EQ(job.steps.rank_number(wait.late), 2);
  EXPECT_EQ(wait.own_ns, 10);
  EXPECT_EQ(wait.late_ns, 30);
  EXPECT_EQ(wait.total_ns, 60);
  EXPECT_EQ(waited_ns(job.steps, wait, 0), 30);
  EXPECT_EQ(job.waiting.total_ns, 180);
  EXPECT_EQ(job.waiting.unexplained_ns, 0);
  EXPECT_EQ(job.waiting.caused_ns[job.steps.ranks[2].first_row], 60);
  EXPECT_EQ(job.waiting.caused_ns[job.steps.ranks[0].first_row], 0);
}

TEST(Waiting, NeedsNoClock) {
  SmallJob job = job_with_a_late_rank();
  std::vector<RankSummary> summaries = job.complete();
  for (RankSummary& summary : summaries) {
    const Ns offset = summary.identity.rank * 1'000'000;
    for (RankIteration& iteration : summary.iterations) {
      iteration.start_ns += offset;
      iteration.end_ns += offset;
      for (Collective& collective : iteration.collectives) {
        collective.start_ns += offset;
        collective.end_ns += offset;
      }
    }
  }
  const Analyzed shifted(SmallJob::steps_of(summaries));
  EXPECT_EQ(shifted.steps.rank_number(shifted.wait(0, 0).late), 2);
  EXPECT_EQ(shifted.waiting.total_ns, 180);
}

/// Rank 0 keeps rank 1 waiting, which then keeps 2 and 3 waiting; the others are fast.
TEST(Waiting, PassesADelayOnToTheRankThatCausedIt) {
  SmallJob job(4);
  for (int rank = 0; rank < 4; ++rank) job.work(rank, rank == 0 ? 90 : 50);
  job.message(0, 1);
  job.message(2, 3);
  for (int rank = 0; rank < 4; ++rank) job.work(rank, 50);
  job.message(1, 2);
  job.message(3, 0);
  const Analyzed analyzed(job.steps());
  const Wait& second = analyzed.waiting.waits[analyzed.steps.group[2 * 3 + 1]];  // rank 2 waits
  EXPECT_EQ(analyzed.steps.rank_number(second.late), 1);
  EXPECT_EQ(second.late_ns, 40);
  EXPECT_EQ(analyzed.waiting.caused_ns[1], 0) << "rank 1 was only kept waiting";
  EXPECT_EQ(analyzed.waiting.caused_ns[0], 3 * 40) << "ranks 1, 2 and 3 waited";
}

TEST(Replay, ReproducesWhatWasMeasured) {
  const Analyzed job(job_with_a_late_rank().steps());
  EXPECT_EQ(job.replay.circular_count(), 0u);
  EXPECT_EQ(job.iteration_ns(job.measured), 145);
}

TEST(Replay, AnswersWhatAFasterRankWouldSave) {
  const Analyzed job(job_with_a_late_rank().steps());
  Scenario scenario = job.measured;
  for (uint32_t step = 0; step < job.steps.count(); ++step) {
    job.replay.set(scenario, step, job.peers.of(job.steps, step).work_ns, job.steps.after[step]);
  }
  EXPECT_EQ(job.iteration_ns(scenario), 115);
}

TEST(Replay, FollowsTheCriticalPathAcrossRanks) {
  SmallJob job(2);
  job.work(0, 100);
  job.work(1, 20);
  job.all_reduce(10);
  job.work(0, 5);
  job.work(1, 40);
  job.all_reduce(7);
  job.end_iteration();
  const Analyzed analyzed(job.steps());
  const std::vector<Hop> path =
      analyzed.replay.critical_path(analyzed.measured, analyzed.replay.ends(analyzed.measured));
  ASSERT_THAT(path, SizeIs(3));
  EXPECT_EQ(analyzed.steps.rank_number(path[1].step), 1);
  EXPECT_EQ(path[1].work_ns, 40);
  EXPECT_EQ(path[1].own_ns, 7);
  EXPECT_EQ(analyzed.steps.rank_number(path[2].step), 0);
  EXPECT_EQ(path[2].work_ns, 100);
  EXPECT_EQ(path[2].own_ns, 10);
}

/// Rank 1 waits for its first collective before it goes on, which rank 0 overlaps with its work.
TEST(Peers, FindWorkThatWaitsForACollectiveThatOthersOverlap) {
  std::vector<RankSummary> summaries = [] {
    SmallJob job(2);
    job.all_reduce(30);
    job.all_reduce(10);
    job.end_iteration();
    return job.complete();
  }();
  for (RankSummary& summary : summaries) {
    const bool waits = summary.identity.rank == 1;
    RankIteration& iteration = summary.iterations[0];
    iteration.segments[1].after = waits ? 0 : -1;
    iteration.segments[1].shares[0] = 50;
    iteration.collectives[1].start_ns = waits ? 80 : 50;
    iteration.collectives[1].end_ns = 90;
  }
  const Analyzed job(SmallJob::steps_of(summaries));
  const uint32_t step = job.steps.iterations[1].first_step + 1;
  const Excess excess = excess_of(job.steps, job.peers, step);
  EXPECT_EQ(excess.total_ns, 30);
  EXPECT_EQ(excess.exposed_ns, 30);
  EXPECT_EQ(excess.exposed, step - 1);
  EXPECT_EQ(excess_of(job.steps, job.peers, 1).total_ns, 0);
}

}  // namespace
}  // namespace streamscope::job
