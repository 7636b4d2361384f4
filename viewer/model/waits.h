// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why every op of a trace started late, packed: a trace has about as many parts of waits as ops.
#pragma once

#include <optional>
#include <vector>

#include "analysis/delay/wait_groups.h"
#include "per_iteration.h"
#include "timeline/timeline_layout.h"
#include "trace/packed.h"
#include "trace/read/reader.h"

namespace streamscope::viewer {

/// Similar waits of the steady part, and what they take of an iteration.
struct SteadyWaits {
  analysis::WaitGroup group;
  PerIteration each;
};

/// Those that most iterations have, and what takes most of an iteration first; none without
/// iterations.
std::vector<SteadyWaits> steady_waits(const trace::Trace& trace, const analysis::Edges& edges,
                                      const std::vector<analysis::WaitPart>& parts,
                                      const analysis::Iterations& iterations);

/// Parts of waits, in the order of ops. Filled once, then thread-safe.
class Waits {
 public:
  /// The trace outlives it.
  explicit Waits(const trace::Trace& trace) : trace_(trace) {}

  void push(const analysis::WaitPart& part);
  void finish();
  void set_groups(std::vector<SteadyWaits> steady, std::vector<analysis::WaitGroup> all) {
    steady_ = std::move(steady);
    groups_ = std::move(all);
  }

  size_t size() const { return op_.size(); }
  analysis::WaitPart operator[](size_t index) const;
  /// Why an op started after its stream was free, in order of time; empty if it did not.
  std::vector<analysis::WaitPart> of(trace::Id op) const;
  const std::vector<SteadyWaits>& steady() const { return steady_; }
  /// Groups of similar waits of the whole run, the longest first.
  const std::vector<analysis::WaitGroup>& groups() const { return groups_; }
  /// The single waits that are grouped: the longest first, at most `count`; with a range, only
  /// waits of ops that began in it.
  std::vector<analysis::WaitPart> longest(size_t count, std::optional<TimeRange> range = {}) const;

 private:
  const trace::Trace& trace_;
  Packed<trace::Id> op_, edge_, because_;
  Packed<trace::Small> cause_;
  Packed<trace::Int> duration_ns_;
  std::vector<SteadyWaits> steady_;
  std::vector<analysis::WaitGroup> groups_;
};

}  // namespace streamscope::viewer
