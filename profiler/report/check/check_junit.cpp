// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "check.h"
#include "report/formats/markup.h"
#include "trace/loss.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::Outcome;

struct Suite {
  std::string cases;
  size_t tests = 0, failures = 0, skipped = 0;

  void add(const std::string& name, const std::string& body, bool fails, bool skips) {
    ++tests;
    failures += fails;
    skipped += skips;
    cases +=
        fmt::format("    <testcase classname=\"streamscope\" name=\"{}\"", escape_markup(name));
    cases += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
  }
};

}  // namespace

std::string write_check_junit(const Check& check, const TextStyle&) {
  Suite suite;
  for (const analysis::Verdict& verdict : check.verdicts) {
    const analysis::Detector& detector = *verdict.detector;
    std::string body, output;
    std::vector<Advice> possible;
    bool fails = false;
    for (const Advice& advice : check.findings) {
      if (advice.detector != &detector) continue;
      if (advice.is_possible() && !check.options.show_possible) {
        possible.push_back(advice);
        continue;
      }
      const std::string text = escape_markup(advice.finding.title + ". " + advice.finding.text);
      const bool counts = detector.severity >= check.options.fail_on && !advice.known &&
                          advice.finding.confidence == Confidence::kCertain;
      if (!counts || fails) {
        output += text + "\n";
        continue;
      }
      fails = true;  // a test case has one failure; the others are its output
      body += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                          analysis::to_string(detector.severity),
                          escape_markup(advice.finding.title), text);
    }
    if (!possible.empty()) output += escape_markup(possible_line(possible)) + "\n";
    const bool is_open =
        std::ranges::find(check.open, &detector, &OpenQuestion::detector) != check.open.end();
    const bool skips =
        !fails && (is_open || verdict.outcome == Outcome::kNotEvaluable ||
                   verdict.outcome == Outcome::kNotAtThisTier || check.info.unfinished);
    if (skips) {
      const std::string_view reason = verdict.reason.empty() ? trace::kUnfinished : verdict.reason;
      body += fmt::format("      <skipped message=\"{}\"/>\n", escape_markup(reason));
    }
    if (!output.empty()) body += "      <system-out>" + output + "</system-out>\n";
    suite.add(rule_name(detector), body, fails, skips);
  }
  for (const BudgetResult& result : check.budgets) {
    const std::string text = escape_markup(
        fmt::format("{}, measured {}", result.budget.limit_text(), result.measured_text()));
    const bool fails = result.outcome == BudgetOutcome::kExceeded;
    const bool skips = result.outcome == BudgetOutcome::kNotMeasurable;
    suite.add(
        "budget " + result.budget.text() + (result.budget.at_least ? " at least" : " at most"),
        fails   ? "      <failure type=\"budget\" message=\"" + text + "\"/>\n"
        : skips ? "      <skipped message=\"" + text + "\"/>\n"
                : "",
        fails, skips);
  }
  for (const analysis::AssertionResult& result : check.assertions) {
    const std::string text = escape_markup(result.text);
    const bool fails = result.outcome == analysis::AssertionOutcome::kFails;
    const bool skips = result.outcome == analysis::AssertionOutcome::kNotEvaluable;
    suite.add("assert " + shown_text(result),
              fails ? fmt::format("      <failure type=\"assertion\" message=\"{}\">{}</failure>\n",
                                  escape_markup(result.measured), text)
              : skips ? "      <skipped message=\"" + text + "\"/>\n"
                      : "",
              fails, skips);
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", suite.tests, suite.failures);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"{1}\" "
      "{0} skipped=\"{2}\">\n{3}  </testsuite>\n</testsuites>\n",
      counts, escape_markup(check.name), suite.skipped, suite.cases);
}

}  // namespace streamscope::report
