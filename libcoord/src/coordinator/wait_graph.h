// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The wait-for graph behind find_deadlocks(): every part of libcoord that can wait adds its nodes
// and edges.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "coord/deadlock.h"
#include "coord/observer.h"
#include "host/ticks.h"

namespace coord {

/// Thread-compatible.
class WaitGraph {
 public:
  /// A node by its key, unique in the process; created on first use. `object` as in
  /// coord_wait_party.
  std::size_t node(coord_wait_party_kind kind, const std::string& key,
                   const std::string& label = {}, std::uint64_t object = 0);
  /// A host thread, by its number.
  std::size_t thread(std::uint64_t number);
  void edge(std::size_t from, std::size_t to) { nodes_[from].waits_for.push_back(to); }
  /// The node is in a stream at `order` (take_order()): it waits for earlier nodes of the stream.
  void in_stream(std::size_t node, std::uint64_t stream, std::uint64_t order);
  /// No one has promised what it waits for.
  void orphan(std::size_t node) { nodes_[node].orphan = true; }

  /// Call once, after adding all nodes and edges.
  [[nodiscard]] DeadlockReport report();
  /// After report(): reports to the observer what leads to an orphan or a cycle.
  void notify(bool given_up, std::int64_t time_ns) const;
  /// After report() has found a cycle that includes a thread: notifies the observer, and throws
  /// kDeadlock from the host wait `call`.
  [[noreturn]] void give_up(const char* call, const DeadlockReport& report,
                            std::int64_t time_ns) const;

 private:
  struct Node {
    coord_wait_party_kind kind;
    std::uint64_t object;
    std::string label;
    std::vector<std::size_t> waits_for;
    bool orphan = false;
    bool in_cycle = false;
  };
  struct Place {
    std::uint64_t order;
    std::size_t node;
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_map<std::uint64_t, std::vector<Place>> streams_;
};

/// Adds to the graph while it lives. Thread-safe; the function must not create or destroy sources.
class WaitGraphSource {
 public:
  explicit WaitGraphSource(std::function<void(WaitGraph&)> notify);
  ~WaitGraphSource();
  WaitGraphSource(const WaitGraphSource&) = delete;
  WaitGraphSource& operator=(const WaitGraphSource&) = delete;

 private:
  std::uint64_t number_;
};

/// Position in the order of submissions to a stream: the time on the host's counter.
inline std::uint64_t take_order() noexcept { return ticks(); }

/// Name of a host thread in labels.
std::string thread_label(std::uint64_t number);

/// The current graph of all sources. Takes their locks, as find_deadlocks() does.
[[nodiscard]] WaitGraph all_waits();

/// Reports all waits that may never end to the observer; for its waits_on_request().
void notify_waits();

}  // namespace coord
