// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "analysis/labels.h"
#include "check.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::Outcome;

// For elements and attributes; what XML cannot hold is replaced by printable().
std::string xml(std::string_view text) {
  std::string result;
  for (const char c : analysis::printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

struct Suite {
  std::string cases;
  size_t tests = 0, failures = 0, skipped = 0;

  void add(const std::string& name, const std::string& body, bool fails, bool skips) {
    ++tests;
    failures += fails;
    skipped += skips;
    cases += fmt::format("    <testcase classname=\"streamscope\" name=\"{}\"", xml(name));
    cases += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
  }
};

bool is_open(const Check& check, const analysis::Detector& detector) {
  for (const OpenQuestion& question : check.open) {
    if (question.detector == &detector) return true;
  }
  return false;
}

}  // namespace

std::string write_check_junit(const trace::Trace& trace, const Check& check, const Look&) {
  Suite suite;
  for (const analysis::Verdict& verdict : check.verdicts) {
    const analysis::Detector& detector = *verdict.detector;
    std::string body, output;
    bool fails = false;
    for (const Advice& advice : check.findings) {
      if (advice.detector != &detector) continue;
      const std::string text = xml(advice.finding.title + ". " + advice.finding.text);
      const bool counts = detector.severity >= check.options.fail_on && !advice.known &&
                          advice.finding.confidence == Confidence::kCertain;
      if (!counts || fails) {
        output += text + "\n";
        continue;
      }
      fails = true;  // a test case has one failure; the others are its output
      body += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                          analysis::to_string(detector.severity), xml(advice.finding.title), text);
    }
    const bool skips =
        !fails && (is_open(check, detector) || verdict.outcome == Outcome::kNotEvaluable ||
                   verdict.outcome == Outcome::kNotAtThisTier);
    if (skips) body += fmt::format("      <skipped message=\"{}\"/>\n", xml(verdict.reason));
    if (!output.empty()) body += "      <system-out>" + output + "</system-out>\n";
    suite.add(fmt::format("{} {}", detector.number, detector.id), body, fails, skips);
  }
  for (const BudgetResult& result : check.budgets) {
    const std::string text =
        xml(fmt::format("{}, measured {}", result.budget.limit_text(), result.measured_text()));
    const bool fails = result.outcome == BudgetOutcome::kExceeded;
    const bool skips = result.outcome == BudgetOutcome::kNotMeasurable;
    suite.add("budget " + result.budget.text(),
              fails   ? "      <failure type=\"budget\" message=\"" + text + "\"/>\n"
              : skips ? "      <skipped message=\"" + text + "\"/>\n"
                      : "",
              fails, skips);
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
                                         suite.tests, suite.failures, suite.skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"{1}\" "
      "{0}>\n{2}"
      "  </testsuite>\n</testsuites>\n",
      counts, xml(trace.file.filename().string()), suite.cases);
}

}  // namespace streamscope::report
