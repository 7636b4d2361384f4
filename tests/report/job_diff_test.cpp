// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of two runs of a job.

#include "report/sections/job_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/small_job.h"
#include "job_with.h"
#include "report/formats/exporter.h"
#include "support/golden.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JobDiff compare(job::Fault before, job::Fault after) {
  return diff(job_with(before), job_with(after), {}, 0.05);
}

TEST(GoldenJobDiff, OfALoaderThatBecameSlow) {
  const JobDiff slower = compare(job::Fault::kNone, job::Fault::kSlowLoader);
  for (const auto& [format, extension] :
       {std::pair{"text", "txt"}, {"markdown", "md"}, {"json", "json"}}) {
    for (const Exporter& exporter : exporters()) {
      if (exporter.name == format)
        test::expect_golden(std::string("job/slower.") + extension,
                            exporter.write_job_diff(slower, {}));
    }
  }
}

TEST(JobDiff, FindsARegressionAndItsDelay) {
  const JobDiff slower = compare(job::Fault::kNone, job::Fault::kSlowLoader);
  EXPECT_EQ(slower.result(), CheckResult::kFailed);
  EXPECT_TRUE(slower.iterations.is_significant());
  ASSERT_FALSE(slower.delays.empty());
  EXPECT_STREQ(slower.delays[0].verdict(), "new");
  EXPECT_FALSE(slower.ranks.empty());
}

TEST(JobDiff, OfARepairSaysWhatIsGone) {
  const JobDiff faster = compare(job::Fault::kSlowLoader, job::Fault::kNone);
  EXPECT_EQ(faster.result(), CheckResult::kPassed);
  ASSERT_FALSE(faster.delays.empty());
  EXPECT_STREQ(faster.delays[0].verdict(), "gone");
}

TEST(JobDiff, OfTheSameRunIsSilent) {
  const JobDiff same = compare(job::Fault::kSlowLoader, job::Fault::kSlowLoader);
  EXPECT_EQ(same.result(), CheckResult::kPassed);
  EXPECT_FALSE(same.iterations.is_significant());
  EXPECT_THAT(same.ranks, IsEmpty());
  for (const DelayChange& change : same.delays) EXPECT_EQ(change.growth_ns(), 0);
}

TEST(JobDiff, NamesRanksOfOneRunOnly) {
  const JobDiff grown =
      diff(job_with(job::Fault::kNone, 14), job_with(job::Fault::kNone, 16), {}, 0.05);
  EXPECT_THAT(grown.new_only, ElementsAre(14, 15));
  EXPECT_THAT(to_text(job_diff_document(grown), {}), HasSubstr("Only in the new run: ranks 14"));
}

TEST(JobDiff, IsNoRegressionIfAnotherBaseRunIsAsSlow) {
  const JobReport slow = job_with(job::Fault::kSlowLoader);
  EXPECT_EQ(diff(job_with(job::Fault::kNone), slow, {slow}, 0.05).result(), CheckResult::kPassed);
}

TEST(JobDiff, OfAnUnfinishedBaseIsNotEvaluable) {
  JobReport base = job_with(job::Fault::kNone);
  base.unfinished = {"rank-00003.sqlite"};
  const JobDiff unfinished = diff(base, job_with(job::Fault::kSlowLoader), {}, 0.05);
  EXPECT_EQ(unfinished.result(), CheckResult::kNotEvaluable);
  EXPECT_THAT(to_text(job_diff_document(unfinished), {}),
              HasSubstr("baseline: rank-00003.sqlite is unfinished"));
}

TEST(JobDiff, WithoutIterationsIsRefused) {
  const JobReport nothing{.job = job::analyze(job::SmallJob::steps_of(job::SmallJob(2).complete())),
                          .name = "empty"};
  EXPECT_THROW((void)diff(nothing, job_with(job::Fault::kNone), {}, 0.05), Error);
}

}  // namespace
}  // namespace streamscope::report
