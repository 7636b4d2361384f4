// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "graph_nodes.h"

#include <numeric>

namespace streamscope::analysis {

GraphNodes::GraphNodes(const Trace& trace) : first_(trace.graph_node.size() + 1, 0) {
  const size_t count = trace.graph_node.size();
  node_.reserve(count);
  for (Id node = 0; node < count; ++node) {
    const Id graph = trace.graph_node.graph_id[node];
    const Id process = graph < trace.graph.size() ? trace.graph.process_id[graph] : kNoId;
    node_[{process, trace.graph_node.native_id[node]}] = node;
  }
  const auto& edges = trace.graph_edge;
  const auto valid = [&](Id edge) {
    return edges.from_node_id[edge] < count && edges.to_node_id[edge] < count;
  };
  for (Id edge = 0; edge < edges.size(); ++edge) {
    if (valid(edge)) ++first_[edges.to_node_id[edge] + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  edges_.resize(first_.back());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (Id edge = 0; edge < edges.size(); ++edge) {
    if (valid(edge)) edges_[next[edges.to_node_id[edge]]++] = edges.from_node_id[edge];
  }
}

Id GraphNodes::node(Id process, trace::Int native_id) const {
  const auto found = node_.find({process, native_id});
  return found == node_.end() ? kNoId : found->second;
}

bool GraphNodes::ordered(Id from, Id to) const {
  if (from >= first_.size() - 1 || to >= first_.size() - 1 || from == to) return false;
  std::vector<Id> stack{to};
  std::unordered_map<Id, bool> seen;
  while (!stack.empty()) {
    const Id at = stack.back();
    stack.pop_back();
    for (Id node : before(at)) {
      if (node == from) return true;
      if (seen.emplace(node, true).second) stack.push_back(node);
    }
  }
  return false;
}

}  // namespace streamscope::analysis
