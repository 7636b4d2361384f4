// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace judged by all detectors, and the formats in which the judgement is told: `streamscope
// check`, the gate of a build.
//
// The gate abstains rather than guesses. Findings that are certain fail it; one that missing
// evidence may have brought about, and a detector that cannot vouch for "clean", make it not
// evaluable. To add a format: a file with its function, a line in check_formats.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document.h"

namespace streamscope::report {

struct CheckOptions {
  analysis::FindingSeverity fail_on = analysis::FindingSeverity::kError;
  /// Detectors that must be able to judge the trace, also those that need evidence it never
  /// promised.
  std::vector<const analysis::Detector*> required;

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
  std::vector<analysis::Verdict> verdicts;  ///< of all detectors but planned ones; no findings
  std::vector<Advice> findings;             ///< gravest first
  std::vector<OpenQuestion> open;           ///< what makes it not evaluable
  uint64_t failing = 0;                     ///< findings that fail it
  CheckResult result = CheckResult::kPassed;
};

/// kFailed if a finding of at least `fail_on` is certain; else kNotEvaluable if a detector of at
/// least that severity, or a required one, cannot be sure, or found something that is only
/// suspected; else kPassed. What is merely possible never counts.
Check check(const trace::Trace& trace, const CheckOptions& options);

/// What is wrong and where in the program, as a number that stays the same from run to run and when
/// lines move: rule, names of ops, streams and events, function or file. 16 hexadecimal digits.
std::string fingerprint(const trace::Trace& trace, const Advice& advice);

struct CheckFormat {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  std::string (*write)(const trace::Trace& trace, const Check& check, const Look& look);
};

std::span<const CheckFormat> check_formats();
/// nullptr if there is no such format.
const CheckFormat* find_check_format(std::string_view name);

std::string write_check_text(const trace::Trace& trace, const Check& check, const Look& look);
std::string write_check_json(const trace::Trace& trace, const Check& check, const Look& look);
/// SARIF 2.1.0, for code scanning. Without folders, command lines, hosts and users.
std::string write_check_sarif(const trace::Trace& trace, const Check& check, const Look& look);

}  // namespace streamscope::report
