// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/awaited.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/job.h"
#include "small_job.h"
#include "support/units.h"

namespace streamscope::job {
namespace {

using analysis::TimeShare;
using test::kUs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Awaited, SaysWhatAStageDoesWhileOthersWaitForIt) {
  SmallJob job(2);
  for (int i = 0; i < 6; ++i) {
    job.work(1, 90 * kUs);
    job.message(1, 0, 10 * kUs);
    job.work(0, 20 * kUs);
    job.end_iteration();
  }
  const Job answer = analyze(job.steps());
  EXPECT_THAT(answer.delays, IsEmpty());
  ASSERT_THAT(answer.awaited, SizeIs(1));
  const AwaitedRank& awaited = answer.awaited[0];
  EXPECT_EQ(awaited.rank_row, 1u);
  EXPECT_EQ(awaited.share, TimeShare::kKernels);
  EXPECT_EQ(awaited.place, "train.py:1");
  EXPECT_GT(awaited.waits_ns, 60 * kUs);
  EXPECT_NEAR(awaited.share_ns, awaited.waits_ns, 1);
  EXPECT_THAT(sentence_of(answer.steps, awaited), HasSubstr("rank 1 makes others wait"));
}

TEST(Awaited, ARankHasPeersIfAnotherOneMakesTheSameCallsInSomeIteration) {
  SmallJob job(2);
  for (int i = 0; i < 4; ++i) {
    job.all_reduce();
    job.end_iteration();
  }
  std::vector<RankSummary> summaries = job.complete();
  summaries[0].iterations.erase(summaries[0].iterations.begin());
  summaries[0].first_iteration = 1;
  EXPECT_THAT(peers_of(SmallJob::steps_of(summaries)).is_alone, testing::ElementsAre(false, false));
  summaries[1].iterations.resize(1);
  EXPECT_THAT(peers_of(SmallJob::steps_of(summaries)).is_alone, testing::ElementsAre(true, true));
}

TEST(Awaited, IsNobodyWhoHasPeersOrIsNotWaitedFor) {
  SmallJob alike(3);
  for (int i = 0; i < 6; ++i) {
    alike.work(1, 90 * kUs, TimeShare::kOutside);
    alike.all_reduce(10 * kUs);
    alike.end_iteration();
  }
  EXPECT_THAT(analyze(alike.steps()).awaited, IsEmpty());
  SmallJob in_time(2);
  for (int i = 0; i < 6; ++i) {
    for (const int rank : {0, 1}) in_time.work(rank, 90 * kUs, TimeShare::kOutside);
    in_time.message(1, 0, 10 * kUs);
    in_time.end_iteration();
  }
  EXPECT_THAT(analyze(in_time.steps()).awaited, IsEmpty());
}

}  // namespace
}  // namespace streamscope::job
