// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

namespace streamscope::record {

Graphs::Graph& Graphs::known(uint32_t native) {
  return graphs_[index_.get_or_add(native, [&] {
    Graph graph;
    graph.row.process_id = process_;
    graph.row.native_id = static_cast<trace::Small>(native);
    graph.id = run_.writer.append(graph.row);
    graphs_.push_back(graph);
    return static_cast<uint32_t>(graphs_.size() - 1);
  })];
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
  run_.writer.update(graph.id, graph.row);
}

trace::Id Graphs::node(uint32_t graph, uint64_t native) {
  return nodes_.get_or_add(native, [&] {
    trace::GraphNode row;
    row.graph_id = known(graph).id;
    row.native_id = static_cast<trace::Int>(native);
    return run_.writer.append(row);
  });
}

void Graphs::describe(const ring::GraphNodeRecord& record) {
  trace::GraphNode row;
  row.graph_id = known(record.graph).id;
  row.native_id = static_cast<trace::Int>(record.node);
  row.kind = record.node_kind;
  if (record.original != 0) row.original_native_id = static_cast<trace::Int>(record.original);
  row.name_id = run_.texts.id(record.name);
  if (record.correlation_id != ring::kNone32) row.correlation_id = record.correlation_id;
  run_.writer.update(node(record.graph, record.node), row);
}

void Graphs::describe(const ring::GraphEdgeRecord& record) {
  trace::GraphEdge row;
  row.graph_id = known(record.graph).id;
  row.from_node_id = node(record.graph, record.from_node);
  row.to_node_id = node(record.graph, record.to_node);
  run_.writer.append(row);
}

void Graphs::restore(trace::Id id, const trace::Graph& row) {
  index_.insert_or_assign(static_cast<uint32_t>(row.native_id),
                          static_cast<uint32_t>(graphs_.size()));
  graphs_.push_back({row, id});
}

}  // namespace streamscope::record
