// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks that reduce gradients on a stream beside the backward pass, of which rank 0 is slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/job.h"
#include "job/matching.h"
#include "job/run_summaries.h"
#include "small_job.h"
#include "support/units.h"

namespace streamscope::job {
namespace {

using analysis::TimeShare;
using test::kUs;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kRanks = 3, kCalls = 6;

struct Slow {
  Ns work_ns;      ///< of rank 0 before each of its all-reduces
  Ns device_ns;    ///< what its device does for each; others take 100 us
  bool waits;      ///< for the one before, where the others go on meanwhile
  Ns late_ns = 0;  ///< its host launches the first one later by this
};

Segment segment(int32_t after, Ns kernels_ns, Ns device_ns) {
  Segment one{.after = after, .host_ns = 20 * kUs, .device_ns = device_ns};
  one.shares[static_cast<size_t>(TimeShare::kKernels)] = kernels_ns;
  one.place = 1;
  return one;
}

Job job_of(const Slow& slow) {
  constexpr Ns kReduction = 60 * kUs, kUsual = 100 * kUs;
  std::vector<RankSummary> summaries(kRanks);
  Ns now = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    summaries[rank].identity = {.rank = rank, .world_size = kRanks};
    summaries[rank].communicators = {{"dp0", kRanks, rank}};
    summaries[rank].places = {"", "gemm"};
  }
  for (int number = 0; number < 8; ++number) {
    std::vector<RankIteration> iterations(kRanks);
    for (RankIteration& iteration : iterations) iteration.start_ns = now;
    Ns ended = now;
    for (int call = 0; call < kCalls; ++call) {
      const Ns work = slow.work_ns + number % 3;  // no two iterations are quite the same
      const Ns ready = slow.waits ? ended + work : now + slow.late_ns + (call + 1) * work;
      const Ns end = std::max(ready, ended) + kReduction;
      for (int rank = 0; rank < kRanks; ++rank) {
        const bool is_slow = rank == 0;
        const Ns start = is_slow ? std::max(ready, ended) : call == 0 ? now + kUsual : ended;
        RankIteration& iteration = iterations[static_cast<size_t>(rank)];
        iteration.collectives.push_back({.sequence = static_cast<uint32_t>(number * kCalls + call),
                                         .kind = CollectiveKind::kAllReduce,
                                         .bytes = 1024,
                                         .stream = 7,
                                         .issued_ns = now + call * 20 * kUs,
                                         .start_ns = start,
                                         .end_ns = end});
        const int32_t after = call == 0 || (is_slow && !slow.waits) ? -1 : call - 1;
        const Ns begin = after < 0 ? now : ended;
        const Ns late = is_slow && after < 0 ? slow.late_ns : 0;
        iteration.segments.push_back(
            segment(after, start - begin - late, is_slow ? slow.device_ns : kUsual));
        iteration.segments.back().shares[static_cast<size_t>(TimeShare::kLaunching)] = late;
        if (is_slow && call == 0) iteration.segments.back().host_ns += slow.late_ns;
      }
      ended = end;
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      RankIteration& iteration = iterations[static_cast<size_t>(rank)];
      iteration.segments.push_back(segment(kCalls - 1, 0, 0));
      iteration.end_ns = ended;
      summaries[static_cast<size_t>(rank)].iterations.push_back(iteration);
    }
    now = ended;
  }
  return analyze(SmallJob::steps_of(summaries));
}

TEST(Delays, NamesKernelsThatMakeEachCollectiveOfARankLate) {
  const Job job = job_of({.work_ns = 900 * kUs, .device_ns = 900 * kUs, .waits = false});
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(0));
  EXPECT_EQ(job.delays[0].share, TimeShare::kKernels);
  EXPECT_EQ(job.delays[0].place, "gemm");
  EXPECT_GT(job.delays[0].cost_ns, 0.7 * job.replayed_ns);
  EXPECT_GT(job.delays[0].excess_ns, 0.9 * job.delays[0].cost_ns);
}

TEST(Delays, NamesMissingOverlapWhereTheDeviceHasNoMoreToDo) {
  const Job job = job_of({.work_ns = 100 * kUs, .device_ns = 100 * kUs, .waits = true});
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(0));
  EXPECT_EQ(job.delays[0].share, TimeShare::kCollectives);
  EXPECT_TRUE(job.delays[0].exposed);
  EXPECT_EQ(job.delays[0].place, "all-reduce of dp0");
}

TEST(Delays, ARankIsNotBlamedForWorkThatItsPeersDoWhileTheyWait) {
  const Job job =
      job_of({.work_ns = 100 * kUs, .device_ns = 100 * kUs, .waits = false, .late_ns = 500 * kUs});
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(0));
  for (const Delay& delay : job.delays) EXPECT_EQ(delay.share, TimeShare::kLaunching);
}

// The same iterations, of which each rank takes others for the steady ones.
TEST(Delays, RanksAreComparedWhereTheirSteadyPartsDiffer) {
  SmallJob job(3);
  for (int number = 0; number < 20; ++number) {
    for (int rank = 0; rank < 3; ++rank) job.work(rank, 100 * kUs);
    job.all_reduce();
    job.end_iteration();
  }
  std::vector<RankSummary> summaries = job.complete();
  const auto steps_with = [&](std::vector<IterationRange> steady) {
    for (size_t rank = 0; rank < 3; ++rank) summaries[rank].steady = steady[rank];
    return SmallJob::steps_of(summaries);
  };
  EXPECT_EQ(range_in_common(steps_with({{2, 18}, {3, 19}, {1, 20}})), std::nullopt);
  EXPECT_EQ(range_in_common(steps_with({{1, 8}, {1, 9}, {10, 20}})), (IterationRange{1, 9}));
  EXPECT_EQ(range_in_common(steps_with({{1, 6}, {8, 12}, {14, 20}})), (IterationRange{8, 12}));
  EXPECT_EQ(range_in_common(StepReader().take()), std::nullopt);
  const Steps steps = steps_of([&](StepReader& reader) {
    summaries[0].steady = {1, 8};
    summaries[1].steady = {1, 9};
    summaries[2].steady = {10, 20};
    for (const RankSummary& summary : summaries) reader.add(summary);
  });
  EXPECT_THAT(matching_of(steps).mismatches, IsEmpty());
  for (const RankRow& rank : steps.ranks) EXPECT_EQ(rank.row_count, 8u);
}

}  // namespace
}  // namespace streamscope::job
