// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/resources.h"

#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/calls/call_table.h"
#include "collect/calls/objects.h"
#include "collect/cupti/activities.h"
#include "collect/cupti/cupti_library.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;

constexpr uint8_t kUnknownNodeKind = 0xff;

uint32_t stream_number(CUcontext context, CUstream stream, bool per_thread) {
  uint32_t id = ring::kNone32;
  if (cupti.cuptiGetStreamIdEx(context, stream, per_thread ? 1 : 0, &id) != CUPTI_SUCCESS)
    return ring::kNone32;
  return id;
}

uint32_t context_number(CUcontext context) {
  uint32_t id = ring::kNone32;
  return cupti.cuptiGetContextId(context, &id) == CUPTI_SUCCESS ? id : ring::kNone32;
}

bool device_of(CUcontext context, uint32_t* ordinal) {
  return cupti.cuptiGetDeviceId(context, ordinal) == CUPTI_SUCCESS;
}

void on_stream(ThreadState& thread, const CUpti_ResourceData& data, bool destroyed) {
  const uint32_t context_id = context_number(data.context);
  if (context_id == ring::kNone32) return;
  report_stream_change(thread, data.context, context_id, data.resourceHandle.stream, destroyed,
                       ticks());
}

// Graphs.
//
// CUPTI 13.0 (seen on driver 580): a captured or added node is CREATE_STARTING (the only place
// where its type is right), then one DEPENDENCY_CREATED per edge, then CREATED. Instantiation first
// makes a clone (nodes CREATED and CLONED, then edges) whose id is the executable graph's, then an
// internal second graph that has CREATE_STARTING and edges but never CREATED. The driver adds nodes
// of its own to the clone (CREATED, never CLONED) and reports some edges of it twice. So while a
// graph is instantiated, a node counts once it is CLONED, an edge counts once when both its nodes
// do, and edges still waiting when the executable graph exists are the driver's.

struct Edge {
  uint32_t graph;
  uint64_t from, to;
};

// What is known of a node; no callback has all of it.
struct Node {
  uint8_t kind = kUnknownNodeKind;
  uint64_t original = 0;
  ring::TextHash name = 0;
  uint32_t call_number = ring::kNone32;  // of the captured call
};

struct Graphs {
  std::mutex mutex;
  std::unordered_map<uint64_t, Node> nodes;                      // those that count
  std::unordered_map<uint32_t, std::vector<uint64_t>> nodes_of;  // by graph
  std::vector<Edge> waiting;
  std::set<std::pair<uint64_t, uint64_t>>
      of_clone;  // reported for the graph that is being instantiated
};
alignas(Graphs) constinit unsigned char graphs_memory[sizeof(Graphs)] = {};  // never destroyed
constinit std::atomic<Graphs*> graphs_pointer{nullptr};
constinit std::mutex graphs_making;

Graphs& graphs() {
  Graphs* made = graphs_pointer.load(std::memory_order_acquire);
  if (made != nullptr) return *made;
  std::lock_guard lock(graphs_making);
  made = graphs_pointer.load(std::memory_order_acquire);
  if (made == nullptr) {
    made = new (graphs_memory) Graphs;
    graphs_pointer.store(made, std::memory_order_release);
  }
  return *made;
}

thread_local uint8_t starting_node_kind = kUnknownNodeKind;

uint32_t graph_id(CUgraph graph) {
  uint32_t id = ring::kNone32;
  if (graph == nullptr || cupti.cuptiGetGraphId == nullptr ||
      cupti.cuptiGetGraphId(graph, &id) != CUPTI_SUCCESS)
    return ring::kNone32;
  return id;
}

uint32_t exec_id(CUgraphExec exec) {
  uint32_t id = ring::kNone32;
  if (exec == nullptr || cupti.cuptiGetGraphExecId == nullptr ||
      cupti.cuptiGetGraphExecId(exec, &id) != CUPTI_SUCCESS)
    return ring::kNone32;
  return id;
}

uint64_t node_id(CUgraphNode node) {
  uint64_t id = 0;
  if (node == nullptr || cupti.cuptiGetGraphNodeId == nullptr ||
      cupti.cuptiGetGraphNodeId(node, &id) != CUPTI_SUCCESS)
    return 0;
  return id;
}

void report_graph(ThreadState& thread, uint32_t id, uint32_t source, uint64_t handle,
                  bool executable, bool destroyed) {
  if (id == ring::kNone32) return;
  ring::GraphRecord record{};
  record.kind = RecordKind::kGraph;
  record.executable = executable ? 1 : 0;
  record.destroyed = destroyed ? 1 : 0;
  record.graph = id;
  record.source = source != id ? source : ring::kNone32;
  record.context = ring::kNone32;
  record.handle = handle;
  record.begin = ticks();
  thread.push(record);
}

bool instantiating(const ThreadState& thread) {
  return thread.open_entry != nullptr && thread.open_entry->kind == CallKind::kGraphInstantiate;
}

// What was reported of a graph stays in the trace; here its nodes are forgotten.
void forget_graph_number(uint32_t id) {
  Graphs& all = graphs();
  std::lock_guard lock(all.mutex);
  const auto found = all.nodes_of.find(id);
  if (found == all.nodes_of.end()) return;
  for (uint64_t node : found->second) all.nodes.erase(node);
  all.nodes_of.erase(found);
}

// The lock of `all` is held.
void report_edge(ThreadState& thread, Graphs& all, const Edge& edge) {
  if (instantiating(thread) && !all.of_clone.emplace(edge.from, edge.to).second) return;
  ring::GraphEdgeRecord record{};
  record.kind = RecordKind::kGraphEdge;
  record.graph = edge.graph;
  record.from_node = edge.from;
  record.to_node = edge.to;
  thread.push(record);
}

void report_node(ThreadState& thread, const CUpti_GraphData& graph, bool cloned) {
  const uint64_t id = node_id(graph.node);
  if (id == 0) return;
  const uint32_t owner = graph_id(graph.graph);
  const uint64_t original = cloned ? node_id(graph.originalNode) : 0;
  Graphs& all = graphs();
  std::lock_guard lock(all.mutex);
  const auto [known, is_new] = all.nodes.try_emplace(id);
  Node& node = known->second;
  if (is_new) all.nodes_of[owner].push_back(id);
  if (node.kind == kUnknownNodeKind) node.kind = starting_node_kind;
  if (thread.open_entry != nullptr && (thread.open_entry->flags & kEntryWork) != 0)
    node.call_number = thread.open_call().call().call_number;
  // A captured launch is still open: the node has its kernel.
  if (thread.open_entry != nullptr && thread.open_entry->kind == CallKind::kLaunch)
    node.name = thread.open_call().call().object;
  if (original != 0 && original != id) {
    node.original = original;
    if (auto found = all.nodes.find(original); found != all.nodes.end()) {
      node.kind = found->second.kind;
      node.name = found->second.name;
      node.call_number = found->second.call_number;
    }
  }
  ring::GraphNodeRecord record{};
  record.kind = RecordKind::kGraphNode;
  record.node_kind = node.kind;
  record.graph = owner;
  record.node = id;
  record.original = node.original;
  record.name = node.name;
  record.call_number = node.call_number;
  thread.push(record);
  std::erase_if(all.waiting, [&](const Edge& edge) {
    if (!all.nodes.contains(edge.from) || !all.nodes.contains(edge.to)) return false;
    report_edge(thread, all, edge);
    return true;
  });
}

// `node` depends on `dependency` (CUPTI 13.0; compared with cudaGraphGetEdges).
void on_dependency(ThreadState& thread, const CUpti_GraphData& graph) {
  const Edge edge{graph_id(graph.graph), node_id(graph.dependency), node_id(graph.node)};
  if (edge.from == 0 || edge.to == 0) return;
  Graphs& all = graphs();
  std::lock_guard lock(all.mutex);
  if (all.nodes.contains(edge.from) && all.nodes.contains(edge.to)) {
    report_edge(thread, all, edge);
  } else {
    all.waiting.push_back(edge);
  }
}

void on_graph(ThreadState& thread, CUpti_CallbackId id, const CUpti_GraphData& graph) {
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
      report_graph(
          thread, graph_id(graph.graph),
          id == CUPTI_CBID_RESOURCE_GRAPH_CLONED ? graph_id(graph.originalGraph) : ring::kNone32,
          reinterpret_cast<uintptr_t>(graph.graph), false, false);
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING: {
      const uint32_t gone = graph_id(graph.graph);
      report_graph(thread, gone, ring::kNone32, reinterpret_cast<uintptr_t>(graph.graph), false,
                   true);
      forget_graph_number(gone);
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING:
      starting_node_kind = static_cast<uint8_t>(graph.nodeType);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      if (!instantiating(thread)) report_node(thread, graph, false);
      starting_node_kind = kUnknownNodeKind;
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      report_node(thread, graph, true);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
      on_dependency(thread, graph);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: {
      report_graph(thread, exec_id(graph.graphExec), graph_id(graph.graph),
                   reinterpret_cast<uintptr_t>(graph.graphExec), true, false);
      Graphs& all = graphs();
      std::lock_guard lock(all.mutex);
      all.waiting.clear();
      all.of_clone.clear();
      break;
    }
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING: {
      const uint32_t gone = exec_id(graph.graphExec);
      report_graph(thread, gone, ring::kNone32, reinterpret_cast<uintptr_t>(graph.graphExec), true,
                   true);
      forget_graph_number(gone);
      break;
    }
    default:
      break;
  }
}

}  // namespace

const Numbering& cupti_numbering() {
  static constexpr Numbering kNumbering{stream_number, device_of, context_number, graph_id,
                                        exec_id};
  return kNumbering;
}

CUptiResult switch_resource_callbacks(CUpti_SubscriberHandle subscriber, bool on) {
  for (CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED,
        CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
        CUPTI_CBID_RESOURCE_GRAPH_CREATED, CUPTI_CBID_RESOURCE_GRAPH_CLONED,
        CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
        CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
        CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
        CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING}) {
    CUptiResult result =
        cupti.cuptiEnableCallback(on ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) return result;
  }
  return CUPTI_SUCCESS;
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      if (const uint32_t number = context_number(data.context); number != ring::kNone32)
        report_context(*thread, data.context, number);
      break;
    case CUPTI_CBID_RESOURCE_STREAM_CREATED:
      on_stream(*thread, data, false);
      break;
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      on_stream(*thread, data, true);
      break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      session.names_epoch.fetch_add(1, std::memory_order_relaxed);
      break;
    default:
      if (data.resourceDescriptor != nullptr)
        on_graph(*thread, id, *static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
      break;
  }
}

void forget_resources_after_fork() {
  new (&graphs_making) std::mutex;
  graphs_pointer.store(nullptr, std::memory_order_release);
  starting_node_kind = kUnknownNodeKind;
}

}  // namespace streamscope::collect
