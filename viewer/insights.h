// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the analyses found in a trace, as the panels show it: findings, the critical path, pools,
// and who waits for whom in a hang. Computed by profiler/analysis on the thread that loads the
// document; of a very large trace what was derived when it was recorded is taken.
#pragma once

#include <string>
#include <vector>

#include "analysis/detector.h"
#include "analysis/pool_usage.h"
#include "item.h"

namespace streamscope::viewer {

/// A finding and where it is.
struct FindingLine {
  std::string id;      ///< "over-broad-sync"
  std::string number;  ///< "SS203"
  std::string title, text;
  analysis::FindingSeverity severity = analysis::FindingSeverity::kNote;
  analysis::Confidence confidence = analysis::Confidence::kCertain;
  uint64_t count = 1;
  trace::Ns gain_ns = trace::kUnknownNs;
  trace::Ns start_ns = trace::kUnknownNs, end_ns = trace::kUnknownNs;
  Item subject, other;  ///< what to select; nothing if it is about the whole trace
};

/// A detector that found nothing, or could not tell.
struct QuietDetector {
  std::string id, number, title;
  analysis::Outcome outcome = analysis::Outcome::kClean;
  std::string reason;
};

/// The wait-for graph of what was pending at the end: an arrow leads from who waits to what it
/// waits for.
struct WaitGraph {
  struct Node {
    Item item;
    Id stream = trace::kNoId, thread = trace::kNoId;
    bool stuck = false, in_cycle = false, blocked = false;
    trace::Ns held_ns = 0;  ///< of blocked calls
  };
  struct Link {
    uint32_t from = 0, to = 0;
    analysis::WaitFor::Why why = analysis::WaitFor::Why::kStreamOrder;
    bool in_cycle = false;
  };
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<std::vector<uint32_t>>
      cycles;           ///< nodes; each waits for the next, the last for the first
  size_t left_out = 0;  ///< nodes beyond what a picture holds
};
std::string_view to_string(analysis::WaitFor::Why why);  ///< "stream order", "event", ...

struct Insights {
  std::vector<FindingLine> findings;  ///< errors first, within these the dearest
  std::vector<QuietDetector> quiet;
  std::vector<analysis::PathStep> path;
  std::vector<bool> on_path;  ///< by op
  trace::Ns path_ns = 0;
  std::vector<analysis::PoolUsage> pools;
  WaitGraph waits;
};

/// Beyond so many ops the derived tables of the trace are taken, if it has them.
inline constexpr size_t kDeriveUpTo = 2'000'000;

Insights gain_insights(analysis::Analyses& analyses);

}  // namespace streamscope::viewer
