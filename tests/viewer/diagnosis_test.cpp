// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/diagnosis.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "analysis/derive.h"
#include "model/loader.h"
#include "model/trace_model.h"
#include "report/sections/summary.h"
#include "support/mistakes.h"

namespace streamscope::viewer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Ns kMs = 1'000'000;

TEST(Diagnosis, SaysWhatAReportSays) {
  const TraceModel model(test::host_bound_trace(20).trace());
  const report::Summary report = report::summarize(model.trace());
  const Diagnosis& diagnosis = model.diagnosis();
  ASSERT_TRUE(report.iteration.found());
  ASSERT_NE(diagnosis.summary, nullptr);
  EXPECT_EQ(diagnosis.why_none, "");
  EXPECT_EQ(report::bound_sentence(*diagnosis.summary), report::bound_sentence(report.iteration));
  EXPECT_THAT(report::bound_sentence(*diagnosis.summary), HasSubstr("Bound by the host"));
  EXPECT_EQ(report::duration_sentence(*diagnosis.summary),
            report::duration_sentence(report.iteration));
  EXPECT_EQ(diagnosis.small.size(), report.small.size());
  // The same findings first, in the same order.
  const std::vector<FindingLine>& findings = model.insights().findings;
  ASSERT_FALSE(diagnosis.repairs.empty());
  EXPECT_EQ(diagnosis.repairs.size() + diagnosis.more, report.advice.size());
  for (size_t i = 0; i < diagnosis.repairs.size(); ++i) {
    const Repair& repair = diagnosis.repairs[i];
    EXPECT_EQ(findings[repair.finding].title(), report.advice[i].finding.title);
    EXPECT_EQ(repair.gain, report::gain_text(report.advice[i].finding, 0));
  }
  EXPECT_TRUE(std::ranges::any_of(diagnosis.repairs, [](const Repair& repair) {
    return repair.place == "train.py:41 step";
  })) << "of the synchronization";
}

TEST(Diagnosis, FindsTheIterationOfAnInstant) {
  const TraceModel model(test::host_bound_trace(20).trace());
  const Diagnosis& diagnosis = model.diagnosis();
  const analysis::Iterations& iterations = diagnosis.iterations;
  ASSERT_EQ(iterations.all.size(), 27u);
  EXPECT_EQ(iterations.steady_from, 3u);
  EXPECT_EQ(iterations.steady_to, 23u);
  EXPECT_THAT(diagnosis.outliers, testing::ElementsAre(10u));
  for (size_t i = 0; i < iterations.all.size(); ++i) {
    const TimeRange range = diagnosis.range(i);
    EXPECT_EQ(diagnosis.iteration_at(range.begin_ns), i);
    EXPECT_EQ(diagnosis.iteration_at(range.end_ns - 1), i);
  }
  EXPECT_EQ(diagnosis.iteration_at(-kMs), 0u);
  EXPECT_EQ(diagnosis.iteration_at(1'000 * kMs), 26u);
  EXPECT_EQ(diagnosis.range(diagnosis.opening()).duration_ns(), iterations.median_ns);
}

TEST(Diagnosis, OfATraceWithoutIterationsSaysWhy) {
  test::TraceBuilder builder;
  builder.stream("math").wait("never").kernel("gemm", 100, 200).kernel("relu", 250, 300);
  const TraceModel once(builder.trace());
  EXPECT_FALSE(once.diagnosis().has_iterations());
  EXPECT_EQ(once.diagnosis().summary, nullptr);
  EXPECT_THAT(once.diagnosis().why_none, HasSubstr("repeats 4 times or more"));
  EXPECT_THAT(once.diagnosis().path, HasSubstr("kernels"));
  ASSERT_FALSE(once.diagnosis().repairs.empty()) << "a wait for an event that is never recorded";
  EXPECT_EQ(once.diagnosis().iteration_at(150), std::nullopt);

  EXPECT_THAT(TraceModel(trace::Trace{}).diagnosis().why_none, HasSubstr("no work"));
  trace::Trace untimed = builder.trace();
  for (Ns& at : untimed.op.start_ns) at = trace::kUnknownNs;
  for (Ns& at : untimed.op.end_ns) at = trace::kUnknownNs;
  EXPECT_THAT(TraceModel(std::move(untimed)).diagnosis().why_none,
              HasSubstr("no device times were recorded"));
  for (int i = 0; i < 3; ++i)
    builder.stream("math").kernel("lost", trace::kUnknownNs, trace::kUnknownNs);
  trace::Trace cut_short = builder.trace();
  EXPECT_THAT(TraceModel(std::move(cut_short)).diagnosis().why_none,
              HasSubstr("most work has no device times"));
}

TEST(Diagnosis, OfASketchIsEmpty) {
  const TraceModel sketch(test::host_bound_trace(20).trace(), true);
  EXPECT_FALSE(sketch.diagnosis().has_iterations());
  EXPECT_THAT(sketch.diagnosis().repairs, IsEmpty());
}

// A trace whose derived tables replace the analyses.
TEST(Diagnosis, OfAVeryLargeTraceIsComputedWhenItIsNeeded) {
  const auto file = std::filesystem::path(testing::TempDir()) / "diagnosis_test.sqlite";
  std::filesystem::remove(file);
  test::host_bound_trace(20).write(file);
  const trace::Trace written = trace::read(file);
  analysis::Analyses analyses(written);
  analysis::write_derived_tables(analyses);
  const std::shared_ptr<const TraceModel> large = read_model(file, {}, 0);
  ASSERT_TRUE(large->insights().derived);
  const Diagnosis& diagnosis = large->diagnosis();
  EXPECT_EQ(diagnosis.summary, nullptr);
  EXPECT_EQ(diagnosis.iterations.all.size(), 27u);
  EXPECT_EQ(diagnosis.outliers.size(), 1u);
  ASSERT_FALSE(diagnosis.repairs.empty());
  EXPECT_THAT(diagnosis.repairs[0].gain, HasSubstr("\u2192"));

  Diagnoser diagnoser;
  EXPECT_EQ(diagnoser.ask(large, false), nullptr);
  EXPECT_FALSE(diagnoser.is_busy()) << "it is not needed";
  std::shared_ptr<const IterationSummary> summary = diagnoser.ask(large, true);
  EXPECT_EQ(summary, nullptr) << "it does not block";
  EXPECT_TRUE(diagnoser.is_busy());
  while (diagnoser.is_busy()) summary = diagnoser.ask(large, true);
  ASSERT_NE(summary, nullptr);
  const TraceModel whole(trace::read(file));
  EXPECT_EQ(report::bound_sentence(*summary), report::bound_sentence(*whole.diagnosis().summary));
  EXPECT_EQ(diagnoser.ask(large, false), summary) << "it is kept";

  // Another model: its own summary, at once.
  const auto small = std::make_shared<const TraceModel>(test::host_bound_trace(12).trace());
  EXPECT_EQ(diagnoser.ask(small, true), small->diagnosis().summary);
  EXPECT_FALSE(diagnoser.is_busy());
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace streamscope::viewer
