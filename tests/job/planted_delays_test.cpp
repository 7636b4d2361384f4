// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "job/delays.h"
#include "job/simulated_job.h"
#include "support/sanitized.h"

namespace streamscope::job {
namespace {

struct Found {
  std::vector<Delay> delays;
  std::vector<Mismatch> mismatches;
};

Found analyze(const SimulatedJob& job) {
  StepReader reader;
  for (const RankSummary& summary : job.summaries) reader.add(summary);
  const Steps steps = reader.take();
  const Matching matching = matching_of(steps);
  const Peers peers = peers_of(steps);
  const Waiting waiting = waiting_of(steps, peers);
  const Replay replay(steps, matching, peers);
  return {costliest_delays(steps, peers, replay, replay.measured(waiting), 3), matching.mismatches};
}

std::string shown(const Found& found) {
  std::string text;
  for (const Delay& delay : found.delays) {
    text += fmt::format("  ranks [{}] {} at '{}' excess {:.0f} us, costs {:.0f} us\n",
                        fmt::join(delay.ranks, ","), names_of(delay.share).id, delay.place,
                        delay.excess_ns / 1e3, delay.cost_ns / 1e3);
  }
  for (const Mismatch& mismatch : found.mismatches) text += "  " + mismatch.text + "\n";
  return text;
}

/// Whether the answer is the planted cause. Sets `accused` if it names a healthy rank.
bool right(const JobPlan& plan, const SimulatedJob& job, const Found& found, bool& accused) {
  for (const Delay& delay : found.delays) {
    for (int32_t rank : delay.ranks) accused |= rank != job.faulty_rank;
  }
  for (const Mismatch& mismatch : found.mismatches) accused |= mismatch.rank != job.faulty_rank;
  switch (plan.fault) {
    case Fault::kNone:
      // That the slowest rank, another one each time, costs something is true of any large job.
      return found.mismatches.empty() && std::ranges::all_of(found.delays, [](const Delay& delay) {
               return delay.ranks.empty();
             });
    case Fault::kMixedOrder:
      return found.mismatches.size() == 1 && found.mismatches[0].kind == MismatchKind::kOrder;
    default:
      break;
  }
  if (found.delays.empty()) return false;
  const Delay& first = found.delays[0];
  const bool ranks = plan.fault == Fault::kImbalance
                         ? first.ranks.empty()
                         : first.ranks == std::vector<int32_t>{job.faulty_rank};
  return ranks && first.share == job.faulty_share && first.place == job.faulty_place;
}

struct Planted {
  JobPlan plan;
  SimulatedJob job;
};

/// A job in which the fault is felt: what nobody waits for has no right answer.
Planted planted_job(int ranks, Fault fault, uint32_t seed) {
  for (;; seed += 1'000'003) {
    Planted result{random_plan(ranks, fault, seed), {}};
    JobPlan healthy = result.plan;
    healthy.fault = Fault::kNone;
    if (result.plan.data() == 1 &&
        (fault == Fault::kMixedOrder || fault == Fault::kMissingOverlap)) {
      continue;
    }
    result.job = simulate(result.plan);
    if (fault == Fault::kNone || fault == Fault::kMixedOrder ||
        static_cast<double>(result.job.duration_ns) >=
            1.05 * static_cast<double>(simulate(healthy).duration_ns)) {
      return result;
    }
  }
}

class PlantedDelays : public testing::TestWithParam<int> {};

TEST_P(PlantedDelays, AreFoundWithRankAndCauseAndNobodyElseIsAccused) {
  const int ranks = GetParam();
  const int jobs = kFaultCount * (test::kSanitized ? 1 : ranks >= 1000 ? 2 : 13);
  std::array<int, kFaultCount> wrong{};
  int right_count = 0, accusing = 0;
  for (int i = 0; i < jobs; ++i) {
    const auto fault = static_cast<Fault>(i % kFaultCount);
    const auto [plan, job] = planted_job(ranks, fault, 1000u * ranks + i);
    const Found found = analyze(job);
    bool accused = false;
    if (right(plan, job, found, accused) && !accused) {
      ++right_count;
      continue;
    }
    ++wrong[i % kFaultCount];
    accusing += accused;
    fmt::print("job {}: {} x {} x {}, fault {} on rank {} at '{}':\n{}", i, plan.tensor,
               plan.pipeline, plan.data(), i % kFaultCount, job.faulty_rank, job.faulty_place,
               shown(found));
  }
  fmt::print("{} ranks: {} of {} right, {} accuse a healthy rank\n", ranks, right_count, jobs,
             accusing);
  EXPECT_GE(right_count, 0.95 * jobs);
  EXPECT_EQ(accusing, 0);
  EXPECT_EQ(wrong[0], 0) << "healthy jobs";
}

/// Nobody is slower than the others: a host that started later stays behind, and those ahead wait
/// for it in collectives.
TEST(PlantedDelays, AreNotSeenWhereHostsOfOneSpeedAreApart) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    JobPlan plan = random_plan(seed % 2 == 0 ? 2 : 8, Fault::kNone, seed);
    plan.pipeline = 1;
    plan.runs_ahead = true;
    plan.device_factor = 0.01;
    plan.hosts_apart_ms = 3;
    const Found found = analyze(simulate(plan));
    for (const Delay& delay : found.delays)
      EXPECT_THAT(delay.ranks, testing::IsEmpty()) << "seed " << seed << "\n" << shown(found);
  }
}

/// The repair saves what the host is slower than the others, not all for which it is behind them.
TEST(PlantedDelays, OfAHostCostNoMoreThanItIsSlower) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    JobPlan plan = random_plan(8, Fault::kSlowLoader, seed);
    plan.pipeline = 1;
    plan.runs_ahead = true;
    plan.device_factor = 0.01;
    JobPlan healthy = plan;
    healthy.fault = Fault::kNone;
    const SimulatedJob slow = simulate(plan);
    const Found found = analyze(slow);
    const double truth =
        static_cast<double>(slow.duration_ns - simulate(healthy).duration_ns) / plan.iterations;
    ASSERT_FALSE(found.delays.empty())
        << fmt::format("seed {}: {} x {}, rank {}, truth {:.0f} us of {} us", seed, plan.tensor,
                       plan.data(), slow.faulty_rank, truth / 1e3, slow.duration_ns / 10000);
    EXPECT_THAT(found.delays[0].ranks, testing::ElementsAre(slow.faulty_rank)) << shown(found);
    EXPECT_NEAR(found.delays[0].cost_ns, truth, 0.1 * truth) << shown(found);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PlantedDelays,
                         testing::ValuesIn(test::kSanitized ? std::vector{2, 8, 64}
                                                            : std::vector{2, 8, 64, 1000}),
                         [](const auto& size) { return fmt::format("{}", size.param); });

}  // namespace
}  // namespace streamscope::job
