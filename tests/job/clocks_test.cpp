// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/clocks.h"

#include <gmock/gmock.h>

#include <fstream>

#include "job/simulated_job.h"
#include "job/small_job.h"
#include "support/sanitized.h"
#include "trace/scratch_folder.h"

namespace streamscope::job {
namespace {

using testing::IsEmpty;

std::vector<RankClock> clocks_of(const std::vector<RankSummary>& summaries) {
  return job::clocks_of(SmallJob::steps_of(summaries));
}

/// What the clock of `rank` is ahead of that of rank 0 when it shows `own_ns`.
double planted_offset(const SimulatedJob& job, size_t rank, Ns own_ns) {
  const double own = static_cast<double>(own_ns);
  const double truth = (own - job.offset_ns[rank]) / (1 + job.drift[rank]);
  return own - (truth + job.offset_ns[0] + job.drift[0] * truth);
}

TEST(Clocks, PlantedOffsetsAndDriftsAreInsideEveryBound) {
  double worst = 0;
  for (int seed = 1; seed <= test::sample_of(60); ++seed) {
    const int ranks = std::array{16, 24, 40, 64}[seed % 4];
    JobPlan plan = random_plan(ranks, static_cast<Fault>(seed % kFaultCount), seed);
    if (plan.fault == Fault::kMixedOrder) plan.fault = Fault::kNone;
    plan.iterations = 4 + static_cast<int>(seed % 30);
    const SimulatedJob job = simulate(plan);
    const std::vector<RankClock> clocks = clocks_of(job.summaries);
    for (size_t rank = 0; rank < clocks.size(); ++rank) {
      ASSERT_TRUE(clocks[rank].known()) << clocks[rank].refused;
      for (const RankIteration& iteration : job.summaries[rank].iterations) {
        for (const Collective& collective : iteration.collectives) {
          const ClockKnot knot = clocks[rank].at(collective.end_ns);
          const double truth = planted_offset(job, rank, collective.end_ns);
          ASSERT_LE(knot.lower_ns, truth + 1) << "rank " << rank << ", seed " << seed;
          ASSERT_GE(knot.upper_ns, truth - 1) << "rank " << rank << ", seed " << seed;
          worst = std::max(worst, std::abs(knot.offset_ns - truth));
        }
      }
    }
  }
  EXPECT_LT(worst, 10'000) << "ends differ by 2 us at most, and drift between them";
}

TEST(Clocks, OfOneHostAreOne) {
  SmallJob job(3);
  job.work(1, 50);
  job.all_reduce();
  std::vector<RankSummary> summaries = job.complete();
  // Their traces began at different times.
  for (size_t rank = 0; rank < 3; ++rank) {
    RankSummary& summary = summaries[rank];
    summary.identity.host = "node0";
    const Ns later = 700 * static_cast<Ns>(rank);
    summary.clock_start_ns = 1'790'000'000'000'000'000 + later;
    shift(summary, -later);
  }
  const Steps steps = SmallJob::steps_of(summaries);
  EXPECT_EQ(steps.ranks[2].shift_ns, 1'400);
  for (uint32_t step = 0; step < steps.count(); ++step) {
    const uint32_t in_first = step % steps.iterations[0].step_count;
    EXPECT_EQ(steps.end_ns[step], steps.end_ns[in_first]) << step;
  }
  for (const RankClock& clock : clocks_of(summaries)) {
    ASSERT_TRUE(clock.known());
    EXPECT_EQ(clock.at(7).offset_ns, 0);
    EXPECT_EQ(clock.at(7).lower_ns, 0);
    EXPECT_EQ(clock.at(7).upper_ns, 0);
  }
}

TEST(Clocks, OfOneHostThatDoNotSayWhenTheyBeganAreNotOne) {
  SmallJob job(2);
  job.all_reduce();
  std::vector<RankSummary> summaries = job.complete();
  for (RankSummary& summary : summaries) summary.identity.host = "node0";
  EXPECT_LT(clocks_of(summaries)[1].at(0).lower_ns, 0);
}

TEST(Clocks, TakeTheOffsetFromEndsAndTheBoundsFromStarts) {
  SmallJob job(2);
  job.work(0, 100);
  job.all_reduce(10);
  std::vector<RankSummary> summaries = job.complete();
  Collective& collective = summaries[1].iterations[0].collectives[0];
  collective.start_ns += 1'000;  // this clock is ahead
  collective.end_ns += 1'000;
  const ClockKnot knot = clocks_of(summaries)[1].at(collective.end_ns);
  EXPECT_NEAR(knot.offset_ns, 1'000, 1e-6);
  EXPECT_NEAR(knot.lower_ns, 1'000 - 110, 0.1);  // it started, at the latest, when rank 0 ended
  EXPECT_NEAR(knot.upper_ns, 1'000 + 10, 0.1);   // it ended, at the earliest, when rank 0 started
}

TEST(Clocks, GoThroughChains) {
  SmallJob job(3);
  job.message(0, 1);
  job.message(1, 0);
  job.work(1, 20);
  job.message(1, 2);
  job.message(2, 1);
  const std::vector<RankClock> clocks = clocks_of(job.complete());
  ASSERT_TRUE(clocks[2].known()) << clocks[2].refused;
  const auto width = [](const ClockKnot& knot) { return knot.upper_ns - knot.lower_ns; };
  EXPECT_GT(width(clocks[2].at(0)), width(clocks[1].at(0)));
  EXPECT_LE(clocks[2].at(0).lower_ns, 0);
  EXPECT_GE(clocks[2].at(0).upper_ns, 0);
}

TEST(Clocks, AreRefusedWhereUnbounded) {
  SmallJob job(3);
  job.message(0, 1);
  const std::vector<RankClock> clocks = clocks_of(job.complete());
  EXPECT_THAT(clocks[0].refused, IsEmpty());
  EXPECT_FALSE(clocks[1].known());
  EXPECT_EQ(clocks[1].refused, "messages bound it from above only");
  EXPECT_FALSE(clocks[2].known());
  EXPECT_EQ(clocks[2].refused, "no collective or message joins it with rank 0");
}

constexpr Ns kStart = 1'790'000'000'000'000'000;

// Ranks on hosts of these names that nothing else joins.
std::vector<RankSummary> on_hosts(const std::vector<std::string>& hosts) {
  SmallJob job(static_cast<int>(hosts.size()));
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) job.work(rank, 10);
  job.end_iteration();
  std::vector<RankSummary> summaries = job.complete();
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    summaries[rank].identity.host = hosts[rank];
    summaries[rank].clock_start_ns = kStart;
  }
  return summaries;
}
std::vector<RankClock> clocks_of(const std::vector<RankSummary>& summaries,
                                 const std::vector<ClockOffset>& measured) {
  Steps steps = SmallJob::steps_of(summaries);
  steps.clock_offsets = measured;
  return job::clocks_of(steps);
}

TEST(Clocks, AreKnownFromMessagesBetweenHosts) {
  const auto summaries = on_hosts({"a", "b", "c"});
  const auto clocks = clocks_of(summaries, {{"a", "b", kStart + 500, 90, 110}});
  EXPECT_NEAR(clocks[1].at(500).lower_ns, 90, 0.01);
  EXPECT_NEAR(clocks[1].at(500).offset_ns, 100, 0.01);
  EXPECT_NEAR(clocks[1].at(500).upper_ns, 110, 0.01);
  EXPECT_FALSE(clocks[2].known());
}

TEST(Clocks, AreKnownFromMessagesOfAnotherReference) {
  const auto summaries = on_hosts({"a", "b", "c"});
  const auto clocks = clocks_of(summaries, {{"b", "a", kStart, -102, -98},
                                            {"b", "a", kStart + 900'000, -152, -148},
                                            {"b", "c", kStart, 300, 310}});
  ASSERT_TRUE(clocks[1].known()) << clocks[1].refused;
  EXPECT_NEAR(clocks[1].at(100).offset_ns, 100, 0.1) << "it is the reference";
  EXPECT_NEAR(clocks[1].at(100).lower_ns, 98, 0.1);
  EXPECT_NEAR(clocks[1].at(900'150).offset_ns, 150, 0.1);
  ASSERT_TRUE(clocks[2].known()) << clocks[2].refused;
  EXPECT_NEAR(clocks[2].at(0).lower_ns, 300 + 98, 0.5) << "by the nearest measurement of the first";
  EXPECT_NEAR(clocks[2].at(0).upper_ns, 310 + 102, 0.5);
  EXPECT_FALSE(clocks_of(summaries, {{"x", "c", kStart, 300, 310}})[2].known())
      << "nothing joins the reference with the first rank";
}

TEST(Clocks, ThatWereMeasuredBeforeDriftSince) {
  const auto summaries = on_hosts({"a", "b"});
  const Ns second = 1'000'000'000;
  const auto clocks = clocks_of(summaries, {{"a", "b", kStart - 2 * second, 90, 110}});
  EXPECT_NEAR(clocks[1].at(0).upper_ns - clocks[1].at(0).lower_ns, 20 + 2 * 2 * second * kMostDrift,
              2'000);
}

TEST(Clocks, AreLeastKnownHalfwayBetweenTwoMeasurements) {
  const auto summaries = on_hosts({"a", "b"});
  const Ns second = 1'000'000'000;
  const auto clocks = clocks_of(summaries, {{"a", "b", kStart - 2 * second, 90, 110},
                                            {"a", "b", kStart + 2 * second, 290, 310}});
  const auto width = [&](Ns at) {
    const ClockKnot knot = clocks[1].at(at);
    return knot.upper_ns - knot.lower_ns;
  };
  EXPECT_NEAR(width(-2 * second), 20, 0.1);
  EXPECT_NEAR(width(0), 20 - 200 + 2 * 2 * second * kMostDrift, 2'000);
  EXPECT_NEAR(width(2 * second), 20, 0.1);
  EXPECT_NEAR(clocks[1].at(0).offset_ns, 200, 0.1) << "on the line between them";
  EXPECT_NEAR(clocks[1].at(second).offset_ns, 250, 0.1);
}

TEST(Clocks, AreRefusedWhereMessagesAndCollectivesContradict) {
  SmallJob job(2);
  job.all_reduce();
  std::vector<RankSummary> summaries = job.complete();
  for (size_t rank = 0; rank < 2; ++rank) {
    summaries[rank].identity.host = rank == 0 ? "a" : "b";
    summaries[rank].clock_start_ns = kStart;
  }
  EXPECT_TRUE(clocks_of(summaries, {{"a", "b", kStart, -5, 5}})[1].known());
  EXPECT_EQ(clocks_of(summaries, {{"a", "b", kStart, 9'000'000, 9'000'010}})[1].refused,
            "what is known of it is contradictory, as if its clock was set during the run");
}

TEST(ClockOffsets, AreReadLineByLine) {
  const ScratchFolder folder("clock-offsets");
  EXPECT_THAT(read_clock_offsets(folder.path()), IsEmpty());
  std::ofstream(folder.path() / "clock-offsets.jsonl")
      << R"({"reference": "a", "host": "b", "at_ns": 1790000000000000000, "lower_ns": -5, "upper_ns": 7})"
      << "\n\nno JSON\n[1]\n"
      << R"({"reference": "a", "host": "b", "at_ns": 1, "lower_ns": 8, "upper_ns": 7})"
      << "\n"
      << R"({"reference": "a", "host": 1, "at_ns": 1, "lower_ns": 1, "upper_ns": 7})"
      << "\n"
      << R"({"reference": "a", "host": "b", "at_ns": 1e300, "lower_ns": 1, "upper_ns": 7})"
      << "\n"
      << R"({"reference": "a", "host": "b", "at_ns": 18446744073709551615, "lower_ns": 1, "upper_ns": 7})"
      << "\n"
      << R"({"reference": "a", "host": "c", "at_ns": 2, "lower_ns": 3, "upper_ns": 4})"
      << "\n"
      << R"({"reference": "a", "host": "c", "at_)";
  const auto offsets = read_clock_offsets(folder.path());
  ASSERT_EQ(offsets.size(), 2u);
  EXPECT_EQ(offsets[0].host, "b");
  EXPECT_EQ(offsets[0].at_ns, kStart);
  EXPECT_EQ(offsets[0].lower_ns, -5);
  EXPECT_EQ(offsets[1].host, "c");
}

TEST(Clocks, AreRefusedWhereTheyContradict) {
  SmallJob job(2);
  job.all_reduce();
  job.all_reduce();
  std::vector<RankSummary> summaries = job.complete();
  Collective& second = summaries[1].iterations[0].collectives[1];
  second.start_ns += 1'000'000;
  second.end_ns += 1'000'000;
  EXPECT_EQ(clocks_of(summaries)[1].refused,
            "what is known of it is contradictory, as if its clock was set during the run");
}

}  // namespace
}  // namespace streamscope::job
