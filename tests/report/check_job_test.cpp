// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Check as a gate for jobs of many ranks: one test that finds and one that stays silent for each
// rule and each budget.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/simulated_job.h"
#include "job/small_job.h"
#include "report/check/check.h"
#include "support/golden.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using analysis::AssertionOutcome;
using analysis::FindingSeverity;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

JobReport report_of(const std::vector<job::RankSummary>& summaries) {
  return {.job = job::analyze(job::SmallJob::steps_of(summaries)), .name = "run"};
}

JobReport report_of(job::Fault fault) {
  return report_of(
      job::simulate({.ranks = 16, .tensor = 2, .iterations = 12, .fault = fault, .seed = 7})
          .summaries);
}

std::vector<Budget> limits(const char* text) {
  return parse_budgets(text, "budget.txt", "", CheckSubject::kJob).budgets;
}

BudgetOutcome outcome_of(const JobReport& report, const char* limit) {
  return check_job(report, {.budgets = limits(limit)}).budgets.at(0).outcome;
}

// What a check of this severity fails on.
uint64_t failing(const JobReport& report, FindingSeverity fail_on = FindingSeverity::kError) {
  return check_job(report, {.fail_on = fail_on}).failing;
}

// Two ranks that work equally long before an all-reduce.
job::SmallJob even_job() {
  job::SmallJob job(2);
  for (int iteration = 0; iteration < 6; ++iteration) {
    for (int rank : {0, 1}) job.work(rank, 90'000);
    job.all_reduce(10'000);
    job.end_iteration();
  }
  return job;
}

// On two hosts, which nothing joins.
std::vector<job::RankSummary> without_collectives() {
  std::vector<job::RankSummary> summaries = even_job().complete();
  for (job::RankSummary& summary : summaries) {
    summary.identity.host = "node" + std::to_string(summary.identity.rank);
    for (job::RankIteration& iteration : summary.iterations) {
      iteration.collectives.clear();
      iteration.segments.resize(1);
      iteration.segments[0].after = -1;
    }
  }
  return summaries;
}

TEST(CheckJobGolden, EveryFormatIsAsApproved) {
  JobReport report = report_of(job::Fault::kSlowLoader);
  report.problems = {"rank 16 of 17 has no trace"};
  const Check check = check_job(
      report, {.fail_on = FindingSeverity::kWarning, .budgets = limits("iteration <= 10 ms")});
  for (const CheckFormat& format : check_formats()) {
    const std::string extension = format.name == "text" ? "txt" : std::string(format.name);
    test::expect_golden("check/job." + extension, format.write(check, {}));
  }
}

TEST(CheckJob, FailsOnADelayIfAsked) {
  const JobReport report = report_of(job::Fault::kSlowLoader);
  EXPECT_EQ(check_job(report, {}).result, CheckResult::kPassed);
  const Check check = check_job(report, {.fail_on = FindingSeverity::kWarning});
  EXPECT_EQ(check.result, CheckResult::kFailed);
  EXPECT_EQ(check.findings.at(0).finding.title, report.job.delay_sentences.at(0));
}

TEST(CheckJob, OfAHealthyJobPasses) {
  const Check check =
      check_job(report_of(job::Fault::kNone), {.fail_on = FindingSeverity::kWarning});
  EXPECT_EQ(check.result, CheckResult::kPassed);
  EXPECT_EQ(check.failing, 0u);
}

TEST(CheckJob, FailsOnCollectivesThatDoNotMatch) {
  EXPECT_GT(failing(report_of(job::Fault::kMixedOrder)), 0u);
  EXPECT_EQ(failing(report_of(job::Fault::kNone)), 0u);
}

TEST(CheckJob, DoesNotFailOnARankThatWasRecordedForLessTime) {
  std::vector<job::RankSummary> summaries = even_job().complete();
  summaries[1].iterations.resize(2);
  const Check check = check_job(report_of(summaries), {});
  ASSERT_FALSE(check.findings.empty());
  EXPECT_THAT(check.findings[0].finding.title, HasSubstr("calls nothing after"));
  EXPECT_EQ(check.result, CheckResult::kPassed);
  EXPECT_THAT(write_check_text(check, {}), HasSubstr("1 possible finding (1 collective-mismatch)"));
}

TEST(CheckJob, FailsOnARankWithoutATrace) {
  JobReport report = report_of(even_job().complete());
  EXPECT_EQ(failing(report), 0u);
  report.problems = {"rank 2 of 3 has no trace"};
  const Check check = check_job(report, {});
  EXPECT_EQ(check.result, CheckResult::kFailed);
  EXPECT_EQ(check.findings.at(0).detector->id, "incomplete-run");
  EXPECT_THAT(check.notices, SizeIs(0)) << "said twice";
}

TEST(CheckJob, OfAnUnfinishedTraceNeverPasses) {
  JobReport report = report_of(even_job().complete());
  report.unfinished = {"rank-00001.sqlite"};
  const Check check = check_job(report, {.budgets = limits("iteration <= 1 s")});
  EXPECT_EQ(check.result, CheckResult::kNotEvaluable);
  EXPECT_EQ(check.budgets.at(0).outcome, BudgetOutcome::kNotMeasurable);
}

TEST(CheckJob, IsNotEvaluableWhereARankLacksData) {
  std::vector<job::RankSummary> summaries = even_job().complete();
  summaries[1].incomplete = "records were lost";
  const CheckOptions options{.fail_on = FindingSeverity::kWarning};
  const Check check = check_job(report_of(summaries), options);
  EXPECT_EQ(check.result, CheckResult::kNotEvaluable);
  EXPECT_THAT(write_check_text(check, {}), HasSubstr("rank 1: records were lost"));
  EXPECT_EQ(check_job(report_of(even_job().complete()), options).result, CheckResult::kPassed);
}

TEST(CheckJob, WithoutIterationsIsNotEvaluable) {
  const job::SmallJob empty(2);
  EXPECT_EQ(check_job(report_of(empty.complete()), {}).result, CheckResult::kNotEvaluable);
}

TEST(CheckJob, NotesAClockThatIsNotKnown) {
  std::vector<job::RankSummary> summaries = even_job().complete();
  summaries[0].identity.host = "node0";
  summaries[1].identity.host = "node1";
  EXPECT_EQ(failing(report_of(summaries), FindingSeverity::kNote), 0u);
  const Check check =
      check_job(report_of(without_collectives()), {.fail_on = FindingSeverity::kNote});
  EXPECT_EQ(check.failing, 1u);
  EXPECT_THAT(write_check_text(check, {}),
              HasSubstr("the clock of the host of rank 1 is not known"));
}

TEST(CheckJob, NamesNoHostInSarif) {
  std::vector<job::RankSummary> summaries = without_collectives();
  const Check check = check_job(report_of(summaries), {.fail_on = FindingSeverity::kNote});
  ASSERT_EQ(check.findings.size(), 1u);
  EXPECT_THAT(write_check_sarif(check, {}), Not(HasSubstr("node1")));
}

TEST(CheckJob, IgnoresADelayOfTheBaselineOnAnyRank) {
  const CheckOptions options{.fail_on = FindingSeverity::kWarning};
  const Check before = check_job(report_of(job::Fault::kSlowLoader), options);
  CheckOptions later = options;
  for (const Advice& advice : before.findings) ++later.baseline[advice.fingerprint];
  EXPECT_EQ(check_job(report_of(job::Fault::kSlowLoader), later).result, CheckResult::kPassed);
  EXPECT_EQ(check_job(report_of(job::Fault::kSlowKernel), later).result, CheckResult::kFailed);
}

TEST(JobBudget, OfTheIteration) {
  const JobReport report = report_of(even_job().complete());  // 100 µs
  EXPECT_EQ(outcome_of(report, "iteration <= 101 us"), BudgetOutcome::kMet);
  EXPECT_EQ(outcome_of(report, "iteration <= 99 us"), BudgetOutcome::kExceeded);
}

TEST(JobBudget, OfWaitingAndHiddenCommunication) {
  job::SmallJob uneven(2);
  for (int iteration = 0; iteration < 6; ++iteration) {
    uneven.work(0, 40'000);
    uneven.work(1, 90'000);
    uneven.all_reduce(10'000);
    uneven.end_iteration();
  }
  // One of the two waits for half of each iteration.
  const JobReport report = report_of(uneven.complete());
  EXPECT_EQ(outcome_of(report, "waiting <= 20 %"), BudgetOutcome::kExceeded);
  EXPECT_EQ(outcome_of(report, "waiting <= 30 %"), BudgetOutcome::kMet);
  EXPECT_EQ(outcome_of(report_of(even_job().complete()), "waiting <= 0 %"), BudgetOutcome::kMet);
  EXPECT_EQ(outcome_of(report, "hidden-communication >= 10 %"), BudgetOutcome::kExceeded);
  EXPECT_EQ(outcome_of(report_of(job::Fault::kNone), "hidden-communication >= 1 %"),
            BudgetOutcome::kMet);
}

TEST(JobBudget, OfTheLargestDelay) {
  const JobReport slow = report_of(job::Fault::kSlowLoader);
  EXPECT_EQ(outcome_of(slow, "largest-delay <= 2 %"), BudgetOutcome::kExceeded);
  EXPECT_EQ(outcome_of(slow, "largest-delay <= 50 %"), BudgetOutcome::kMet);
  EXPECT_EQ(outcome_of(report_of(job::Fault::kNone), "largest-delay <= 0 %"), BudgetOutcome::kMet);
}

TEST(JobBudget, WithoutIterationsIsNotMeasurable) {
  const JobReport nothing = report_of(job::SmallJob(2).complete());
  for (const char* limit : {"iteration <= 1 s", "waiting <= 1 %", "hidden-communication >= 1 %",
                            "largest-delay <= 1 %"})
    EXPECT_EQ(outcome_of(nothing, limit), BudgetOutcome::kNotMeasurable) << limit;
}

TEST(JobBudget, IsNotThatOfATrace) {
  const auto message = [](const char* text, CheckSubject subject) {
    try {
      parse_budgets(text, "budget.txt", "", subject);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("critical-path <= 1 ms", CheckSubject::kJob),
              HasSubstr("'critical-path' is measured on a trace, not on the folder of a run"));
  EXPECT_THAT(message("waiting <= 1 %", CheckSubject::kTrace),
              HasSubstr("'waiting' is measured on the folder of a run"));
  EXPECT_THAT(message("speed <= 1 %", CheckSubject::kJob), Not(HasSubstr("critical-path")));
  EXPECT_EQ(message("iteration <= 1 ms", CheckSubject::kTrace), "");
}

TEST(JobAssertion, HoldsIfItHoldsOnEveryRank) {
  using Results = std::vector<analysis::AssertionResult>;
  const auto answer = [](AssertionOutcome outcome) {
    return Results{{.outcome = outcome, .measured = "here", .text = "Why."}};
  };
  Results results;
  join(results, 0, answer(AssertionOutcome::kHolds));
  EXPECT_EQ(results.at(0).outcome, AssertionOutcome::kHolds);
  join(results, 1, answer(AssertionOutcome::kNotEvaluable));
  EXPECT_EQ(results.at(0).outcome, AssertionOutcome::kNotEvaluable);
  join(results, 2, answer(AssertionOutcome::kFails));
  join(results, 3, answer(AssertionOutcome::kHolds));
  EXPECT_EQ(results.at(0).outcome, AssertionOutcome::kFails);
  EXPECT_EQ(results.at(0).text, "Rank 2: Why.");
  EXPECT_EQ(check_job(report_of(even_job().complete()), {}, results).result, CheckResult::kFailed);
}

}  // namespace
}  // namespace streamscope::report
