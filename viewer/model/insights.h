// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the analyses found in a trace, as the panels show it: findings, the critical path, pools,
// and who waits for whom in a hang. Computed by profiler/analysis on the thread that loads the
// model; for a very large trace, read from the tables derived when it was recorded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/detector.h"
#include "analysis/hang/wait_graph.h"
#include "analysis/usage/pool_holders.h"
#include "item.h"
#include "report/sections/summary.h"
#include "timeline/timeline_layout.h"
#include "trace/write/hang_report.h"

namespace streamscope::viewer {

/// A finding and its location.
struct FindingLine {
  std::string_view id() const { return advice.detector->id; }          ///< "over-broad-sync"
  std::string_view number() const { return advice.detector->number; }  ///< "SS203"
  const std::string& title() const { return advice.finding.title; }
  analysis::FindingSeverity severity() const { return advice.severity(); }
  bool is_possible() const { return advice.is_possible(); }
  trace::Ns gain_ns() const { return advice.finding.gain_ns.value_or(trace::kUnknownNs); }
  /// When it happened first; `begin_ns` is kUnknownNs if that is unknown.
  TimeRange time() const;

  report::Advice advice;
  Item subject, other;  ///< what to select; nothing if it concerns the whole trace
};

/// A detector that found nothing or could not be evaluated.
struct QuietDetector {
  std::string id, number, title;
  analysis::Outcome outcome = analysis::Outcome::kClean;
  std::string reason;
};

using analysis::WaitGraph;

/// What to select for a node; nothing for a thread that waits for a lock.
Item item_of(const WaitGraph::Node& node);

struct Insights {
  /// In the order of a report: errors first, possible ones last; within these, the most costly
  /// first.
  std::vector<FindingLine> findings;
  /// The number of findings that are more than possible; they come first.
  size_t firm_findings() const;
  std::vector<QuietDetector> quiet;
  std::vector<analysis::PathStep> path;
  std::vector<bool> on_path;  ///< by op
  bool derived = false;       ///< read from the trace, which is too large to analyze here
  trace::Ns path_ns = 0;
  std::vector<analysis::PoolUsage> pools;
  WaitGraph waits;
  std::vector<trace::HangReport> hangs;  ///< of the processes that hung
};

/// With more ops than this, the derived tables of the trace are used if it has them.
inline constexpr size_t kDeriveUpTo = 2'000'000;

/// `derived`: findings and path are read from the derived tables of the trace.
Insights gain_insights(analysis::Analyses& analyses, bool derived);

/// Whether a call of a trace never returned.
inline bool has_open_calls(const trace::Trace& trace) {
  const auto open = [](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.start_ns[i] != trace::kUnknownNs && table.end_ns[i] == trace::kUnknownNs)
        return true;
    }
    return false;
  };
  return open(trace.api_call) || open(trace.host_sync);
}

}  // namespace streamscope::viewer
