// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "analysis/units.h"
#include "export.h"
#include "report/formats/markup.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using analysis::Edges;
using trace::Id;
using trace::kNoId;
using trace::Trace;

constexpr size_t kMostNodes = 2000;  // graphviz takes minutes for more
constexpr size_t kNodesAround = 60;  // as many as fit on a page

std::string dot_text(std::string_view text) {
  return '"' + replaced(analysis::printable(text), {{'"', R"(\")"}, {'\\', R"(\\)"}}) + '"';
}

// The styles of the first kinds of edges; the others are green.
constexpr const char* kStyles[] = {"color=\"#9aa0a6\"", "color=\"#1f5fbf\" penwidth=2",
                                   "color=\"#8a6d00\" style=dashed",
                                   "color=\"#b3261e\" style=dashed"};

const char* style_of(trace::EdgeKind kind) {
  return static_cast<size_t>(kind) < std::size(kStyles) ? kStyles[kind] : "color=\"#2e7d32\"";
}

struct Neighbors {
  std::vector<Id> before, after;  // in its stream
};

// The neighbors of each op in its stream, in order of execution.
Neighbors neighbors_of(const Trace& trace) {
  Neighbors result{std::vector<Id>(trace.op.size(), kNoId),
                   std::vector<Id>(trace.op.size(), kNoId)};
  std::vector<Id> order(trace.op.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::ranges::stable_sort(order, {}, [&](Id op) { return trace.op.start_ns[op]; });
  std::map<Id, Id> last;
  for (const Id op : order) {
    const auto [known, is_new] = last.try_emplace(trace.op.stream_id[op], op);
    if (!is_new) {
      result.before[op] = known->second;
      result.after[known->second] = op;
      known->second = op;
    }
  }
  return result;
}

// The op and the ops nearest to it along edges in either direction.
std::set<Id> around(const Trace& trace, const Edges& edges, const Neighbors& neighbors, Id center) {
  std::map<Id, std::vector<Id>> out;
  for (size_t i = 0; i < edges.size(); ++i) out[edges[i].from_op_id].push_back(edges[i].to_op_id);
  std::set<Id> nodes{center};
  std::deque<Id> queue{center};
  const auto visit = [&](Id op) {
    if (op < trace.op.size() && nodes.size() < kNodesAround && nodes.insert(op).second)
      queue.push_back(op);
  };
  while (!queue.empty()) {
    const Id op = queue.front();
    queue.pop_front();
    for (const trace::Edge& edge : edges.incoming(op)) visit(edge.from_op_id);
    for (const Id next : out[op]) visit(next);
    visit(neighbors.before[op]);
    visit(neighbors.after[op]);
  }
  return nodes;
}

}  // namespace

std::string export_dot(const Trace& trace, const ExportOptions& options) {
  const Edges edges(trace);
  const Neighbors neighbors = neighbors_of(trace);
  std::set<Id> nodes;
  if (options.around != kNoId) {
    if (options.around >= trace.op.size())
      throw Error("--around", "there is no op " + std::to_string(options.around),
                  "ids are those of table op");
    nodes = around(trace, edges, neighbors, options.around);
  } else {
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (!options.range || is_wanted(options, trace.op.start_ns[op], trace.op.end_ns[op]))
        nodes.insert(op);
    }
    if (nodes.size() > kMostNodes) {
      throw Error(trace.file, fmt::format("has {} ops there, too many for a graph", nodes.size()),
                  "select a part with --range FROM:TO or --around OP");
    }
  }
  if (nodes.empty()) refuse_empty(trace.file, options);

  std::string text =
      "digraph trace {\n  rankdir=LR;\n  node [shape=box style=filled fillcolor=\"#e8f0fe\" "
      "fontname=\"sans-serif\"];\n";
  std::map<Id, std::vector<Id>> by_stream;
  for (const Id op : nodes) by_stream[trace.op.stream_id[op]].push_back(op);
  for (const auto& [stream, ops] : by_stream) {
    text +=
        fmt::format("  subgraph cluster_{} {{\n    label={};\n", stream == kNoId ? 0 : stream + 1,
                    dot_text("stream " + analysis::stream_label(trace, stream)));
    for (const Id op : ops) {
      const bool timed = is_wanted({}, trace.op.start_ns[op], trace.op.end_ns[op]);
      std::string label = analysis::op_label(trace, op);
      if (timed)
        label += " " + analysis::format_duration(trace.op.end_ns[op] - trace.op.start_ns[op]);
      text += fmt::format("    op{} [label={}{}];\n", op, dot_text(label),
                          op == options.around ? " fillcolor=\"#fde293\"" : "");
    }
    text += "  }\n";
  }
  for (const Id op : nodes) {
    if (const Id next = neighbors.after[op]; nodes.contains(next))
      text += fmt::format("  op{} -> op{} [{}];\n", op, next, style_of(trace::kFifoEdge));
    for (const trace::Edge& edge : edges.incoming(op)) {
      if (!nodes.contains(edge.from_op_id)) continue;
      const auto kind = static_cast<trace::EdgeKind>(edge.kind);
      text += fmt::format("  op{} -> op{} [{} label={}];\n", edge.from_op_id, op, style_of(kind),
                          dot_text(trace::to_string(kind)));
    }
  }
  return text + "}\n";
}

}  // namespace streamscope::report
