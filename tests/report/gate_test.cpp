// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Check as a gate for builds: baselines, budgets, and the formats of CI servers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "report/check/check.h"
#include "report/sections/diff_document.h"
#include "support/trace_builder.h"
#include "support/units.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using test::kUs;
using test::TraceBuilder;
using testing::HasSubstr;
using testing::Not;
using trace::Ns;
using trace::Trace;

// `count` waits for events that nobody recorded: one error each.
TraceBuilder waits_for_nothing(int count, trace::Ns at = 0) {
  TraceBuilder builder;
  builder.at(at);
  for (int i = 0; i < count; ++i) {
    builder.stream("math " + std::to_string(i))
        .wait("ready " + std::to_string(i))
        .kernel("consume", at + 10 * kUs, at + 20 * kUs);
  }
  return builder.meta("tier", "times");
}

std::filesystem::path write(const char* name, const std::string& text) {
  auto file = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::map<std::string, uint64_t> baseline_of(const Trace& trace) {
  return read_baseline(write("baseline.json", write_baseline(check(trace, {}))));
}

TEST(Baseline, IgnoresKnownFindingsWheneverTheyOccur) {
  const auto known = baseline_of(waits_for_nothing(2).trace());
  EXPECT_EQ(known.size(), 2u);
  EXPECT_EQ(check(waits_for_nothing(2, 500 * kUs).trace(), {.baseline = known}).result,
            CheckResult::kPassed);
}

TEST(Baseline, FailsOnNewFindings) {
  const auto known = baseline_of(waits_for_nothing(1).trace());
  const Check result = check(waits_for_nothing(3).trace(), {.baseline = known});
  EXPECT_EQ(result.result, CheckResult::kFailed);
  EXPECT_EQ(result.failing, 2u);
}

TEST(Baseline, IsRefusedIfInvalid) {
  for (const char* text :
       {"", "[]", "{}", R"({"schema": 2, "findings": []})", R"({"schema": 1, "findings": [1]})",
        R"({"schema": 1, "findings": [{"fingerprint": "x", "count": -1}]})"}) {
    EXPECT_THROW((void)read_baseline(write("bad.json", text)), Error) << text;
  }
  EXPECT_THROW((void)read_baseline("/nonexistent/baseline.json"), Error);
}

// Copies of 100 µs of which a kernel hides half; the kernel waits for the first.
TraceBuilder half_hidden() {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100 * kUs, 200 * kUs).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 210 * kUs, 310 * kUs);
  builder.stream("copies").memcpy(test::kHtoD, 210 * kUs, 310 * kUs);
  builder.range("step 1/1", 0, 400 * kUs);
  return builder.meta("tier", "times");
}

std::vector<BudgetResult> measured(const std::string& text) {
  const Trace trace = half_hidden().trace();
  return check(trace, {.budgets = parse_budgets(text, "budget.txt", "step").budgets}).budgets;
}

TEST(Budget, MeasuresItsQuantities) {
  const auto results = measured(
      "# limits\ncritical-path <= 1 ms\n\noverlap >= 50 % # of copies\nwaits-per-iteration <= 1\n");
  ASSERT_EQ(results.size(), 3u);
  for (const BudgetResult& result : results) EXPECT_EQ(result.outcome, BudgetOutcome::kMet);
  EXPECT_DOUBLE_EQ(*results[1].measured, 0.5);
  EXPECT_DOUBLE_EQ(*results[2].measured, 1);
  EXPECT_EQ(measured("overlap >= 51 %")[0].outcome, BudgetOutcome::kExceeded);
  EXPECT_EQ(measured("waits-per-iteration <= 0.5")[0].outcome, BudgetOutcome::kExceeded);
}

TEST(Budget, NamesFileAndLineOfAnError) {
  const auto message = [](const char* text) {
    try {
      parse_budgets(text, "budget.txt", "");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("overlap >= 40 %\nspeed <= 3"), HasSubstr("budget.txt:2"));
  EXPECT_THAT(message("overlap >= 40 ms"), HasSubstr("40ms"));
  EXPECT_THAT(message("wait nothing <= 1 ms"), HasSubstr("event_wait"));
  EXPECT_THAT(message("waits-per-iteration <= 8"), HasSubstr("--iteration"));
  EXPECT_THAT(message("critical-path < 3 ms"), HasSubstr("is not a limit"));
  EXPECT_THAT(message("critical-path <= nan ms"), HasSubstr("is not a valid limit"));
  EXPECT_THAT(message("critical-path <= -1 ms"), HasSubstr("is not a valid limit"));
  EXPECT_THAT(message("# nothing\n"), HasSubstr("contains no budget"));
  EXPECT_THAT(message("overlap >= 40 %\noverlap >= 50 %"), HasSubstr("budget.txt:2"));
  EXPECT_EQ(message("overlap >= 40 %\noverlap <= 90 %"), "");
}

TEST(Budget, ThatIsExceededFailsTheCheck) {
  const Trace trace = half_hidden().trace();
  const Check result =
      check(trace, {.budgets = parse_budgets("critical-path <= 1 us", "b", "").budgets});
  EXPECT_EQ(result.result, CheckResult::kFailed);
  EXPECT_EQ(result.over_budget, 1u);
  EXPECT_THAT(write_check_text(result, {}), HasSubstr("1 budget exceeded"));
  EXPECT_THAT(write_check_github(result, {}), HasSubstr("::error title=budget critical-path::"));
  EXPECT_THAT(write_check_junit(result, {}), HasSubstr("<failure type=\"budget\""));
  EXPECT_THAT(write_check_markdown(result, {}), HasSubstr("exceeded"));
}

TEST(Budget, ThatCannotBeMeasuredLeavesTheCheckOpen) {
  const Trace trace = half_hidden().trace();
  const Check result = check(
      trace, {.budgets = parse_budgets("waits-per-iteration <= 1", "b", "no such range").budgets});
  EXPECT_EQ(result.result, CheckResult::kNotEvaluable);
}

TEST(Budget, FileMayContainAssertions) {
  const BudgetFile file = parse_budgets(
      "overlap >= 40 %\n  assert no_sync_in('nvtx:step #1') # never\n"
      "assert launches_per_iteration <= 8",
      "budget.txt", "");
  EXPECT_EQ(file.budgets.size(), 1u);
  ASSERT_EQ(file.assertions.size(), 2u);
  EXPECT_EQ(file.assertions[0].first, "nvtx:step #1");
  const auto message = [](const char* text) {
    try {
      parse_budgets(text, "budget.txt", "");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("# none\n  assert no_sync_in(step)"),
              HasSubstr("budget.txt:2: column 21: expected a text in quotes"));
  EXPECT_THAT(message("assert no_sync_in('iteration')\nassert no_sync_in(\"iteration\")"),
              HasSubstr("budget.txt:2: the same assertion is already there"));
  EXPECT_THAT(message("assert"), HasSubstr("column 7: expected an assertion"));
}

Check check_of(const Trace& trace, std::initializer_list<const char*> texts) {
  CheckOptions options;
  options.iteration = {.source = analysis::IterationSource::kRange, .range = "step"};
  for (const char* text : texts)
    options.assertions.push_back(analysis::parse_assertion(text, "test"));
  return check(trace, options);
}

constexpr const char* kGood = R"(may_overlap("memcpy*", "gemm"))";
constexpr const char* kBroken = R"(no_sync_in("nvtx:step"))";
constexpr const char* kOpen = R"(ordered("memcpy*", "conv*"))";

TEST(Assertions, DecideTheCheck) {
  TraceBuilder builder = half_hidden();
  builder.synchronize_device(320 * kUs, 330 * kUs);
  const Trace trace = builder.trace();
  EXPECT_EQ(check_of(trace, {kGood}).result, CheckResult::kPassed);
  EXPECT_EQ(check_of(trace, {kGood, kBroken}).result, CheckResult::kFailed);
  EXPECT_EQ(check_of(trace, {kGood, kOpen}).result, CheckResult::kNotEvaluable);
  EXPECT_EQ(check_of(trace, {kOpen, kBroken}).result, CheckResult::kFailed);
  EXPECT_EQ(check_of(trace, {kOpen, kBroken}).broken, 1u);
}

TEST(Assertions, AreInEveryFormat) {
  TraceBuilder builder = half_hidden();
  builder.synchronize_device(320 * kUs, 330 * kUs);
  const Trace trace = builder.trace();
  const Check result = check_of(trace, {kGood, kBroken, kOpen});
  for (const CheckFormat& format : check_formats()) {
    const std::string text = format.write(result, {});
    EXPECT_THAT(text, HasSubstr("ordered(")) << format.name;
    EXPECT_THAT(text, HasSubstr("cudaDeviceSynchronize 1 time")) << format.name;
    EXPECT_THAT(text, HasSubstr("no kernel or copy matches")) << format.name;
  }
  EXPECT_THAT(write_check_text(result, {}),
              testing::AllOf(HasSubstr("1 assertion fails"), HasSubstr("in 1 of 1 iteration"),
                             HasSubstr("1 blocking call in 1 range"), HasSubstr("not evaluable")));
  EXPECT_THAT(write_check_text(check_of(trace, {kOpen}), {}),
              HasSubstr("not evaluable: an assertion cannot be evaluated"));
  EXPECT_THAT(write_check_junit(result, {}),
              testing::AllOf(HasSubstr("name=\"assert may_overlap(&quot;memcpy*&quot;"),
                             HasSubstr("<failure type=\"assertion\" message=\"1 blocking call"),
                             HasSubstr("failures=\"1\""), HasSubstr("<skipped message=\"no ker")));
  EXPECT_THAT(write_check_github(result, {}),
              testing::AllOf(HasSubstr("::error title=assert no_sync_in("),
                             HasSubstr("::warning title=assert ordered("),
                             Not(HasSubstr("title=assert may_overlap"))));
  EXPECT_THAT(write_check_json(result, {}),
              testing::AllOf(HasSubstr("\"outcome\": \"holds\""),
                             HasSubstr("\"outcome\": \"not evaluable\"")));
}

TEST(Assertions, NameTheLineThatDecides) {
  TraceBuilder waits;
  waits.stream("copies").memcpy(test::kHtoD, 100 * kUs, 200 * kUs).record("loaded");
  waits.stream("math").wait("loaded").kernel("gemm", 210 * kUs, 310 * kUs);
  waits.range("step", 0, 400 * kUs).meta("tier", "times");
  const trace::Id operation = waits.operation("load", waits.stream("math"));
  waits.columns().operation.call_site_id[operation] = waits.intern("/home/ada/train.py:41 step");
  waits.columns().event_wait.operation_id[0] = operation;
  const Trace ordered = waits.trace();
  const Check broken = check_of(ordered, {kGood});
  EXPECT_THAT(write_check_github(broken, {}),
              HasSubstr("::error file=/home/ada/train.py,line=41,title=assert may_overlap("));
  EXPECT_THAT(write_check_sarif(broken, {}),
              testing::AllOf(HasSubstr("\"startLine\": 41"), Not(HasSubstr("ada"))));
}

TEST(Assertions, AreNotEvaluatedOnAnUnfinishedTrace) {
  TraceBuilder builder = half_hidden();
  builder.meta("finished", "0");
  const Trace trace = builder.trace();
  const Check result = check_of(trace, {kGood, kBroken});
  EXPECT_EQ(result.broken, 0u);
  EXPECT_EQ(result.result, CheckResult::kNotEvaluable);
}

// Steps of one kernel and one copy, after a start-up.
Trace even_steps(int count, Ns step_ns, Ns start_up_ns = 0) {
  TraceBuilder builder;
  for (int i = 0; i < count; ++i) {
    const Ns at = start_up_ns + i * step_ns;
    builder.at(at);
    builder.stream("math").kernel("gemm", at + 5 * kUs, at + 45 * kUs);
    builder.stream("math").memcpy(test::kDtoH, at + 46 * kUs, at + 50 * kUs);
  }
  return builder.trace();
}

DiffVerdict verdict_of(const Trace& base, const Trace& now) {
  analysis::Analyses before(base), after(now);
  analysis::TraceDiff diff = analysis::diff(before, after);
  BaseRun run{.ns = diff.base_ns};
  if (diff.steady) run.steady = diff.steady->base;
  return judge(std::move(diff), {run}, 0.05);
}

TEST(DiffVerdict, IsThatOfAStepRegardlessOfStartUp) {
  const Trace slow = even_steps(20, 400 * kUs), fast = even_steps(20, 100 * kUs, 90'000 * kUs);
  const DiffVerdict faster = verdict_of(slow, fast);
  EXPECT_FALSE(faster.regressed());
  const std::string text = to_markdown(diff_document(faster));
  EXPECT_THAT(text, HasSubstr("100 µs instead of 400 µs (−75.0 %) per repetition"));
  EXPECT_THAT(text, HasSubstr("no regression"));
  EXPECT_THAT(text, HasSubstr("Start-up is excluded"));
  EXPECT_THAT(diff_json(faster), HasSubstr("\"what\": \"sequence\""));
  EXPECT_THAT(diff_json(faster), HasSubstr("\"result\": \"no-regression\""));
  const DiffVerdict slower = verdict_of(fast, slow);
  EXPECT_TRUE(slower.slower);
  EXPECT_THAT(to_markdown(diff_document(slower)), HasSubstr("regression: a repetition is slower"));
}

TEST(DiffVerdict, IsARegressionIfTheSameStepRunsMoreOften) {
  const DiffVerdict verdict = verdict_of(even_steps(20, 100 * kUs), even_steps(40, 100 * kUs));
  EXPECT_FALSE(verdict.slower);
  EXPECT_TRUE(verdict.more_often);
  EXPECT_THAT(to_markdown(diff_document(verdict)),
              HasSubstr("regression: 40 repetitions instead of 20"));
}

TEST(DiffVerdict, OfAnUnfinishedRunIsNoneUnlessItIsAlreadyTooSlow) {
  DiffVerdict verdict = verdict_of(even_steps(20, 100 * kUs), even_steps(20, 100 * kUs));
  EXPECT_EQ(verdict.result(), CheckResult::kPassed);
  verdict.new_unfinished = true;
  EXPECT_EQ(verdict.result(), CheckResult::kNotEvaluable);
  EXPECT_THAT(to_markdown(diff_document(verdict)), HasSubstr("not evaluable: the new trace"));
  EXPECT_THAT(diff_json(verdict), HasSubstr("\"result\": \"not-evaluable\""));
  verdict = verdict_of(even_steps(20, 100 * kUs), even_steps(20, 200 * kUs));
  verdict.new_unfinished = true;
  EXPECT_EQ(verdict.result(), CheckResult::kFailed);
  verdict.base_unfinished = true;
  EXPECT_EQ(verdict.result(), CheckResult::kNotEvaluable);
}

TEST(DiffVerdict, OfWholeRunsIsAPossibleOne) {
  TraceBuilder base, now;
  base.stream("math").kernel("solve", 0, 100 * kUs);
  now.stream("math").kernel("solve", 0, 200 * kUs);
  const DiffVerdict verdict = verdict_of(base.trace(), now.trace());
  EXPECT_TRUE(verdict.regressed());
  const std::string text = to_markdown(diff_document(verdict));
  EXPECT_THAT(text, HasSubstr("possible regression"));
  EXPECT_THAT(text, HasSubstr("Whole runs including start-up"));
  EXPECT_THAT(diff_json(verdict), HasSubstr("\"includes_start_up\": true"));
}

TEST(Junit, HasACasePerRuleAndEscapesHostileNames) {
  TraceBuilder builder = waits_for_nothing(1);
  builder.stream("<math & \"co\">\x1b[31m").wait("ready").kernel("a<b>&", 30 * kUs, 40 * kUs);
  const Trace trace = builder.trace();
  const Check result = check(trace, {});
  const std::string text = write_check_junit(result, {});
  EXPECT_THAT(text, HasSubstr("failures=\"1\""));
  EXPECT_THAT(text, HasSubstr("name=\"SS005 wait-on-unrecorded\""));
  EXPECT_THAT(text, Not(HasSubstr("<math")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  size_t cases = 0;
  for (size_t at = 0; (at = text.find("<testcase ", at)) != text.npos; ++at) ++cases;
  EXPECT_EQ(cases, result.verdicts.size());
}

TEST(Github, PutsEveryAnnotationOnOneLine) {
  TraceBuilder builder;
  builder.stream("math\n::error::forged").wait("ready").kernel("k", 10 * kUs, 20 * kUs);
  builder.meta("tier", "times");
  const Trace trace = builder.trace();
  const std::string text = write_check_github(check(trace, {}), {});
  EXPECT_THAT(text, HasSubstr("::error title=SS005 wait-on-unrecorded::"));
  EXPECT_THAT(text, Not(HasSubstr("\n::error::forged")));
  EXPECT_THAT(text, HasSubstr("::notice title=streamscope check::failed"));
}

}  // namespace
}  // namespace streamscope::report
