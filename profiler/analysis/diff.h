// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two traces of a program compared by structure: what runs where and what waits for what, not when.
//
// Numbers of streams and events differ from run to run; work is known by its label and the lasting
// name of its stream. A change of duration counts only if it exceeds the spread of what is
// compared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyses.h"

namespace streamscope::analysis {

/// Work of one label on streams of one name.
struct WorkChange {
  std::string label, stream;
  uint64_t base_count = 0, new_count = 0;
  Ns base_total_ns = 0, new_total_ns = 0;
  Ns base_median_ns = 0, new_median_ns = 0;
  bool slower = false, faster = false;  ///< beyond the spread of both

  Ns cost_ns() const { return new_total_ns - base_total_ns; }
};

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

/// What stays of a stream's identity from run to run: its name, else its kind.
std::string lasting_stream_name(const Trace& trace, Id stream);

}  // namespace streamscope::analysis
