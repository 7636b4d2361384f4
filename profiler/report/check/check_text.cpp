// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"
#include "check.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::FindingSeverity;
using analysis::format_count;
using analysis::format_duration;
using analysis::Outcome;

constexpr size_t kFindingsListed = 50;  // JSON has all

// "1 error, 2 warnings, 3 possible findings", or "no findings".
std::string tally(const Check& check) {
  std::string text;
  const auto add = [&](ptrdiff_t count, const char* noun) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += format_count(static_cast<uint64_t>(count), noun);
  };
  for (FindingSeverity severity :
       {FindingSeverity::kError, FindingSeverity::kWarning, FindingSeverity::kNote}) {
    const auto counts = [&](const Advice& advice) {
      return advice.severity() == severity && !advice.is_possible();
    };
    add(std::ranges::count_if(check.findings, counts),
        std::string(analysis::to_string(severity)).c_str());
  }
  add(std::ranges::count_if(check.findings, &Advice::is_possible), "possible finding");
  return text.empty() ? "no findings" : text;
}

Section finding_section(const Check& check, const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  std::string facts = rule_name(*advice.detector);
  if (finding.count > 1) facts += fmt::format(", {} times", format_count(finding.count));
  if (const std::string gain = gain_text(finding, 0); !gain.empty())
    facts += (finding.iteration ? ", iteration " : ", gain ") + gain;
  if (finding.start_ns != trace::kUnknownNs) facts += ", at " + format_duration(finding.start_ns);
  if (finding.confidence == Confidence::kSuspected) facts += "; suspected: evidence is missing";
  if (advice.is_possible()) facts += "; from indirect evidence, never fails a check";
  if (advice.known) facts += "; in the baseline, so it does not fail this check";
  const bool below =
      advice.severity() < check.options.fail_on && !advice.known && !advice.is_possible();
  return {.title = fmt::format("{}: {}",
                               advice.is_possible() ? analysis::to_string(finding.confidence)
                                                    : analysis::to_string(advice.severity()),
                               finding.title),
          .remarks = {finding.text},
          .footnotes = {facts + (below ? "; below --fail-on" : "")}};
}

Section open_section(const Check& check) {
  Section section{.title = "Not evaluable", .columns = {{"rule"}, {"what is missing"}}};
  for (const OpenQuestion& question : check.open)
    section.rows.push_back({rule_name(*question.detector), question.reason});
  return section;
}

Section budget_section(const Check& check) {
  Section section{.title = "Budgets",
                  .columns = {{"budget"}, {"measured", true}, {"limit", true}, {"result"}}};
  for (const BudgetResult& result : check.budgets) {
    section.rows.push_back({result.budget.text(), result.measured_text(),
                            result.budget.limit_text(), std::string(to_string(result.outcome))});
  }
  return section;
}

Section assertion_section(const Check& check) {
  Section section{.title = "Assertions",
                  .columns = {{"assertion"}, {"measured", true}, {"result"}}};
  for (const analysis::AssertionResult& result : check.assertions) {
    section.rows.push_back(
        {shown_text(result), result.measured, std::string(analysis::to_string(result.outcome))});
    if (!result.text.empty())
      section.footnotes.push_back(fmt::format("{}: {}", shown_text(result), result.text));
  }
  return section;
}

// What failed besides findings, to append.
std::string other_failures(const Check& check) {
  std::string text;
  if (check.over_budget > 0)
    text += fmt::format(", {} exceeded", format_count(check.over_budget, "budget"));
  if (check.broken > 0) {
    text += fmt::format(", {} {}", format_count(check.broken, "assertion"),
                        check.broken == 1 ? "fails" : "fail");
  }
  return text;
}

Section result_section(const Check& check) {
  const std::string_view level = analysis::to_string(check.options.fail_on);
  std::string text = fmt::format("passed: no certain finding of severity {} or above", level);
  if (check.result == CheckResult::kFailed) {
    text = fmt::format("failed: {} of severity {} or above{}",
                       format_count(check.failing, "finding"), level, other_failures(check));
  } else if (check.result == CheckResult::kNotEvaluable && check.info.unfinished) {
    text = fmt::format(
        "not evaluable: no certain finding of severity {} or above so far, but the trace is "
        "unfinished",
        level);
  } else if (check.result == CheckResult::kNotEvaluable) {
    text = fmt::format("not evaluable: no verdict from {}, required or of severity {} or above",
                       format_count(check.open.size(), "rule"), level);
    if (check.open.empty()) {
      const bool is_budget = std::ranges::find(check.budgets, BudgetOutcome::kNotMeasurable,
                                               &BudgetResult::outcome) != check.budgets.end();
      text = is_budget ? "not evaluable: a budget cannot be measured"
                       : "not evaluable: an assertion cannot be evaluated";
    }
  }
  std::vector<std::string_view> absent;
  for (const analysis::Verdict& verdict : check.verdicts) {
    if (verdict.outcome == Outcome::kNotAtThisTier) absent.push_back(verdict.detector->id);
  }
  const size_t evaluated = check.verdicts.size() - absent.size();
  Section section{.title = "Result", .remarks = {text}};
  section.footnotes.push_back(
      fmt::format("{}; {} evaluated", tally(check), format_count(evaluated, "rule")));
  if (!absent.empty())
    section.footnotes.push_back(fmt::format(
        "Not evaluated, needs data this recording does not contain: {}", fmt::join(absent, ", ")));
  return section;
}

Document check_document(const Check& check) {
  Document document{.headline = check.headline, .notices = check.notices};
  const bool show_possible = check.options.show_possible;
  size_t left_out = 0;
  for (const Advice& advice : check.findings) {
    if (advice.is_possible() && !show_possible) continue;
    if (document.sections.size() == kFindingsListed) {
      ++left_out;
    } else {
      document.sections.push_back(finding_section(check, advice));
    }
  }
  if (left_out > 0) {
    document.sections.push_back({.title = fmt::format("{} not shown: --format json lists all",
                                                      format_count(left_out, "finding"))});
  }
  if (const std::string possible = possible_line(check.findings);
      !possible.empty() && !show_possible)
    document.sections.push_back({.title = "Possible findings", .remarks = {possible}});
  if (!check.open.empty()) document.sections.push_back(open_section(check));
  if (!check.budgets.empty()) document.sections.push_back(budget_section(check));
  if (!check.assertions.empty()) document.sections.push_back(assertion_section(check));
  document.sections.push_back(result_section(check));
  return document;
}

}  // namespace

std::string write_check_text(const Check& check, const TextStyle& look) {
  return to_text(check_document(check), look);
}

std::string write_check_markdown(const Check& check, const TextStyle&) {
  return to_markdown(check_document(check));
}

}  // namespace streamscope::report
