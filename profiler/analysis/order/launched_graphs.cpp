// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "launched_graphs.h"

namespace streamscope::analysis {

using trace::Id;
using trace::kNoId;

LaunchedGraphs::LaunchedGraphs(const trace::Trace& trace) : trace_(trace) {
  for (Id node = 0; node < trace.graph_node.size(); ++node) {
    const Id graph = trace.graph_node.graph_id[node];
    if (graph < trace.graph.size()) nodes_[graph].push_back(node);
  }
  for (Id graph = 0; graph < trace.graph.size(); ++graph) {
    if (trace.graph.executable[graph] == 1)
      executables_[{trace.graph.process_id[graph], trace.graph.handle[graph]}].push_back(graph);
  }
}

Id LaunchedGraphs::graph(Id op) const {
  const Id call = trace_.op.api_call_id[op];
  if (trace_.op.kind[op] != trace::kGraphLaunch || trace_.op.graph_node[op] != trace::kNoInt ||
      call >= trace_.api_call.size())
    return kNoId;
  const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
  const auto found = executables_.find({process, trace_.api_call.object[call]});
  if (found == executables_.end()) return kNoId;
  // Handles are reused: the newest at that time.
  Id newest = kNoId;
  for (const Id graph : found->second) {
    if (trace_.graph.created_ns[graph] <= trace_.api_call.start_ns[call]) newest = graph;
  }
  return newest;
}

std::span<const Id> LaunchedGraphs::nodes(Id graph) const {
  const auto found = nodes_.find(graph);
  return found == nodes_.end() ? std::span<const Id>{} : found->second;
}

}  // namespace streamscope::analysis
