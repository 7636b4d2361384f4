// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace as the views need it: facts of every item, dependencies of every op, lanes with rows of
// intervals, and the results of the analyses.
//
// Made once, on a worker, from a trace::Trace; immutable once shown. Each part has one job and is
// passed alone to what needs only that.
#pragma once

#include <memory>
#include <vector>

#include "activity.h"
#include "dependency_index.h"
#include "diagnosis.h"
#include "insights.h"
#include "item_facts.h"
#include "lanes.h"
#include "pool_history.h"
#include "report/sections/info.h"
#include "trace/read/reader.h"
#include "waits.h"

namespace streamscope::viewer {

/// Thread-safe: all const.
class TraceModel {
 public:
  /// The ops of a sketch are cells of the pyramid (sketch.h), which have no names and cannot be
  /// selected. If there are more than `derive_up_to` ops and the trace has derived tables, they
  /// replace the analyses.
  explicit TraceModel(trace::Trace trace, bool is_sketch = false,
                      size_t derive_up_to = kDeriveUpTo);

  bool is_sketch() const { return is_sketch_; }
  /// Unique per model in the process, so that views know which one they prepared.
  uint64_t serial() const { return serial_; }
  /// The trace as read, without derived data.
  const trace::Trace& trace() const { return *trace_; }
  /// What `streamscope info` reports about the trace: state, counts, losses. For a sketch, about
  /// what it contains.
  const report::Info& info() const { return info_; }
  /// From the first to the last known instant; never empty.
  TimeRange extent() const { return extent_; }
  /// From the first to the last work on a device; the extent if no device time is known.
  TimeRange work() const { return work_; }

  const ItemFacts& items() const { return *items_; }
  const DependencyIndex& edges() const { return edges_; }
  const LaneSet& lanes() const { return lanes_; }
  const Activity& activity() const { return activity_; }
  // Results of the analyses; empty for a sketch.
  const Insights& insights() const { return results_.insights; }
  const Diagnosis& diagnosis() const { return results_.diagnosis; }
  const Waits& waits() const { return results_.waits; }
  const PoolHistory& pools() const { return pools_; }

 private:
  struct Results {
    std::vector<Dependency> dependencies;  // until edges_ takes them
    Waits waits;
    Insights insights;
    Diagnosis diagnosis;
  };
  static Results analyze(trace::Trace& trace, TimeRange work, bool is_sketch, size_t derive_up_to);

  std::unique_ptr<trace::Trace> trace_;  // parts refer to it, also once the model has moved
  bool is_sketch_;
  uint64_t serial_;
  TimeRange extent_, work_;
  Results results_;
  report::Info info_;
  std::unique_ptr<const ItemFacts> items_;  // like trace_
  DependencyIndex edges_;
  PoolHistory pools_;
  LaneSet lanes_;
  Activity activity_;
};

}  // namespace streamscope::viewer
