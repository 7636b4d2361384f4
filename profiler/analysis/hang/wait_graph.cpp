// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_graph.h"

#include <algorithm>
#include <map>

namespace streamscope::analysis {
namespace {

constexpr size_t kMostNodes = 80;  // more is unreadable

void place(WaitGraph& graph) {
  std::vector<bool> placed(graph.nodes.size());
  if (!graph.cycles.empty()) {
    const std::vector<uint32_t>& cycle = graph.cycles.front();
    const size_t half = (cycle.size() + 1) / 2;
    for (size_t i = 0; i < cycle.size(); ++i) {
      const size_t column = i < half ? i : cycle.size() - 1 - i;
      graph.nodes[cycle[i]].column = static_cast<uint32_t>(column + 1);
      graph.nodes[cycle[i]].row = i < half ? 0 : 1;
      placed[cycle[i]] = true;
    }
  }
  std::vector<uint32_t> distance(graph.nodes.size(), UINT32_MAX), queue;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].blocked) continue;
    distance[i] = 0;
    queue.push_back(i);
  }
  for (size_t at = 0; at < queue.size(); ++at) {
    for (const WaitGraph::Link& link : graph.links) {
      if (link.from != queue[at] || distance[link.to] != UINT32_MAX) continue;
      distance[link.to] = distance[link.from] + 1;
      queue.push_back(link.to);
    }
  }
  std::vector<uint32_t> used;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    WaitGraph::Node& node = graph.nodes[i];
    if (!placed[i]) {
      node.column = distance[i] == UINT32_MAX ? 0 : distance[i];
      used.resize(std::max<size_t>(used.size(), node.column + 1));
      node.row = (node.column == 0 || graph.cycles.empty() ? 0 : 2) + used[node.column]++;
    }
    graph.columns = std::max(graph.columns, node.column + 1);
    graph.rows = std::max(graph.rows, node.row + 1);
  }
}

}  // namespace

WaitGraph wait_graph(const WaitFor& waits) {
  WaitGraph graph;
  std::map<WaitFor::Index, uint32_t> numbers;
  std::vector<WaitFor::Index> queue;  // nearest to the blocked calls first
  const auto add = [&](WaitFor::Index index) {
    const auto [at, added] = numbers.emplace(index, static_cast<uint32_t>(graph.nodes.size()));
    if (added) {
      const WaitFor::Node& node = waits.node(index);
      graph.nodes.push_back(
          {.kind = node.kind, .id = node.id, .stream = node.stream, .stuck = node.stuck});
      if (node.kind == WaitFor::Kind::kThread) graph.nodes.back().thread = node.id;
      queue.push_back(index);
    }
    return at->second;
  };
  for (const WaitFor::Blocked& call : waits.blocked()) {
    WaitGraph::Node& node = graph.nodes[add(call.node)];
    node.blocked = true;
    node.thread = call.thread;
    node.held_ns = call.held_ns;
  }
  std::vector<std::pair<uint32_t, uint32_t>> in_cycle;
  for (const std::vector<WaitFor::Step>& steps : waits.cycles()) {
    std::vector<uint32_t> cycle;
    cycle.reserve(steps.size());
    for (const WaitFor::Step& step : steps) cycle.push_back(add(step.node));
    for (size_t i = 0; i < cycle.size(); ++i) {
      graph.nodes[cycle[i]].in_cycle = true;
      in_cycle.emplace_back(cycle[i], cycle[(i + 1) % cycle.size()]);
    }
    graph.cycles.push_back(std::move(cycle));
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const WaitFor::Link& link : waits.links(queue[i])) {
      if (!numbers.contains(link.to) && graph.nodes.size() >= kMostNodes) {
        ++graph.left_out;
        continue;
      }
      const uint32_t from = numbers.at(queue[i]), to = add(link.to);
      const bool cyclic = std::ranges::find(in_cycle, std::pair(from, to)) != in_cycle.end();
      graph.links.push_back({from, to, link.why, cyclic});
    }
  }
  place(graph);
  return graph;
}

std::string_view to_string(WaitFor::Why why) {
  constexpr std::string_view kNames[] = {
      "stream order",          // kStreamOrder
      "event",                 // kEvent
      "default stream",        // kLegacyStream
      "needs one write",       // kMemory
      "write not issued",      // kNotIssued
      "synchronizes",          // kSynchronize
      "waits for the device",  // kDevice
      "stream queue full",     // kQueueFull
      "held in the driver",    // kContext
      "lock",                  // kLock
      "runs in",               // kRunsIn
  };
  return kNames[static_cast<size_t>(why)];
}

}  // namespace streamscope::analysis
