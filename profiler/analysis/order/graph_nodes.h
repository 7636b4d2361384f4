// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The order inside CUDA graphs: which node of a launch runs after which other node.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// Immutable; keeps no references. Nodes that have no op of their own (empty nodes, host nodes) are
/// skipped.
class GraphNodes {
 public:
  explicit GraphNodes(const Trace& trace);

  bool empty() const { return node_.empty(); }
  /// The row of graph_node for the native id of ops in this process; kNoId if the trace does not
  /// contain it.
  Id node(Id process, trace::Int native_id) const;
  /// Nodes that must end before this one starts.
  std::span<const Id> before(Id node) const {
    return {edges_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  /// Nodes that start after this one has ended.
  std::span<const Id> after(Id node) const {
    return {successors_.data() + first_successor_[node],
            first_successor_[node + 1] - first_successor_[node]};
  }
  /// True if a path leads from one node to the other. O(edges between).
  bool ordered(Id from, Id to) const;

 private:
  struct Key {
    Id process;
    trace::Int native_id;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (static_cast<size_t>(key.native_id) * 0x9e3779b97f4a7c15u) ^ key.process;
    }
  };
  std::unordered_map<Key, Id, Hash> node_;
  std::vector<size_t> first_, first_successor_;
  std::vector<Id> edges_, successors_;
};

}  // namespace streamscope::analysis
