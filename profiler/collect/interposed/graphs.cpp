// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/interposed/graphs.h"

#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "collect/calls/objects.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;

// The call that was captured as a node.
struct Captured {
  uint32_t number = ring::kNone32;
  ring::TextHash kernel = 0;
};

struct KnownGraph {
  uint32_t number = 0;
  std::unordered_map<CUgraphNode, uint64_t> nodes;  // reported ones and their numbers
  std::unordered_map<CUgraphNode, Captured> captured;
};

struct AllGraphs {
  std::mutex mutex;
  std::unordered_map<CUgraph, KnownGraph> graphs;
  std::unordered_map<CUgraphExec, uint32_t> executables;
  uint64_t next_node = 1;
  uint32_t unnumbered = 0;  // graphs for which CUPTI gave no number
};
alignas(AllGraphs) constinit unsigned char all_memory[sizeof(AllGraphs)] = {};  // never destroyed
constinit AllGraphs* all_graphs = nullptr;
constinit std::mutex making_all;

AllGraphs& all() {
  std::lock_guard lock(making_all);
  if (all_graphs == nullptr) all_graphs = new (all_memory) AllGraphs;
  return *all_graphs;
}

// Far above the numbers that are given.
uint32_t number_or_another(AllGraphs& store, uint32_t number) {
  constexpr uint32_t kAbove = 1u << 30;
  return number != ring::kNone32 ? number : kAbove + store.unnumbered++;
}

struct LiveEdge {
  CUgraphNode from, to;
};

// What a live graph consists of; empty if the driver does not say.
std::vector<CUgraphNode> nodes_of(CUgraph graph) {
  size_t count = 0;
  if (cuda.cuGraphGetNodes == nullptr ||
      cuda.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS)
    return {};
  std::vector<CUgraphNode> nodes(count);
  if (count != 0 && cuda.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return {};
  nodes.resize(count);
  return nodes;
}

std::vector<LiveEdge> edges_of(CUgraph graph) {
  size_t count = 0;
  if (cuda.cuGraphGetEdges == nullptr ||
      cuda.cuGraphGetEdges(graph, nullptr, nullptr, &count) != CUDA_SUCCESS)
    return {};
  std::vector<CUgraphNode> from(count), to(count);
  if (count != 0 && cuda.cuGraphGetEdges(graph, from.data(), to.data(), &count) != CUDA_SUCCESS)
    return {};
  std::vector<LiveEdge> edges(count);
  for (size_t i = 0; i < count; ++i) edges[i] = {from[i], to[i]};
  return edges;
}

uint8_t kind_of(CUgraphNode node) {
  constexpr uint8_t kUnknown = 0xff;
  CUgraphNodeType type{};
  if (cuda.cuGraphNodeGetType == nullptr || cuda.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
    return kUnknown;
  return static_cast<uint8_t>(type);
}

// The kernel of a node that no captured call made.
ring::TextHash kernel_of(ThreadState& thread, CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  if (cuda.cuGraphKernelNodeGetParams == nullptr ||
      cuda.cuGraphKernelNodeGetParams(node, &parameters) != CUDA_SUCCESS)
    return 0;
  const char* name = nullptr;
  const bool has_name = parameters.func != nullptr
                            ? cuda.cuFuncGetName != nullptr &&
                                  cuda.cuFuncGetName(&name, parameters.func) == CUDA_SUCCESS
                            : cuda.cuKernelGetName != nullptr &&
                                  cuda.cuKernelGetName(&name, parameters.kern) == CUDA_SUCCESS;
  return has_name && name != nullptr ? send_text(thread, name) : 0;
}

ring::GraphRecord new_graph_record(uint32_t number, uint64_t handle, uint64_t begin) {
  ring::GraphRecord record{};
  record.kind = RecordKind::kGraph;
  record.graph = number;
  record.source = record.context = ring::kNone32;
  record.handle = handle;
  record.begin = begin;
  return record;
}

void push_node(ThreadState& thread, uint32_t graph, uint64_t number, uint64_t original,
               uint8_t kind, const Captured& captured) {
  ring::GraphNodeRecord record{};
  record.kind = RecordKind::kGraphNode;
  record.node_kind = kind;
  record.graph = graph;
  record.node = number;
  record.original = original;
  record.name = captured.kernel;
  record.call_number = captured.number;
  thread.push(record);
}

void push_edge(ThreadState& thread, uint32_t graph, uint64_t from, uint64_t to) {
  ring::GraphEdgeRecord record{};
  record.kind = RecordKind::kGraphEdge;
  record.graph = graph;
  record.from_node = from;
  record.to_node = to;
  thread.push(record);
}

// Reports `graph` and its nodes and edges, each once; the lock is held.
KnownGraph& report_live_graph(ThreadState& thread, AllGraphs& store, CUgraph graph,
                              const std::vector<CUgraphNode>& nodes,
                              const std::vector<LiveEdge>& edges) {
  KnownGraph& known = store.graphs[graph];
  if (known.number == 0) {
    known.number = number_or_another(store, numbering().graph(graph));
    thread.push(new_graph_record(known.number, reinterpret_cast<uintptr_t>(graph), thread.begin));
  }
  std::unordered_map<CUgraphNode, bool> is_new;
  for (CUgraphNode node : nodes) {
    const auto [place, added] = known.nodes.try_emplace(node, store.next_node);
    is_new[node] = added;
    if (!added) continue;
    ++store.next_node;
    const uint8_t kind = kind_of(node);
    Captured& captured = known.captured[node];
    if (captured.kernel == 0 && kind == CU_GRAPH_NODE_TYPE_KERNEL)
      captured.kernel = kernel_of(thread, node);
    push_node(thread, known.number, place->second, 0, kind, captured);
  }
  for (const LiveEdge& edge : edges) {
    if (is_new[edge.from] || is_new[edge.to])
      push_edge(thread, known.number, known.nodes[edge.from], known.nodes[edge.to]);
  }
  return known;
}

}  // namespace

void note_captured_node(const ThreadState& thread, const CallEntry& entry) {
  if ((entry.flags & kEntryWork) == 0 || cuda.cuStreamGetCaptureInfo == nullptr) return;
  const ring::CallRecord open = thread.open_call().call();
  uint64_t stream = open.stream;
  if (stream == 0 && (entry.flags & kEntryPerThread) != 0)
    stream = reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* newest = nullptr;
  size_t count = 0;
  if (stream <= 1 ||
      cuda.cuStreamGetCaptureInfo(reinterpret_cast<CUstream>(stream), &status, &id, &graph, &newest,
                                  &count) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
    return;
  // A record is a node only if it is external.
  if (entry.kind == CallKind::kEventRecord && kind_of(newest[0]) != CU_GRAPH_NODE_TYPE_EVENT_RECORD)
    return;
  AllGraphs& store = all();
  std::lock_guard lock(store.mutex);
  store.graphs[graph].captured[newest[0]] = {open.call_number,
                                             entry.kind == CallKind::kLaunch ? open.object : 0};
}

void report_instantiated(ThreadState& thread, CUgraph graph, CUgraphExec executable) {
  if (graph == nullptr || executable == nullptr) return;
  const std::vector<CUgraphNode> nodes = nodes_of(graph);
  const std::vector<LiveEdge> edges = edges_of(graph);
  AllGraphs& store = all();
  std::lock_guard lock(store.mutex);
  const KnownGraph& source = report_live_graph(thread, store, graph, nodes, edges);
  const uint32_t number = number_or_another(store, numbering().executable(executable));
  store.executables[executable] = number;
  ring::GraphRecord record =
      new_graph_record(number, reinterpret_cast<uintptr_t>(executable), thread.begin);
  record.executable = 1;
  record.source = source.number;
  thread.push(record);
  std::unordered_map<CUgraphNode, uint64_t> clones;
  for (CUgraphNode node : nodes) {
    clones[node] = store.next_node;
    push_node(thread, number, store.next_node++, source.nodes.at(node), kind_of(node),
              source.captured.at(node));
  }
  for (const LiveEdge& edge : edges) push_edge(thread, number, clones[edge.from], clones[edge.to]);
}

void report_destroyed(ThreadState& thread, CUgraphExec executable) {
  AllGraphs& store = all();
  std::lock_guard lock(store.mutex);
  const auto found = store.executables.find(executable);
  if (found == store.executables.end()) return;
  ring::GraphRecord record =
      new_graph_record(found->second, reinterpret_cast<uintptr_t>(executable), thread.begin);
  record.executable = record.destroyed = 1;
  thread.push(record);
  store.executables.erase(found);
}

void forget_graph(CUgraph graph) {
  AllGraphs& store = all();
  std::lock_guard lock(store.mutex);
  store.graphs.erase(graph);
}

void forget_node(CUgraphNode node) {
  AllGraphs& store = all();
  std::lock_guard lock(store.mutex);
  for (auto& [graph, known] : store.graphs) {
    known.nodes.erase(node);
    known.captured.erase(node);
  }
}

void forget_graphs_after_fork() {
  new (&making_all) std::mutex;
  all_graphs = nullptr;
}

}  // namespace streamscope::collect
