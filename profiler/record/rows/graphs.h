// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The CUDA graphs of one process: their nodes and edges.
#pragma once

#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/recovery/earlier_rows.h"
#include "ring/record.h"

namespace streamscope::record {

/// Thread-compatible.
class Graphs {
 public:
  Graphs(RunState& run, trace::Id process) : run_(run), process_(process) {}

  void describe(const ring::GraphRecord& record);
  void describe(const ring::GraphNodeRecord& record);
  void describe(const ring::GraphEdgeRecord& record);

  /// True for an executable graph whose nodes are known, if the device need not report any of them:
  /// memory that is allocated or freed, events, and what conditions may skip.
  bool may_run_unseen(uint64_t executable) const;

  /// Takes over the rows of an earlier writer.
  void restore(EarlierRows& rows);

 private:
  struct Graph : Stored<trace::Graph> {
    bool has_nodes = false;
    bool has_seen_nodes = false;  // that the device reports
  };
  Graph& known(uint32_t native);
  trace::Id node(uint32_t graph, uint64_t native);
  void learn_handle(uint32_t native, const trace::Graph& row);
  void learn_node(uint32_t graph, trace::Small kind);

  RunState& run_;
  trace::Id process_;
  FlatMap<uint32_t, Graph> graphs_;          // by native
  FlatMap<uint64_t, uint32_t> executables_;  // handle -> native, of the newest
  FlatMap<uint64_t, trace::Id> nodes_;
  FlatMap<uint64_t, trace::Id> edges_;  // by pair_key() of the rows of their ends
};

}  // namespace streamscope::record
