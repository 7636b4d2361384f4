// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The CUDA graphs of one process: their nodes and edges.
#pragma once

#include <vector>

#include "flat_map.h"
#include "ring/record.h"
#include "run_state.h"

namespace streamscope::record {

/// Thread-compatible.
class Graphs {
 public:
  Graphs(RunState& run, trace::Id process) : run_(run), process_(process) {}

  void describe(const ring::GraphRecord& record);
  void describe(const ring::GraphNodeRecord& record);
  void describe(const ring::GraphEdgeRecord& record);

  /// Take over rows of an earlier writer.
  void restore(trace::Id id, const trace::Graph& row);
  void restore_node(uint64_t native, trace::Id row) { nodes_.insert_or_assign(native, row); }

 private:
  struct Graph {
    trace::Graph row;
    trace::Id id = trace::kNoId;
  };
  Graph& known(uint32_t native);
  trace::Id node(uint32_t graph, uint64_t native);

  RunState& run_;
  trace::Id process_;
  FlatMap<uint32_t, uint32_t> index_;  // native -> index
  std::vector<Graph> graphs_;
  FlatMap<uint64_t, trace::Id> nodes_;
};

}  // namespace streamscope::record
