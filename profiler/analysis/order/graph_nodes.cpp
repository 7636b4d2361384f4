// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "graph_nodes.h"

#include <numeric>

namespace streamscope::analysis {

GraphNodes::GraphNodes(const Trace& trace) {
  const size_t count = trace.graph_node.size();
  node_.reserve(count);
  for (Id node = 0; node < count; ++node) {
    const Id graph = trace.graph_node.graph_id[node];
    const Id process = graph < trace.graph.size() ? trace.graph.process_id[graph] : kNoId;
    node_[{process, trace.graph_node.native_id[node]}] = node;
  }
  const auto& from = trace.graph_edge.from_node_id;
  const auto& to = trace.graph_edge.to_node_id;
  const auto list = [&](const trace::Column<Id>& by, const trace::Column<Id>& other,
                        std::vector<size_t>& first, std::vector<Id>& nodes) {
    first.assign(count + 1, 0);
    const auto valid = [&](size_t edge) { return by[edge] < count && other[edge] < count; };
    for (size_t edge = 0; edge < by.size(); ++edge) {
      if (valid(edge)) ++first[by[edge] + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    nodes.resize(first.back());
    std::vector<size_t> next(first.begin(), first.end() - 1);
    for (size_t edge = 0; edge < by.size(); ++edge) {
      if (valid(edge)) nodes[next[by[edge]]++] = other[edge];
    }
  };
  list(to, from, first_, edges_);
  list(from, to, first_successor_, successors_);
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
