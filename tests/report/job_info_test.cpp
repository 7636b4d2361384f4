// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What `info` says of the folder of a run.

#include "report/sections/job_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/simulated_job.h"
#include "job/small_job.h"
#include "support/golden.h"

namespace streamscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of which the first `summaries` ranks have a summary.
JobInfo info_of(size_t summaries) {
  const job::SimulatedJob job = job::simulate({.ranks = 12, .tensor = 2, .iterations = 4});
  JobInfo info{.name = "run"};
  info.run.world_size = 13;
  info.run.problems = {"rank 12 of 13 has no trace"};
  std::vector<job::RankSummary> known;
  for (const job::RankSummary& summary : job.summaries) {
    RankFile& rank = info.ranks.emplace_back(RankFile{summary.identity, 3 << 20, std::nullopt});
    if (known.size() == summaries) continue;
    rank.iteration_count = summary.iterations.size();
    known.push_back(summary);
  }
  if (!known.empty()) info.job = job::analyze(job::SmallJob::steps_of(known));
  return info;
}

TEST(GoldenJobInfo, IsAsApproved) {
  test::expect_golden("job/info.txt", to_text(job_info_document(info_of(12)), {}));
  test::expect_golden("job/info.json", job_info_json(info_of(12)));
}

TEST(JobInfo, SaysThatSummariesAreMissing) {
  EXPECT_THAT(to_text(job_info_document(info_of(11)), {}), HasSubstr("streamscope analyze makes"));
  EXPECT_THAT(to_text(job_info_document(info_of(12)), {}), Not(HasSubstr("streamscope analyze")));
}

TEST(JobInfo, WithoutSummariesListsTheRanks) {
  const std::string text = to_text(job_info_document(info_of(0)), {});
  EXPECT_THAT(text, HasSubstr("12 ranks of 13"));
  EXPECT_THAT(text, HasSubstr("rank 12 of 13 has no trace"));
  EXPECT_THAT(text, Not(HasSubstr("Communicators")));
}

}  // namespace
}  // namespace streamscope::report
