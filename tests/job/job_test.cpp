// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/job.h"

#include <gmock/gmock.h>

#include "job/simulated_job.h"
#include "job/small_job.h"

namespace streamscope::job {
namespace {

using analysis::TimeShare;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Ns kMs = 1'000'000;

/// Rank 2 of 4 takes 3 ms longer in each of three iterations of 11 ms.
SmallJob job_with_a_slow_loader() {
  SmallJob job(4);
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int rank = 0; rank < 4; ++rank) {
      job.work(rank, 10 * kMs);
      if (rank == 2) job.work(rank, 3 * kMs, TimeShare::kOutside);
    }
    job.all_reduce(1 * kMs);
    job.end_iteration();
  }
  for (RankSummary& summary : job.summaries) {
    for (RankIteration& iteration : summary.iterations) {
      for (Segment& segment : iteration.segments) segment.host_place = 1;
    }
  }
  return job;
}

TEST(Job, SaysInASentenceWhatADelayCosts) {
  const Job job = analyze(job_with_a_slow_loader().steps());
  EXPECT_DOUBLE_EQ(job.iteration_ns, 14e6);
  EXPECT_DOUBLE_EQ(job.replayed_ns, 14e6);
  EXPECT_THAT(
      job.delay_sentences,
      ElementsAre("rank 2: host outside CUDA at train.py:1, 3.00 ms per iteration more than on "
                  "its peers; costs 3.00 ms per iteration (21.4 %)"));
}

TEST(Job, RanksStragglersOverTime) {
  const Job job = analyze(job_with_a_slow_loader().steps());
  ASSERT_THAT(job.stragglers, SizeIs(1));
  EXPECT_EQ(job.stragglers[0].rank_row, 2u);
  EXPECT_DOUBLE_EQ(job.stragglers[0].caused_ns, 9e6);
  EXPECT_EQ(job.stragglers[0].iterations, 3u);
  EXPECT_DOUBLE_EQ(job.late_ns(job.steps.ranks[2].first_row), 3e6);
  EXPECT_DOUBLE_EQ(job.late_ns(job.steps.ranks[1].first_row), 0);
}

TEST(Job, AnswersWhatIfs) {
  const Job job = analyze(job_with_a_slow_loader().steps());
  ASSERT_THAT(job.what_ifs, SizeIs(2));
  EXPECT_EQ(job.what_ifs[0].text, "rank 2 as fast as its peers");
  EXPECT_EQ(job.effect_of(job.what_ifs[0]), "−21.4 %");
  EXPECT_DOUBLE_EQ(job.what_ifs[1].iteration_ns, 11e6);
}

/// The host of rank 1 holds all of its collectives up, so each depends on the start of the
/// iteration; those of rank 0, whose host runs ahead, depend on each other.
TEST(Job, ComparesRanksOfWhichOneIsHeldUpByItsHost) {
  std::vector<RankSummary> ranks(2);
  for (int rank = 0; rank < 2; ++rank) {
    RankSummary& summary = ranks[static_cast<size_t>(rank)];
    summary.identity = {.rank = rank, .world_size = 2};
    summary.communicators = {{"dp0", 2, rank}};
    summary.places = {"", "train.py:1", "gemm"};
    for (int i = 0; i < 6; ++i) {
      RankIteration iteration{.start_ns = i * 24 * kMs, .end_ns = (i + 1) * 24 * kMs};
      for (int k = 0; k < 3; ++k) {
        const Ns arrives = iteration.start_ns + (21 + k) * kMs;
        Segment segment{
            .after = rank == 1 ? -1 : k - 1, .place = rank == 1 ? 1u : 2u, .host_place = 1};
        auto& shares = segment.shares;
        if (rank == 1) {
          shares[static_cast<size_t>(TimeShare::kOutside)] = 20 * kMs;
          shares[static_cast<size_t>(TimeShare::kLaunching)] = (1 + k) * kMs;
        } else {
          shares[static_cast<size_t>(TimeShare::kKernels)] = k == 0 ? kMs : 0;
        }
        const Ns start = rank == 1 ? arrives
                         : k == 0  ? iteration.start_ns + kMs
                                   : arrives - kMs / 2;
        iteration.collectives.push_back({.sequence = static_cast<uint32_t>(i * 3 + k),
                                         .kind = CollectiveKind::kAllReduce,
                                         .bytes = 1024,
                                         .issued_ns = start,
                                         .start_ns = start,
                                         .end_ns = arrives + kMs / 2});
        iteration.segments.push_back(segment);
      }
      Segment last{.after = 2, .place = 2};
      last.shares[static_cast<size_t>(TimeShare::kKernels)] = kMs / 2;
      iteration.segments.push_back(last);
      summary.iterations.push_back(iteration);
    }
  }
  const Job job = analyze(SmallJob::steps_of(ranks));
  ASSERT_FALSE(job.delay_sentences.empty());
  EXPECT_THAT(job.delay_sentences[0],
              testing::StartsWith("rank 1: host outside CUDA at train.py:1, 19.1 ms per iteration "
                                  "more than on its peers; costs 19.1 ms per iteration"));
  for (const Delay& delay : job.delays) EXPECT_THAT(delay.ranks, ElementsAre(1));
}

TEST(Job, IsSilentAboutAHealthyOne) {
  SmallJob small(4);
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int rank = 0; rank < 4; ++rank) small.work(rank, 10 * kMs);
    small.all_reduce(1 * kMs);
    small.end_iteration();
  }
  const Job job = analyze(small.steps());
  EXPECT_THAT(job.delays, IsEmpty());
  EXPECT_THAT(job.stragglers, IsEmpty());
}

TEST(Job, ReplaysSimulatedJobsAsTheyRan) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const JobPlan plan = random_plan(16, static_cast<Fault>(seed % kFaultCount), seed);
    const Job job = analyze(SmallJob::steps_of(simulate(plan).summaries));
    EXPECT_NEAR(job.replayed_ns / job.iteration_ns, 1, 0.02) << "seed " << seed;
    if (plan.pipeline > 1)
      continue;  // a stage waits for the one before it, which is nobody's fault
    EXPECT_LT(job.waiting.unexplained_ns, 0.6 * job.waiting.total_ns + 1) << "seed " << seed;
  }
}

TEST(Job, TellsHowMuchCommunicationOverlaps) {
  JobPlan plan{.ranks = 8, .tensor = 1, .pipeline = 1, .fault = Fault::kMissingOverlap, .seed = 3};
  const SimulatedJob simulated = simulate(plan);
  const Job job = analyze(SmallJob::steps_of(simulated.summaries));
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    if (rank == simulated.faulty_rank) {
      EXPECT_LT(job.overlap[rank].share(), 0.1);
    } else {
      EXPECT_GT(job.overlap[rank].share(), 0.5);
    }
  }
}

TEST(Job, OfNobodyIsEmpty) {
  const Job job = analyze(StepReader().take());
  EXPECT_THAT(job.delays, IsEmpty());
  EXPECT_THAT(job.clocks, IsEmpty());
}

TEST(Job, WorksWithoutRanksThatRecordedNothing) {
  SmallJob small = job_with_a_slow_loader();
  std::vector<RankSummary> summaries = small.complete();
  summaries[1].iterations.clear();
  summaries[1].incomplete = "the recording was cut short";
  const Job job = analyze(SmallJob::steps_of(summaries));
  ASSERT_THAT(job.delays, SizeIs(1));
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(2));
  EXPECT_EQ(job.steps.ranks[1].incomplete, "the recording was cut short");
}

}  // namespace
}  // namespace streamscope::job
