// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs all detectors on a trace or a job, and the output formats of the result: `streamscope
// check`, a gate for builds.
//
// The check never guesses. Certain findings fail it. A finding that may be caused by missing
// evidence, or a detector that cannot confirm "clean", makes it not evaluable. To add a format: add
// a file with its function and a line in check_formats.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/assertions/evaluate.h"
#include "analysis/iterations/iterations.h"
#include "budget.h"
#include "report/sections/document.h"
#include "report/sections/job_document.h"
#include "report/sections/summary.h"

namespace streamscope::report {

struct CheckOptions {
  analysis::FindingSeverity fail_on = analysis::FindingSeverity::kError;
  /// Detectors that must reach a verdict, even if this kind of recording never contains the
  /// evidence.
  std::vector<const analysis::Detector*> required;
  /// Findings of an earlier trace, as counts by fingerprint; they do not fail the check again.
  std::map<std::string, uint64_t> baseline;
  std::vector<Budget> budgets;
  std::vector<analysis::Assertion> assertions;
  analysis::IterationRequest iteration;
  /// Lists possible findings one by one instead of in one line. JSON and SARIF always list them.
  bool show_possible = false;
};

enum class CheckResult { kPassed, kFailed, kNotEvaluable };
std::string_view to_string(CheckResult result);  // "passed", "failed", "not-evaluable"

/// A detector without a clear verdict, and why.
struct OpenQuestion {
  const analysis::Detector* detector = nullptr;
  std::string reason;
};

struct Check {
  std::string name;  ///< of the file or folder
  std::string headline;
  std::vector<Notice> notices;
  Info info;
  CheckOptions options;
  std::vector<analysis::Verdict> verdicts;  ///< of all detectors, by number, without findings
  std::vector<Advice> findings;             ///< most severe first, possible ones last
  std::vector<OpenQuestion> open;           ///< what makes it not evaluable
  uint64_t failing = 0;                     ///< findings that fail it
  std::vector<BudgetResult> budgets;
  uint64_t over_budget = 0;  ///< budgets that fail it
  std::vector<analysis::AssertionResult> assertions;
  uint64_t broken = 0;  ///< assertions that fail it
  CheckResult result = CheckResult::kPassed;
};

/// Runs all detectors on a trace.
/// kFailed if a certain finding has at least severity `fail_on`, if a budget is exceeded, or if an
/// assertion fails. Else kNotEvaluable if a detector of at least that severity, or a required one,
/// cannot be sure or has a suspected finding, if a budget cannot be measured, or if an assertion
/// cannot be evaluated. Else kPassed. Possible findings, and those in the baseline, never count. An
/// unfinished trace never passes, and no budget or assertion is evaluated on it.
Check check(const trace::Trace& trace, const CheckOptions& options);

/// What is wrong with a job, in the form of detectors; check_job() evaluates them.
std::span<const analysis::Detector> job_detectors();
/// The same verdict on a job. `assertions` are evaluated on each of its traces; see join().
Check check_job(const JobReport& report, const CheckOptions& options,
                std::vector<analysis::AssertionResult> assertions = {});
/// Adds how assertions were answered on the trace of a rank to the answers of the ranks before: one
/// that fails on a rank fails, one that holds on all holds.
void join(std::vector<analysis::AssertionResult>& answers, int32_t rank,
          std::vector<analysis::AssertionResult> of_rank);

/// Writes the findings of a check, except possible ones, as a baseline for later checks, and reads
/// such a file. Throws Error, naming `file`, if it is not a baseline.
std::string write_baseline(const Check& check);
std::map<std::string, uint64_t> read_baseline(const std::filesystem::path& file);

/// The text of an assertion, safe for display.
std::string shown_text(const analysis::AssertionResult& result);

using WriteCheck = std::string(const Check& check, const TextStyle& look);

struct CheckFormat {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  WriteCheck* write;
};

std::span<const CheckFormat> check_formats();

WriteCheck write_check_text, write_check_json;
/// Markdown, for a job summary or a comment on a merge request.
WriteCheck write_check_markdown;
/// JUnit XML: a test case per rule, per budget and per assertion.
WriteCheck write_check_junit;
/// GitHub workflow commands, which become annotations.
WriteCheck write_check_github;
/// SARIF 2.1.0, for code scanning. Contains no folders, command lines, hosts or users.
WriteCheck write_check_sarif;

}  // namespace streamscope::report
