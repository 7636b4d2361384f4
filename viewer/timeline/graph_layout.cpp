// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "graph_layout.h"

#include <algorithm>
#include <numeric>

namespace streamscope::viewer {
namespace {

// Ops of a stream's lane by start.
std::vector<Id> ops_of(const Lane& lane) {
  std::vector<std::pair<Ns, Id>> ops;
  for (const Band& band : lane.bands) {
    for (size_t i = 0; i < band.row.size(); ++i)
      ops.emplace_back(band.row.start_ns[i], unpack(band.row.item[i]).id);
  }
  std::ranges::sort(ops);
  std::vector<Id> result;
  result.reserve(ops.size());
  for (const auto& [at, op] : ops) result.push_back(op);
  return result;
}

bool has_edge(const TraceModel& model, std::span<const uint32_t> edges) {
  const auto& stream = model.trace().op.stream_id;
  return std::ranges::any_of(edges, [&](uint32_t index) {
    const Dependency& edge = model.edges()[index];
    return stream[edge.from_op] != stream[edge.to_op];
  });
}

bool touches(std::optional<TimeRange> time, TimeRange range) {
  return time && time->begin_ns < range.end_ns && time->end_ns > range.begin_ns;
}

bool is_within(const TraceModel& model, Id op, TimeRange range) {
  return touches(model.items().time({ItemKind::kOp, op}), range) ||
         touches(model.items().time(model.items().call_of(op)), range);
}

void make_nodes(const TraceModel& model, const GraphFilter& filter, GraphLayout& graph) {
  const Insights& insights = model.insights();
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    if (model.lanes()[lane].kind != LaneKind::kStream) continue;
    if (!filter.lanes.empty() && !filter.lanes[lane]) continue;
    bool ended = true;
    for (const Id op : ops_of(model.lanes()[lane])) {
      const std::optional<TimeRange> time = model.items().time({ItemKind::kOp, op});
      if (!time || (filter.within && !is_within(model, op, *filter.within)) ||
          (filter.group != kNoId && !model.items().is_in_group(op, filter.group)))
        continue;
      if (ended && (graph.lanes.empty() || graph.lanes.back() != lane)) graph.lanes.push_back(lane);
      if (ended || has_edge(model, model.edges().incoming(op))) {
        graph.nodes.push_back(
            {.row = static_cast<uint32_t>(graph.lanes.size() - 1), .first_op = op, .time = *time});
      }
      GraphNode& node = graph.nodes.back();
      node.last_op = op;
      ++node.count;
      node.time.end_ns = std::max(node.time.end_ns, time->end_ns);
      node.on_path = node.on_path || (op < insights.on_path.size() && insights.on_path[op]);
      graph.node_of[op] = static_cast<uint32_t>(graph.nodes.size() - 1);
      ended = has_edge(model, model.edges().outgoing(op));
    }
  }
}

void make_edges(const TraceModel& model, GraphLayout& graph) {
  for (uint32_t i = 1; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].row == graph.nodes[i - 1].row) graph.edges.push_back({i - 1, i});
  }
  for (uint32_t i = 0; i < model.edges().size(); ++i) {
    const Dependency& edge = model.edges()[i];
    const uint32_t from = graph.node_of[edge.from_op], to = graph.node_of[edge.to_op];
    if (from != GraphLayout::kNoNode && to != GraphLayout::kNoNode && from != to)
      graph.edges.push_back({from, to, edge.kind, i});
  }
  // Consecutive steps of the critical path.
  std::vector<std::pair<uint32_t, uint32_t>> path;
  uint32_t before = GraphLayout::kNoNode;
  for (const analysis::PathStep& step : model.insights().path) {
    if (step.kind == trace::kHostSyncStep) before = GraphLayout::kNoNode;
    if (step.kind != trace::kOpStep) continue;
    const uint32_t node = graph.node_of[step.op];
    if (before != GraphLayout::kNoNode && node != before) path.emplace_back(before, node);
    before = node;
  }
  std::ranges::sort(path);
  for (GraphEdge& edge : graph.edges)
    edge.on_path = std::ranges::binary_search(path, std::pair(edge.from, edge.to));
}

// Each node is one layer after the last of its predecessors.
void set_layers(GraphLayout& graph) {
  std::vector<uint32_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return graph.nodes[i].time.begin_ns; });
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::ranges::sort(graph.edges, {}, [&](const GraphEdge& edge) { return rank[edge.from]; });
  for (const GraphEdge& edge : graph.edges) {
    // Edges do not run back in time; if they do in a trace with odd times, they are still drawn.
    if (rank[edge.from] < rank[edge.to])
      graph.nodes[edge.to].layer =
          std::max(graph.nodes[edge.to].layer, graph.nodes[edge.from].layer + 1);
  }
}

// Sorts nodes and edges by layer.
void sort_by_layer(GraphLayout& graph) {
  std::vector<uint32_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, {}, [&](uint32_t i) { return std::pair(graph.nodes[i].layer, graph.nodes[i].row); });
  std::vector<uint32_t> place(order.size());
  std::vector<GraphNode> nodes;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    nodes.push_back(graph.nodes[order[i]]);
  }
  graph.nodes = std::move(nodes);
  for (uint32_t& node : graph.node_of) {
    if (node != GraphLayout::kNoNode) node = place[node];
  }
  for (GraphEdge& edge : graph.edges) {
    edge.from = place[edge.from];
    edge.to = place[edge.to];
    const uint32_t a = graph.nodes[edge.from].layer, b = graph.nodes[edge.to].layer;
    graph.longest_edge = std::max(graph.longest_edge, a < b ? b - a : a - b);
  }
  std::ranges::stable_sort(graph.edges, {},
                           [&](const GraphEdge& edge) { return graph.nodes[edge.from].layer; });
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    while (graph.first_of_layer.size() <= graph.nodes[i].layer) graph.first_of_layer.push_back(i);
  }
  graph.first_of_layer.push_back(static_cast<uint32_t>(graph.nodes.size()));
}

}  // namespace

GraphLayout lay_out_graph(const TraceModel& model, const GraphFilter& filter) {
  GraphLayout graph;
  graph.node_of.assign(model.trace().op.size(), GraphLayout::kNoNode);
  make_nodes(model, filter, graph);
  make_edges(model, graph);
  set_layers(graph);
  sort_by_layer(graph);
  return graph;
}

}  // namespace streamscope::viewer
