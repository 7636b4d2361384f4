// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/matching.h"

#include <gmock/gmock.h>

#include "job/small_job.h"
#include "trace/error.h"

namespace streamscope::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Matching, JoinsCollectivesByCommunicatorAndSequence) {
  SmallJob job(4);
  job.all_reduce();
  job.all_reduce();
  const Steps steps = job.steps();
  const Matching matching = matching_of(steps);
  EXPECT_THAT(matching.mismatches, IsEmpty());
  EXPECT_THAT(matching.without_summary, IsEmpty());
  for (uint32_t step = 0; step < steps.count(); ++step) {
    EXPECT_THAT(matching.of(steps.group[step]), SizeIs(steps.ends_iteration(step) ? 1 : 4));
    for (uint32_t other : matching.of(steps.group[step])) {
      EXPECT_EQ(steps.sequence[other], steps.sequence[step]);
    }
  }
}

TEST(Matching, NamesAnotherKind) {
  SmallJob job(8);
  for (int i = 0; i < 13; ++i) job.all_reduce();
  job.collective(5, 12).kind = CollectiveKind::kAllGather;
  const Matching matching = matching_of(job.steps());
  ASSERT_THAT(matching.mismatches, SizeIs(1));
  EXPECT_EQ(matching.mismatches[0].kind, MismatchKind::kKind);
  EXPECT_EQ(matching.mismatches[0].text,
            "rank 5 calls all-gather 12 of dp0 where the others call all-reduce 12");
}

TEST(Matching, NamesAnotherSize) {
  SmallJob job(3);
  job.all_reduce();
  job.collective(2, 0).bytes = 512;
  const Matching matching = matching_of(job.steps());
  ASSERT_THAT(matching.mismatches, SizeIs(1));
  EXPECT_EQ(matching.mismatches[0].text,
            "rank 2 calls all-reduce 0 of dp0 with 512 bytes, the others with 1024");
}

TEST(Matching, NamesAnotherOrder) {
  SmallJob job(3);
  job.all_reduce();
  job.all_reduce();
  for (int rank = 0; rank < 3; ++rank) {
    job.collective(rank, rank == 1 ? 0 : 1).kind = CollectiveKind::kBarrier;
  }
  const Matching matching = matching_of(job.steps());
  ASSERT_THAT(matching.mismatches, SizeIs(1));
  EXPECT_EQ(matching.mismatches[0].kind, MismatchKind::kOrder);
  EXPECT_EQ(matching.mismatches[0].rank, 1);
  EXPECT_EQ(matching.mismatches[0].count, 2u);
  EXPECT_EQ(matching.mismatches[0].text,
            "rank 1 calls barrier 0 of dp0 where the others call all-reduce 0, in another order");
}

TEST(Matching, NamesARankThatMissesOne) {
  SmallJob job(3);
  for (int i = 0; i < 3; ++i) job.all_reduce();
  job.collective(0, 1).sequence = 2;
  job.collective(0, 2).sequence = 3;
  job.collective(2, 2).sequence = 1;
  const Matching matching = matching_of(job.steps());
  ASSERT_THAT(matching.mismatches, SizeIs(2));
  EXPECT_EQ(matching.mismatches[0].text, "rank 0 misses collective 1 of dp0");
  EXPECT_EQ(matching.mismatches[1].text,
            "rank 2 calls nothing after 1 of dp0, the others go on to 2");
}

TEST(Matching, NamesRanksWithoutSummary) {
  SmallJob job(5);
  job.all_reduce();
  job.summaries.erase(job.summaries.begin() + 3);
  EXPECT_THAT(matching_of(job.steps()).without_summary, ElementsAre(3));
}

TEST(Matching, JoinsSendsWithReceivesByTheirOrder) {
  SmallJob job(2);
  job.message(0, 1);
  job.message(1, 0);
  job.message(0, 1);
  const Steps steps = job.steps();
  const Matching matching = matching_of(steps);
  EXPECT_THAT(matching.mismatches, IsEmpty());
  EXPECT_EQ(steps.group[0], steps.group[4]);
  EXPECT_EQ(steps.group[1], steps.group[5]);
  EXPECT_EQ(steps.group[2], steps.group[6]);
  EXPECT_NE(steps.group[0], steps.group[2]);
}

// As those in a graph that is launched as a whole are not known one by one.
TEST(Matching, ANumberThatNobodyCallsIsNotMissing) {
  SmallJob job(2);
  for (int i = 0; i < 3; ++i) job.all_reduce();
  for (const int rank : {0, 1}) {
    job.collective(rank, 1).sequence = 8;
    job.collective(rank, 2).sequence = 16;
  }
  EXPECT_THAT(matching_of(job.steps()).mismatches, IsEmpty());
}

TEST(Matching, JoinsMessagesOfACommunicatorWithSomeRanksByTheirNumbersThere) {
  SmallJob job(4);
  job.message(3, 2);
  job.message(0, 1);
  // Ranks 3 and 2 are 0 and 1 of one of their own.
  for (const int rank : {2, 3}) {
    job.summaries[rank].communicators = {{"pp1", 2, 3 - rank}};
    job.collective(rank, 0).peer = rank - 2;
  }
  const Steps steps = job.steps();
  EXPECT_THAT(matching_of(steps).mismatches, IsEmpty());
  EXPECT_EQ(steps.group[0], steps.group[2]);
  EXPECT_EQ(steps.group[4], steps.group[6]);
  EXPECT_NE(steps.group[0], steps.group[4]);
  EXPECT_EQ(steps.peer[0], 1);
  EXPECT_EQ(steps.peer[4], 3);

  job.summaries[2].iterations[0].collectives.clear();
  job.summaries[2].iterations[0].segments = {Segment{}};
  const Matching alone = matching_of(job.steps());
  ASSERT_THAT(alone.mismatches, SizeIs(1));
  EXPECT_EQ(alone.mismatches[0].text,
            "rank 2 has no receive for send 0 of pp1 of rank 3 in iteration 0");
}

TEST(Matching, NamesASendWithoutReceive) {
  SmallJob job(2);
  job.message(0, 1);
  job.summaries[1].iterations[0].collectives.clear();
  job.summaries[1].iterations[0].segments = {Segment{}};
  const Matching matching = matching_of(job.steps());
  ASSERT_THAT(matching.mismatches, SizeIs(1));
  EXPECT_EQ(matching.mismatches[0].text,
            "rank 1 has no receive for send 0 of dp0 of rank 0 in iteration 0");
}

TEST(Matching, RejectsBadSummaries) {
  SmallJob job(2);
  job.all_reduce();
  const auto rejects = [&](const auto& damage) {
    std::vector<RankSummary> summaries = job.complete();
    damage(summaries[1]);
    EXPECT_THROW(SmallJob::steps_of(summaries), Error);
  };
  rejects([](RankSummary& summary) { summary.identity.rank = -1; });
  rejects([](RankSummary& summary) { summary.identity.rank = 0; });
  rejects([](RankSummary& summary) { summary.identity.rank = 2; });
  rejects([](RankSummary& summary) { summary.identity.world_size = 2'000'000'000; });
  rejects([](RankSummary& summary) { summary.communicators.clear(); });
  rejects([](RankSummary& summary) { summary.iterations[0].segments.pop_back(); });
  rejects([](RankSummary& summary) { summary.iterations[0].segments[0].after = 0; });
  rejects([](RankSummary& summary) { summary.iterations[0].segments[0].place = 9; });
  rejects([](RankSummary& summary) { summary.iterations[0].collectives[0].communicator = 1; });
}

}  // namespace
}  // namespace streamscope::job
