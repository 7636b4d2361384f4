// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace judged by all detectors, and the formats in which the judgment is told: `streamscope
// check`, the gate of a build.
//
// The gate abstains rather than guesses. Findings that are certain fail it; one that missing
// evidence may have brought about, and a detector that cannot vouch for "clean", make it not
// evaluable. To add a format: a file with its function, a line in check_formats.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "budget.h"
#include "report/sections/document.h"

namespace streamscope::report {

struct CheckOptions {
  analysis::FindingSeverity fail_on = analysis::FindingSeverity::kError;
  /// Detectors that must be able to judge the trace, also those that need evidence it never
  /// promised.
  std::vector<const analysis::Detector*> required;
  /// Findings of an earlier trace, how many by fingerprint; they do not fail the check again.
  std::map<std::string, uint64_t> baseline;
  std::vector<Budget> budgets;
  /// Lists what is only possible, instead of one line for all of it. JSON and SARIF always do.
  bool show_possible = false;

  bool requires_verdict(const analysis::Detector& detector) const;
};

enum class CheckResult { kPassed, kFailed, kNotEvaluable };
std::string_view to_string(CheckResult result);  // "passed", "failed", "not-evaluable"

/// A detector that leaves the result open, and why.
struct OpenQuestion {
  const analysis::Detector* detector = nullptr;
  std::string reason;
};

struct Check {
  Info info;
  CheckOptions options;
  std::vector<analysis::Verdict> verdicts;  ///< of all detectors; no findings
  std::vector<Advice> findings;             ///< most severe first, possible ones last
  std::vector<OpenQuestion> open;           ///< what makes it not evaluable
  uint64_t failing = 0;                     ///< findings that fail it
  std::vector<BudgetResult> budgets;
  uint64_t over_budget = 0;  ///< budgets that fail it
  CheckResult result = CheckResult::kPassed;
};

/// kFailed if a finding of at least `fail_on` is certain; else kNotEvaluable if a detector of at
/// least that severity, or a required one, cannot be sure, or found something that is only
/// suspected, or if a budget cannot be measured; else kPassed. What is merely possible, or known
/// from the baseline, never counts. A budget that is exceeded fails it too. An unfinished trace
/// never passes, and no budget is measured on it.
Check check(const trace::Trace& trace, const CheckOptions& options);

/// What is wrong and where in the program, as a number that stays the same from run to run and when
/// lines move: rule, names of ops, streams and events, function or file. 16 hexadecimal digits.
std::string fingerprint(const trace::Trace& trace, const Advice& advice);

/// The findings of a check as a baseline for later ones, without those that are only possible, and
/// such a file read. Throws Error, naming `file`, if it is none.
std::string write_baseline(const trace::Trace& trace, const Check& check);
std::map<std::string, uint64_t> read_baseline(const std::filesystem::path& file);

struct CheckFormat {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  std::string (*write)(const trace::Trace& trace, const Check& check, const TextStyle& look);
};

std::span<const CheckFormat> check_formats();
/// nullptr if there is no such format.
const CheckFormat* find_check_format(std::string_view name);

std::string write_check_text(const trace::Trace& trace, const Check& check, const TextStyle& look);
/// Markdown, for the summary of a job or a comment on a merge request.
std::string write_check_markdown(const trace::Trace& trace, const Check& check,
                                 const TextStyle& look);
/// Headings, remarks and tables of a check.
Document check_document(const trace::Trace& trace, const Check& check);
/// JUnit XML: a test case per rule and per budget.
std::string write_check_junit(const trace::Trace& trace, const Check& check, const TextStyle& look);
/// Workflow commands of GitHub, which become annotations.
std::string write_check_github(const trace::Trace& trace, const Check& check,
                               const TextStyle& look);
std::string write_check_json(const trace::Trace& trace, const Check& check, const TextStyle& look);
/// SARIF 2.1.0, for code scanning. Without folders, command lines, hosts and users.
std::string write_check_sarif(const trace::Trace& trace, const Check& check, const TextStyle& look);

}  // namespace streamscope::report
