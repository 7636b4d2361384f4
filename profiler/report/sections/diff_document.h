// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of two traces as a document and as JSON: `streamscope diff`.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analysis/compare/diff.h"
#include "document.h"
#include "report/check/check.h"

namespace streamscope::report {

/// The rest of an unfinished run also takes time: a new run that is already too slow stays too
/// slow, any other may become too slow.
CheckResult comparison_result(bool regressed, bool base_unfinished, bool new_unfinished);
/// "no-regression", "regression", "not-evaluable"
std::string_view comparison_name(CheckResult result);
/// "not evaluable: the new trace is unfinished"
std::string unfinished_sentence(bool of_base);
/// "41.2 ms instead of 49.5 ms (-16.8 %)"
std::string instead(trace::Ns now, trace::Ns before);

/// True if a value exceeds those of all runs of the base by more than this share.
template <class Runs, class ValueOf = std::identity>
bool exceeds_all(const Runs& runs, double max_slowdown, auto now, ValueOf value_of = {}) {
  return std::ranges::all_of(runs, [&](const auto& run) {
    return static_cast<double>(now) >
           static_cast<double>(std::invoke(value_of, run)) * (1 + max_slowdown);
  });
}

/// A run of the base: its duration and, if a repeating part is compared, its repetitions.
struct BaseRun {
  trace::Ns ns = 0;
  analysis::Repetitions steady;
};

struct DiffVerdict {
  analysis::TraceDiff diff;
  std::vector<BaseRun> base_runs;  ///< the base and its further runs
  double max_slowdown = 0;         ///< tolerated, as a share of the base
  bool slower = false;             ///< a repetition, or the whole run if none was found
  bool by_slow_host = false;       ///< a repetition, but no more than a host that was slower
  bool more_often = false;         ///< the same repetition occurs more often
  bool base_unfinished = false;    ///< of any of these runs
  bool new_unfinished = false;
  bool regressed() const { return slower || more_often; }
  CheckResult result() const {
    return comparison_result(regressed(), base_unfinished, new_unfinished || by_slow_host);
  }
};

/// A regression exceeds all runs of the base by more than `max_slowdown`: in the time of a
/// repetition; in the number of repetitions, if they are a sequence of work, not an NVTX range; or
/// in the time of the whole run, if nothing repeats in all of them. A repetition may exceed them by
/// as much as the host was slower at everything, if that is what grew: then the machine is the
/// reason, and what the program does is not known.
DiffVerdict judge(analysis::TraceDiff diff, std::vector<BaseRun> base_runs, double max_slowdown);

Document diff_document(const DiffVerdict& verdict);
std::string diff_json(const DiffVerdict& verdict);

}  // namespace streamscope::report
