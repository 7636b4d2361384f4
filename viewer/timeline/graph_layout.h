// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Positions of the nodes in the dependency graph: rows are streams, columns are layers of time.
//
// A node is a run of ops of one stream that edges of other streams enter or leave only at its ends,
// so that a graph shows coordination and not every kernel. Independent of ImGui.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace_model.h"

namespace streamscope::viewer {

struct GraphNode {
  uint32_t row = 0, layer = 0;
  Id first_op = kNoId, last_op = kNoId;
  uint32_t count = 0;  ///< ops
  TimeRange time;
  bool on_path = false;  ///< the critical path goes through it
};

struct GraphEdge {
  uint32_t from = 0, to = 0;  ///< nodes
  trace::EdgeKind kind = trace::kFifoEdge;
  uint32_t dependency = kNoDependency;  ///< of the model; none for stream order
  bool on_path = false;

  static constexpr uint32_t kNoDependency = UINT32_MAX;
};

struct GraphLayout {
  std::vector<size_t> lanes;             ///< by row: lane of its stream
  std::vector<GraphNode> nodes;          ///< by layer, then by row; no two in one place
  std::vector<GraphEdge> edges;          ///< by layer of `from`
  std::vector<uint32_t> node_of;         ///< by op; kNoNode if it has none
  std::vector<uint32_t> first_of_layer;  ///< index into nodes, plus the end
  uint32_t longest_edge = 1;             ///< most layers that an edge spans

  static constexpr uint32_t kNoNode = UINT32_MAX;
  size_t layer_count() const { return first_of_layer.empty() ? 0 : first_of_layer.size() - 1; }
};

/// Which ops a graph shows.
struct GraphFilter {
  std::optional<TimeRange> within;  ///< only those that run or were issued in it
  std::vector<bool> lanes;          ///< by lane: only streams with true; empty: all
  Id group = kNoId;                 ///< only those of this group of operations; kNoId: all

  bool operator==(const GraphFilter&) const = default;
};

/// O((ops + edges) log ops).
GraphLayout lay_out_graph(const TraceModel& model, const GraphFilter& filter = {});

}  // namespace streamscope::viewer
