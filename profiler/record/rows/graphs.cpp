// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

namespace streamscope::record {

Graphs::Graph& Graphs::known(uint32_t native) {
  return graphs_.get_or_add(native, [&] {
    return Graph{run_.add(
        trace::Graph{.process_id = process_, .native_id = static_cast<trace::Small>(native)})};
  });
}

void Graphs::describe(const ring::GraphRecord& record) {
  const trace::Id source = record.source == ring::kNone32 ? trace::kNoId : known(record.source).id;
  Graph& graph = known(record.graph);
  const trace::Ns at =
      record.begin == 0 ? trace::kUnknownNs : run_.to_ns(record.begin, record.flags);
  if (record.destroyed != 0) {
    graph.row.destroyed_ns = at;
  } else {
    graph.row.executable = record.executable;
    graph.row.created_ns = at;
    if (source != trace::kNoId) graph.row.source_graph_id = source;
  }
  if (record.handle != 0) graph.row.handle = static_cast<trace::Int>(record.handle);
  learn_handle(record.graph, graph.row);
  run_.update(graph);
}

trace::Id Graphs::node(uint32_t graph, uint64_t native) {
  return nodes_.get_or_add(native, [&] {
    return run_.writer.append(trace::GraphNode{.graph_id = known(graph).id,
                                               .native_id = static_cast<trace::Int>(native)});
  });
}

void Graphs::describe(const ring::GraphNodeRecord& record) {
  trace::GraphNode row;
  row.graph_id = known(record.graph).id;
  row.native_id = static_cast<trace::Int>(record.node);
  row.kind = record.node_kind;
  if (record.original != 0) row.original_native_id = static_cast<trace::Int>(record.original);
  row.name_id = run_.texts.id(record.name);
  if (record.call_number != ring::kNone32) row.call_number = record.call_number;
  run_.writer.update(node(record.graph, record.node), row);
  learn_node(record.graph, row.kind);
}

void Graphs::learn_handle(uint32_t native, const trace::Graph& row) {
  if (row.executable == 1 && row.handle != trace::kNoInt && row.destroyed_ns == trace::kUnknownNs)
    executables_.insert_or_assign(static_cast<uint64_t>(row.handle), native);
}

void Graphs::learn_node(uint32_t graph, trace::Small kind) {
  constexpr trace::Small kHost = 3, kEmpty = 5, kConditional = 13;  // CUgraphNodeType
  Graph& owner = known(graph);
  owner.has_nodes = true;
  if (kind != kHost && (kind < kEmpty || kind > kConditional)) owner.has_seen_nodes = true;
}

bool Graphs::may_run_unseen(uint64_t executable) const {
  const uint32_t* native = executables_.find(executable);
  const Graph* graph = native != nullptr ? graphs_.find(*native) : nullptr;
  return graph != nullptr && graph->has_nodes && !graph->has_seen_nodes;
}

void Graphs::describe(const ring::GraphEdgeRecord& record) {
  const trace::GraphEdge row{.graph_id = known(record.graph).id,
                             .from_node_id = node(record.graph, record.from_node),
                             .to_node_id = node(record.graph, record.to_node)};
  // A flight recorder may pass on what its rings still have.
  edges_.get_or_add(pair_key(row.from_node_id, row.to_node_id),
                    [&] { return run_.writer.append(row); });
}

void Graphs::restore(EarlierRows& rows) {
  rows.each<trace::Graph>(process_, [&](trace::Id id, const trace::Graph& row) {
    const auto native = static_cast<uint32_t>(row.native_id);
    graphs_.insert_or_assign(native, Graph{{row, id}});
    learn_handle(native, row);
  });
  rows.each<trace::GraphNode>(process_, [&](trace::Id id, const trace::GraphNode& row) {
    nodes_.insert_or_assign(static_cast<uint64_t>(row.native_id), id);
    learn_node(static_cast<uint32_t>(rows.trace().graph.native_id[row.graph_id]), row.kind);
  });
}

}  // namespace streamscope::record
