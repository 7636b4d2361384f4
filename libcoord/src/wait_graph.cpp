// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_graph.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace coord {

namespace {

struct Sources {
  std::mutex mutex;
  std::uint64_t next = 1;
  std::map<std::uint64_t, std::function<void(WaitGraph&)>> all;
};

Sources& sources() {
  static auto* const kept = new Sources;  // some may end after static destructors have run
  return *kept;
}

}  // namespace

std::string thread_key(std::uint64_t thread) { return "thread " + std::to_string(thread); }
std::string thread_label(std::uint64_t thread) { return "host thread " + std::to_string(thread); }

std::size_t WaitGraph::node(const std::string& key, const std::string& label) {
  const auto [found, is_new] = by_key_.try_emplace(key, nodes_.size());
  if (is_new) nodes_.push_back({label.empty() ? key : label, {}, false});
  if (!label.empty()) nodes_[found->second].label = label;
  return found->second;
}

void WaitGraph::in_stream(std::size_t node, std::uint64_t stream, std::uint64_t order) {
  streams_[stream].push_back({order, node});
}

DeadlockReport WaitGraph::report() {
  for (auto& [stream, places] : streams_) {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.order < b.order; });
    for (std::size_t i = 1; i < places.size(); ++i) edge(places[i].node, places[i - 1].node);
  }
  DeadlockReport result;
  // Depth first; a node on the path that is met again closes a cycle. Each node is left once, so
  // cycles that share a node with one already found are not listed again.
  enum class Mark : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Mark> marks(nodes_.size(), Mark::kNew);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // node, next edge
  for (std::size_t root = 0; root < nodes_.size(); ++root) {
    if (marks[root] != Mark::kNew) continue;
    path.emplace_back(root, 0);
    marks[root] = Mark::kOnPath;
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == nodes_[at].waits_for.size()) {
        marks[at] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::size_t to = nodes_[at].waits_for[next++];
      if (marks[to] == Mark::kNew) {
        marks[to] = Mark::kOnPath;
        path.emplace_back(to, 0);
      } else if (marks[to] == Mark::kOnPath) {
        std::vector<std::string> cycle;
        auto from = std::find_if(path.begin(), path.end(),
                                 [to](const auto& step) { return step.first == to; });
        for (; from != path.end(); ++from) cycle.push_back(nodes_[from->first].label);
        result.cycles.push_back(std::move(cycle));
      }
    }
  }
  for (const Node& node : nodes_) {
    if (node.orphan) result.orphans.push_back(node.label);
  }
  return result;
}

WaitGraphSource::WaitGraphSource(std::function<void(WaitGraph&)> tell) {
  Sources& all = sources();
  const std::lock_guard lock(all.mutex);
  number_ = all.next++;
  all.all.emplace(number_, std::move(tell));
}

WaitGraphSource::~WaitGraphSource() {
  Sources& all = sources();
  const std::lock_guard lock(all.mutex);
  all.all.erase(number_);
}

DeadlockReport find_deadlocks() {
  WaitGraph graph;
  {
    Sources& all = sources();
    const std::lock_guard lock(all.mutex);
    for (const auto& [number, tell] : all.all) tell(graph);
  }
  return graph.report();
}

std::string DeadlockReport::text() const {
  std::string text;
  for (const std::vector<std::string>& cycle : cycles) {
    text += "these wait for each other and never go on:\n";
    for (const std::string& member : cycle) text += "  " + member + ", which waits for\n";
    if (!cycle.empty()) text += "  " + cycle.front() + "\n";
  }
  for (const std::string& orphan : orphans) text += orphan + "\n";
  return text;
}

}  // namespace coord
