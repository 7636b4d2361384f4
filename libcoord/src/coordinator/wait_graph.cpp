// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_graph.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "codes.h"
#include "coord/error.h"
#include "host/thread_number.h"
#include "observer.h"

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

std::string thread_label(std::uint64_t number) { return "host thread " + std::to_string(number); }

std::size_t WaitGraph::node(coord_wait_party_kind kind, const std::string& key,
                            const std::string& label, std::uint64_t object) {
  const auto [found, is_new] = by_key_.try_emplace(key, nodes_.size());
  if (is_new) nodes_.push_back({kind, object, label.empty() ? key : label, {}});
  if (!label.empty()) nodes_[found->second].label = label;
  return found->second;
}

std::size_t WaitGraph::thread(std::uint64_t number) {
  return node(COORD_WAITS_THREAD, "thread " + std::to_string(number), thread_label(number),
              system_thread(number));
}

void WaitGraph::in_stream(std::size_t node, std::uint64_t stream, std::uint64_t order) {
  streams_[stream].push_back({order, node});
}

DeadlockReport WaitGraph::report() {
  for (auto& [stream, places] : streams_) {
    std::ranges::sort(places, {}, &Place::order);
    for (std::size_t i = 1; i < places.size(); ++i) edge(places[i].node, places[i - 1].node);
  }
  DeadlockReport result;
  // Depth first; a node on the path that is met again closes a cycle. Each node is left once, so a
  // cycle that shares a node with one already found is not listed.
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
        auto from = std::ranges::find(path, to, &std::pair<std::size_t, std::size_t>::first);
        for (; from != path.end(); ++from) {
          nodes_[from->first].in_cycle = true;
          cycle.push_back(nodes_[from->first].label);
        }
        result.cycles.push_back(std::move(cycle));
      }
    }
  }
  for (const Node& node : nodes_) {
    if (node.orphan) result.orphans.push_back(node.label);
  }
  return result;
}

// Backward from the waits that can never end, nearest first.
void WaitGraph::notify(bool given_up, std::int64_t time_ns) const {
  if (observer().waits == nullptr) return;
  constexpr std::size_t kMostTold = 200;
  std::vector<std::vector<std::size_t>> waiters(nodes_.size());
  for (std::size_t from = 0; from < nodes_.size(); ++from) {
    for (const std::size_t to : nodes_[from].waits_for) waiters[to].push_back(from);
  }
  std::map<std::size_t, std::uint32_t> index;  // of reported nodes
  std::vector<std::size_t> hooks;
  const auto add = [&](std::size_t node) {
    if (hooks.size() < kMostTold &&
        index.try_emplace(node, static_cast<std::uint32_t>(hooks.size())).second)
      hooks.push_back(node);
  };
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].in_cycle || nodes_[node].orphan) add(node);
  }
  // What an orphan waits for.
  for (std::size_t i = 0, first = hooks.size(); i < first; ++i) {
    for (const std::size_t to : nodes_[hooks[i]].waits_for) add(to);
  }
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    for (const std::size_t from : waiters[hooks[i]]) add(from);
  }
  std::vector<coord_wait_party> parties;
  std::vector<coord_wait_link> links;
  for (const std::size_t at : hooks) {
    const Node& node = nodes_[at];
    std::uint32_t flags = 0;
    if (node.orphan) flags |= COORD_WAITS_UNPROMISED;
    if (node.in_cycle) flags |= COORD_WAITS_IN_CYCLE;
    parties.push_back(
        {static_cast<std::uint32_t>(node.kind), flags, node.object, node.label.c_str()});
    for (const std::size_t to : node.waits_for) {
      if (const auto found = index.find(to); found != index.end())
        links.push_back({index.at(at), found->second});
    }
  }
  const coord_waits_facts facts{.party_count = static_cast<std::uint32_t>(parties.size()),
                                .link_count = static_cast<std::uint32_t>(links.size()),
                                .parties = parties.data(),
                                .links = links.data(),
                                .given_up = given_up ? 1u : 0u,
                                .time_ns = time_ns};
  observer().waits(&facts);
}

void WaitGraph::give_up(const char* call, const DeadlockReport& report,
                        std::int64_t time_ns) const {
  if (observer().mark != nullptr) observer().mark("deadlock", time_ns);
  notify(true, time_ns);
  throw make_error(ErrorKind::kDeadlock, kCodeUnknown, call, report.text());
}

WaitGraphSource::WaitGraphSource(std::function<void(WaitGraph&)> notify) {
  Sources& all = sources();
  const std::lock_guard lock(all.mutex);
  number_ = all.next++;
  all.all.emplace(number_, std::move(notify));
}

WaitGraphSource::~WaitGraphSource() {
  Sources& all = sources();
  const std::lock_guard lock(all.mutex);
  all.all.erase(number_);
}

WaitGraph all_waits() {
  WaitGraph graph;
  Sources& all = sources();
  const std::lock_guard lock(all.mutex);
  for (const auto& [number, notify] : all.all) notify(graph);
  return graph;
}

DeadlockReport find_deadlocks() { return all_waits().report(); }

void notify_waits() {
  WaitGraph graph = all_waits();
  (void)graph.report();
  graph.notify(false, 0);
}

std::string DeadlockReport::text() const {
  std::string text;
  for (const std::vector<std::string>& cycle : cycles) {
    text += "these wait for each other and can never proceed:\n";
    for (const std::string& member : cycle) text += "  " + member + ", which waits for\n";
    if (!cycle.empty()) text += "  " + cycle.front() + "\n";
  }
  for (const std::string& orphan : orphans) text += orphan + "\n";
  return text;
}

}  // namespace coord
