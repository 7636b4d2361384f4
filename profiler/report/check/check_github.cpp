// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "check.h"
#include "trace/loss.h"

namespace streamscope::report {
namespace {

// GitHub shows ten annotations per kind and step; the rest is in the log.
constexpr size_t kMostAnnotations = 50;

// Command texts must not contain line ends; property values, colons or commas.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : analysis::printable(text)) {
    if (c == '%') {
      result += "%25";
    } else if (property && (c == ':' || c == ',')) {
      result += c == ':' ? "%3A" : "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

std::string place_of(const analysis::Location& place) {
  const auto source = analysis::source_line(place.call_site);
  if (!source) return "";
  return fmt::format("file={},line={},", escaped(source->file, true), source->line);
}

}  // namespace

std::string write_check_github(const trace::Trace&, const Check& check, const TextStyle&) {
  std::string text;
  size_t count = 0;
  for (const Advice& advice : check.findings) {
    if (advice.known || (advice.is_possible() && !check.options.show_possible)) continue;
    if (++count > kMostAnnotations) break;
    const analysis::Finding& finding = advice.finding;
    const bool certain = finding.confidence == analysis::Confidence::kCertain;
    const char* command = !certain ? "notice"
                          : advice.detector->severity == analysis::FindingSeverity::kError ? "error"
                          : advice.detector->severity == analysis::FindingSeverity::kWarning
                              ? "warning"
                              : "notice";
    text += fmt::format(
        "::{} {}title={}::{}\n", command, place_of(finding.place),
        escaped(fmt::format("{} {}", advice.detector->number, advice.detector->id), true),
        escaped(finding.title + ". " + finding.text, false));
  }
  const std::string possible = possible_line(check.findings);
  if (!possible.empty() && !check.options.show_possible)
    text += fmt::format("::notice title=streamscope check::{}\n", escaped(possible, false));
  for (const BudgetResult& result : check.budgets) {
    if (result.outcome == BudgetOutcome::kMet) continue;
    text +=
        fmt::format("::{} title=budget {}::{}, measured {}\n",
                    result.outcome == BudgetOutcome::kExceeded ? "error" : "warning",
                    escaped(result.budget.text(), true), escaped(result.budget.limit_text(), false),
                    escaped(result.measured_text(), false));
  }
  if (check.info.unfinished)
    text += fmt::format("::warning title=unfinished trace::{} {}\n", trace::kUnfinished,
                        trace::kAskAgain);
  for (const OpenQuestion& question : check.open) {
    text += fmt::format("::warning title={} not evaluable::{}\n", question.detector->id,
                        escaped(question.reason, false));
  }
  // The output is never empty.
  return text + fmt::format("::notice title=streamscope check::{}\n", to_string(check.result));
}

}  // namespace streamscope::report
