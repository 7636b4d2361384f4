// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which work of a process ran at any time.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/stream_owners.h"

namespace streamscope::analysis {

/// Of ops that ran at the same time the one that began first counts until it ends, then the next.
/// Immutable, thread-safe.
class RunningWork {
 public:
  RunningWork(Analyses& analyses, Id process) {
    const Trace& trace = analyses.trace();
    const StreamOwners owners(trace);
    for (const Id op : analyses.by_start()) {
      if (owners.of_op(op) != process) continue;
      const Ns start = runs_.empty() ? trace.op.start_ns[op]
                                     : std::max(trace.op.start_ns[op], runs_.back().end_ns);
      if (start < trace.op.end_ns[op]) runs_.push_back({start, trace.op.end_ns[op], op});
    }
  }

  /// Calls visit(op, duration) for what ran in [from, to). O(log ops + visited).
  template <class Visit>
  void each(Ns from, Ns to, Visit visit) const {
    auto run = std::ranges::upper_bound(runs_, from, {}, &Run::end_ns);
    for (; run != runs_.end() && run->start_ns < to; ++run)
      visit(run->op, std::min(run->end_ns, to) - std::max(run->start_ns, from));
  }

 private:
  struct Run {
    Ns start_ns, end_ns;
    Id op;
  };
  std::vector<Run> runs_;  // by time, apart
};

}  // namespace streamscope::analysis
