// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "check.h"
#include "report/formats/markup.h"
#include "trace/loss.h"

namespace streamscope::report {
namespace {

// GitHub shows ten annotations per kind and step; the rest is in the log.
constexpr size_t kMostAnnotations = 50;

// Command texts must not contain line ends; property values, colons or commas.
std::string in_text(std::string_view text) {
  return replaced(analysis::printable(text), {{'%', "%25"}});
}
std::string in_property(std::string_view text) {
  return replaced(in_text(text), {{':', "%3A"}, {',', "%2C"}});
}

std::string place_of(const analysis::Location& place) {
  const auto source = analysis::source_line(place.call_site);
  if (!source) return "";
  return fmt::format("file={},line={},", in_property(source->file), source->line);
}

}  // namespace

std::string write_check_github(const Check& check, const TextStyle&) {
  std::string text;
  size_t count = 0;
  for (const Advice& advice : check.findings) {
    if (advice.known || (advice.is_possible() && !check.options.show_possible)) continue;
    if (++count > kMostAnnotations) break;
    const analysis::Finding& finding = advice.finding;
    const bool is_notice = finding.confidence != analysis::Confidence::kCertain ||
                           advice.detector->severity == analysis::FindingSeverity::kNote;
    const std::string_view command =
        is_notice ? "notice" : analysis::to_string(advice.detector->severity);
    text += fmt::format("::{} {}title={}::{}\n", command, place_of(finding.place),
                        in_property(rule_name(*advice.detector)),
                        in_text(finding.title + ". " + finding.text));
  }
  const std::string possible = possible_line(check.findings);
  if (!possible.empty() && !check.options.show_possible)
    text += fmt::format("::notice title=streamscope check::{}\n", in_text(possible));
  for (const BudgetResult& result : check.budgets) {
    if (result.outcome == BudgetOutcome::kMet) continue;
    text += fmt::format("::{} title=budget {}::{}, measured {}\n",
                        result.outcome == BudgetOutcome::kExceeded ? "error" : "warning",
                        in_property(result.budget.text()), in_text(result.budget.limit_text()),
                        in_text(result.measured_text()));
  }
  for (const analysis::AssertionResult& result : check.assertions) {
    if (result.outcome == analysis::AssertionOutcome::kHolds) continue;
    const bool fails = result.outcome == analysis::AssertionOutcome::kFails;
    text += fmt::format(
        "::{} {}title=assert {}::{}{}\n", fails ? "error" : "warning", place_of(result.place),
        in_property(shown_text(result)),
        fails ? in_text(result.measured) + ": " : "not evaluable: ", in_text(result.text));
  }
  if (check.info.unfinished)
    text += fmt::format("::warning title=unfinished trace::{} {}\n", trace::kUnfinished,
                        trace::kAskAgain);
  for (const OpenQuestion& question : check.open) {
    text += fmt::format("::warning title={} not evaluable::{}\n", question.detector->id,
                        in_text(question.reason));
  }
  // The output is never empty.
  return text + fmt::format("::notice title=streamscope check::{}\n", to_string(check.result));
}

}  // namespace streamscope::report
