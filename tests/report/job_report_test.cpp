// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "job/simulated_job.h"
#include "job/steps.h"
#include "report/formats/exporter.h"
#include "report/sections/job_document.h"
#include "support/golden.h"

namespace streamscope::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

JobReport report_on(const job::JobPlan& plan, std::vector<std::string> problems = {}) {
  job::StepReader reader;
  for (const job::RankSummary& summary : job::simulate(plan).summaries) reader.add(summary);
  return {.job = job::analyze(reader.take()), .problems = std::move(problems)};
}

std::string written_job(const JobReport& report, std::string_view format) {
  for (const Exporter& exporter : exporters()) {
    if (exporter.name == format) return exporter.write_job(report, {});
  }
  return "";
}

const job::JobPlan kSlowLoader = {
    .ranks = 16, .tensor = 2, .iterations = 12, .fault = job::Fault::kSlowLoader, .seed = 7};

TEST(GoldenJobReport, OfASlowLoader) {
  const JobReport report = report_on(kSlowLoader, {"rank 16 of 17 has no trace"});
  for (const auto& [format, extension] :
       {std::pair{"text", "txt"}, {"markdown", "md"}, {"html", "html"}, {"json", "json"}})
    test::expect_golden(std::string("job/slow_loader.") + extension, written_job(report, format));
}

TEST(JobReport, LeadsWithTheRankAndItsCause) {
  const job::SimulatedJob job = job::simulate(kSlowLoader);
  const std::string text = written_job(report_on(kSlowLoader), "text");
  EXPECT_THAT(text, HasSubstr("1. rank " + std::to_string(job.faulty_rank) +
                              ": host outside CUDA at " + job.faulty_place));
}

TEST(JobReport, OfAHealthyJobAccusesNobody) {
  job::JobPlan plan = kSlowLoader;
  plan.fault = job::Fault::kNone;
  const std::string text = written_job(report_on(plan), "text");
  EXPECT_THAT(text, HasSubstr("No rank holds the others up"));
  EXPECT_THAT(text, Not(HasSubstr("1. ")));
}

TEST(JobReport, NamesCollectivesThatDoNotMatch) {
  job::JobPlan plan = kSlowLoader;
  plan.fault = job::Fault::kMixedOrder;
  EXPECT_THAT(written_job(report_on(plan), "text"), HasSubstr("Collectives that do not match"));
}

}  // namespace
}  // namespace streamscope::report
