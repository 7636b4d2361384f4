// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of two traces for people and for programs: `streamscope diff`.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare/diff.h"
#include "document.h"
#include "report/check/check.h"

namespace streamscope::report {

/// A run of the base: how long all of it took and, where a repeated part is compared, a repetition.
struct BaseRun {
  trace::Ns ns = 0;
  analysis::Repetitions steady;
};

struct DiffVerdict {
  analysis::TraceDiff diff;
  std::vector<BaseRun> base_runs;  ///< the base and its further runs
  double max_slowdown = 0;         ///< share of the base that is tolerated
  bool slower = false;             ///< a repetition, or the whole run where none was found
  bool more_often = false;         ///< the same repetition comes more often
  bool base_unfinished = false;    ///< of any of these runs
  bool new_unfinished = false;
  bool regressed() const { return slower || more_often; }
  /// The rest of an unfinished run takes time too: a new one that is too slow already stays so, one
  /// that is not may become so.
  CheckResult result() const {
    if (base_unfinished) return CheckResult::kNotEvaluable;
    if (regressed()) return CheckResult::kFailed;
    return new_unfinished ? CheckResult::kNotEvaluable : CheckResult::kPassed;
  }
};

/// A regression exceeds all runs of the base by more than `max_slowdown`: in the time of a
/// repetition; in the number of repetitions, where a sequence of work is one and not a range that
/// the program marks; in the time of the whole run, where nothing repeats in all of them.
DiffVerdict judge(analysis::TraceDiff diff, std::vector<BaseRun> base_runs, double max_slowdown);

Document diff_document(const DiffVerdict& verdict);
std::string diff_json(const DiffVerdict& verdict);

}  // namespace streamscope::report
