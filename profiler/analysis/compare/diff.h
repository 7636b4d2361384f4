// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares two traces of a program by structure: what runs where and what waits for what, not when.
//
// If both have a repeating part (steady_part.h), that part is compared: work, dependencies and
// waits of the same number of repetitions. Otherwise the whole runs, including start-up.
// compared_work.h matches the work.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyses.h"
#include "compared_work.h"
#include "iteration_diff.h"
#include "steady_part.h"

namespace streamscope::analysis {

/// Edges of one kind between work with two labels on streams with two names.
struct EdgeChange {
  std::string from, to;  ///< "gemm on math"
  trace::EdgeKind kind = trace::kEventEdge;
  uint64_t base_count = 0, new_count = 0;
};

struct TraceDiff {
  Ns base_ns = 0, new_ns = 0;            ///< from the first start to the last end of any op
  Ns base_path_ns = 0, new_path_ns = 0;  ///< critical paths
  std::optional<SteadyPart> steady;      ///< what was compared; if empty, the whole runs
  IterationDiff iterations;
  std::vector<WorkChange> work;                  ///< what changed, most costly first
  std::vector<EdgeChange> edges;                 ///< what changed, most changed first
  std::map<WaitCause, std::pair<Ns, Ns>> waits;  ///< before and after
  std::string likely_cause;                      ///< one sentence; "" if nothing got slower

  /// Slowdown of what is compared: a repetition, or the whole run.
  double slowdown() const {
    return steady ? growth(steady->base.median_ns, steady->now.median_ns) : run_slowdown();
  }
  double run_slowdown() const { return growth(base_ns, new_ns); }
  static double growth(Ns before, Ns after) {
    return before == 0 ? 0 : static_cast<double>(after - before) / static_cast<double>(before);
  }
};

/// `range` names the NVTX range that is one repetition; "" detects it. Iterations are looked for as
/// both analyses were asked to.
TraceDiff diff(Analyses& base, Analyses& now, const std::string& range = "");

/// From the first start to the last end of any op; 0 if nothing is timed.
Ns makespan_ns(const Trace& trace);

}  // namespace streamscope::analysis
