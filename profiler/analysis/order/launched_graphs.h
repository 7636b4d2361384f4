// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Launches of CUDA graphs that are recorded as one op, and what is in them.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// Immutable; keeps a reference to the trace.
class LaunchedGraphs {
 public:
  explicit LaunchedGraphs(const trace::Trace& trace);

  bool empty() const { return nodes_.empty(); }
  /// The executable graph of an op that is a whole launch; kNoId: it is none, or not known.
  trace::Id graph(trace::Id op) const;
  /// Rows of graph_node.
  std::span<const trace::Id> nodes(trace::Id graph) const;

 private:
  const trace::Trace& trace_;
  std::map<trace::Id, std::vector<trace::Id>> nodes_;
  // By process and handle, in the order of their making.
  std::map<std::pair<trace::Id, trace::Int>, std::vector<trace::Id>> executables_;
};

}  // namespace streamscope::analysis
