// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the lanes of a trace are made: process -> device -> stream, then libcoord's operations and
// tasks, pools, then host threads.
#pragma once

#include <span>
#include <string>

#include "dependency_index.h"
#include "insights.h"
#include "lanes.h"
#include "pool_history.h"

namespace streamscope::viewer {

/// What lanes are made of.
struct LaneSources {
  const trace::Trace& trace;
  TimeRange extent;
  bool is_sketch;
  const ItemFacts& items;
  const DependencyIndex& edges;
  const Waits& waits;
  const Insights& insights;
  const PoolHistory& pools;
};

/// Used once, then thrown away.
class LaneBuilder {
 public:
  explicit LaneBuilder(const LaneSources& from)
      : trace_(from.trace), from_(from), lanes_(from.trace, from.items) {}
  LaneSet build();

 private:
  // lane_builder.cpp
  void add_process(Id process);
  void add_streams(Id process, int parent);
  Lane stream_lane(Id id, int parent, std::span<const Id> ops) const;
  void add_operations(Id process, int parent);
  void add_threads(Id process, int parent);
  void add_samples(Id thread, int parent);
  void add_instants();
  void add_waits();
  void add_path();
  size_t add(Lane lane);

  // gpu_lanes.cpp
  void add_gpu_ranges(Id process, Id device, int parent);
  void add_copies(std::span<const Id> streams, int parent);

  // counter_lanes.cpp
  void add_device_counters(std::span<const Id> streams, int parent);
  void add_pools(Id process, int parent);
  void add_counter(Counter counter, std::string title, std::string detail, int parent);

  // task_lanes.cpp
  void add_tasks(Id process, Id device, int parent);

  const trace::Trace& trace_;
  const LaneSources from_;
  LaneSet lanes_;
};

}  // namespace streamscope::viewer
