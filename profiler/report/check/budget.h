// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Limits for a run, read from a small file, for `streamscope check --budget`.
//
//   # one per line; units of time are ns, us, ms or s
//   critical-path <= 12 ms
//   wait event_wait <= 3 ms
//   overlap >= 40 %
//   waits-per-iteration <= 8
//   overhead <= 5 %
//   assert may_overlap("*AllGather*", "gemm*")
//
// A job of many ranks has limits of its own; docs/ci.md lists all of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/assertions/assertion.h"
#include "job/job.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::analysis {
class Analyses;
}

namespace streamscope::report {

struct Info;

/// What a check examines: one trace, or the folder of a run.
enum class CheckSubject { kTrace, kJob };

struct Budget {
  enum What {
    kIteration,
    kCriticalPath,
    kWait,
    kOverlap,
    kWaitsPerIteration,
    kOverhead,
    kWaiting,              ///< for other ranks: share of an iteration, mean of all ranks
    kHiddenCommunication,  ///< share of communication, of the worst rank
    kLargestDelay,         ///< what it costs: share of an iteration
  } what = kCriticalPath;
  streamscope::WaitCause cause = streamscope::WaitCause::kUnknown;  ///< kWait
  std::string iteration;  ///< kWaitsPerIteration: NVTX range that is one iteration
  bool at_least = false;
  double limit = 0;  ///< ns, share of 1, or a number

  std::string text() const;        ///< "wait event_wait"
  std::string limit_text() const;  ///< "at most 3.00 ms"
  std::string value_text(double value) const;
};

/// What a budget file contains.
struct BudgetFile {
  std::vector<Budget> budgets;
  std::vector<analysis::Assertion> assertions;
};
/// Throws Error that names file and line.
BudgetFile read_budgets(const std::filesystem::path& file, const std::string& iteration,
                        CheckSubject subject = CheckSubject::kTrace);
/// The same for a text; error messages name `file`.
BudgetFile parse_budgets(std::string_view text, const std::filesystem::path& file,
                         const std::string& iteration, CheckSubject subject = CheckSubject::kTrace);

enum class BudgetOutcome { kMet, kExceeded, kNotMeasurable };
std::string_view to_string(BudgetOutcome outcome);  // "met", "exceeded", "not measurable"

struct BudgetResult {
  Budget budget;
  std::optional<double> measured;  ///< nothing if the trace lacks the data
  BudgetOutcome outcome = BudgetOutcome::kNotMeasurable;

  std::string measured_text() const { return measured ? budget.value_text(*measured) : "unknown"; }
};

std::vector<BudgetResult> measure(analysis::Analyses& analyses, const Info& info,
                                  const std::vector<Budget>& budgets);
std::vector<BudgetResult> measure(const job::Job& job, bool unfinished,
                                  const std::vector<Budget>& budgets);

}  // namespace streamscope::report
