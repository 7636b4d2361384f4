// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two traces of a program compared by structure: what runs where and what waits for what, not when.
//
// What is held against what says compared_work.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyses.h"
#include "compared_work.h"

namespace streamscope::analysis {

/// Edges of one kind between work of two labels on streams of two names.
struct EdgeChange {
  std::string from, to;  ///< "gemm on math"
  trace::EdgeKind kind = trace::kEventEdge;
  uint64_t base_count = 0, new_count = 0;
};

struct TraceDiff {
  Ns base_ns = 0, new_ns = 0;                    ///< from the first start to the last end of any op
  Ns base_path_ns = 0, new_path_ns = 0;          ///< critical paths
  std::vector<WorkChange> work;                  ///< what changed, dearest first
  std::vector<EdgeChange> edges;                 ///< what changed, most changed first
  std::map<WaitCause, std::pair<Ns, Ns>> waits;  ///< before and after
  std::string likely_cause;                      ///< one sentence; "" if nothing got slower

  double slowdown() const {
    return base_ns == 0 ? 0 : static_cast<double>(new_ns - base_ns) / static_cast<double>(base_ns);
  }
};

TraceDiff diff(Analyses& base, Analyses& now);

/// From the first start to the last end of any op; 0 if nothing is timed.
Ns makespan_ns(const Trace& trace);

}  // namespace streamscope::analysis
