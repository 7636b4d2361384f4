// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of two runs of a job of many ranks as a document and as JSON: `streamscope diff`
// of two folders.
#pragma once

#include <string>
#include <vector>

#include "diff_document.h"
#include "job_document.h"

namespace streamscope::report {

/// A delay of one run or of both. Two are the same if they have the same cause at the same place,
/// on whatever rank.
struct DelayChange {
  std::string text;    ///< as a report says it; of the new run if it is there
  double base_ns = 0;  ///< cost per iteration; 0: not in the base
  double new_ns = 0;   ///< 0: not in the new run

  double growth_ns() const { return new_ns - base_ns; }
  const char* verdict() const;  ///< "new", "gone", "costs more", "costs less"
};

/// A rank of both runs.
struct RankChange {
  /// Means per iteration.
  struct Side {
    double makes_wait_ns = 0;  ///< each other rank, because of work of its own
    double waits_ns = 0;
    double hidden_share = 1;  ///< of its communication
  };
  int32_t rank = -1;
  Side base, now;

  double makes_wait_change_ns() const;  ///< not negative
};

struct JobDiff {
  std::string base_headline, new_headline;
  std::vector<Notice> notices;
  analysis::IterationDiff iterations;  ///< durations alone
  double base_waiting_share = 0, new_waiting_share = 0;
  std::vector<DelayChange> delays;  ///< the largest change first
  std::vector<RankChange> ranks;    ///< those that changed, by how long they make others wait
  std::vector<int32_t> base_only, new_only;  ///< ranks
  std::vector<trace::Ns> base_runs_ns;       ///< medians of the base and its further runs
  double max_slowdown = 0;                   ///< tolerated, as a share of the base
  bool slower = false;                       ///< than each of these by more than that
  bool base_unfinished = false;              ///< a trace of any of these runs
  bool new_unfinished = false;

  CheckResult result() const { return comparison_result(slower, base_unfinished, new_unfinished); }
};

/// `further` are more runs of the base. Throws Error if a run has no iterations.
JobDiff diff(const JobReport& base, const JobReport& now, const std::vector<JobReport>& further,
             double max_slowdown);

Document job_diff_document(const JobDiff& diff);
std::string job_diff_json(const JobDiff& diff);

}  // namespace streamscope::report
