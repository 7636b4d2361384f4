// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds what a collective, or the end of an iteration, had to wait for on its own rank: the
// critical path back to the collective or the start of the iteration on which it depends.
//
// Older profiles of PyTorch do not say what streams and the host wait for. Where an op of such a
// trace starts late for no known reason, just after a collective on another stream ended, it
// depends on that collective; a collective depends on the op that ended just before it, and the
// host on the op that ended just before a synchronization returned.
//
// A collective on the host (MPI, gloo) waits for its thread, and what the thread does next waits
// for the collective. Where such a trace has no samples, its ranges say where the thread was.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/iterations/host_samples.h"
#include "analysis/iterations/step_shares.h"
#include "analysis/usage/collectives.h"
#include "files/rank_summary.h"
#include "host_places.h"

namespace streamscope::job {

/// Keeps references to its arguments. Thread-compatible.
class SegmentCutter {
 public:
  SegmentCutter(analysis::Analyses& analyses, const analysis::Iterations& iterations);

  /// Paths may begin at the ends of these collectives, which are in the order of issue. Call it
  /// first.
  void end_at(const std::vector<analysis::Collective>& collectives);

  using IndexOf = std::unordered_map<size_t, int32_t>;
  /// `number`: of the collective in the order of issue. `index_of`: by these numbers the indices of
  /// the iteration's own.
  Segment before(const analysis::Collective& collective, size_t number,
                 const analysis::Iteration& iteration, const IndexOf& index_of);
  Segment before_end(const analysis::Iteration& iteration, const IndexOf& index_of);

  /// What Segment::place refers to.
  std::vector<std::string> places() const { return places_; }

 private:
  using Path = std::vector<analysis::PathStep>;
  /// The end of a collective at which a path begins.
  struct Beginning {
    size_t collective;
    trace::Ns ended_ns;
  };
  Path path_to(const analysis::PathPart& part) const;
  Path path_to_host(trace::Id thread, trace::Ns at, size_t before, trace::Ns from) const;
  const Beginning* last_on_host(trace::Id thread, trace::Ns until, size_t before) const;
  std::optional<Beginning> begin(Path& path, size_t before) const;
  /// The end of a step that is replaced by steps from another op, which comes before them.
  struct Detour {
    trace::Id cause = trace::kNoId;
    Path steps;
  };
  template <class Wanted>
  trace::Id ended_before(trace::Ns from, trace::Ns to, Wanted wanted) const;
  Detour detour(const analysis::PathStep& step) const;
  Detour detour_of_op(const analysis::PathStep& step) const;
  Detour detour_of_host(const analysis::PathStep& step) const;
  Segment cut(Path path, trace::Ns to, size_t before, const analysis::Iteration& iteration,
              const IndexOf& index_of);
  void add(const analysis::PathStep& step, trace::Ns from, trace::Ns to, Segment& segment);
  void charge(uint32_t place, trace::Ns duration, bool host);
  void charge_launch(const analysis::PathStep& step, trace::Ns from, trace::Ns to);
  void charge_ranges(const analysis::PathStep& step, trace::Ns from, trace::Ns to);
  uint32_t place_of(const analysis::PathStep& step);
  uint32_t place_of_op(trace::Id op);
  uint32_t place(const std::string& text);

  analysis::Analyses& analyses_;
  const trace::Trace& trace_;
  const analysis::Iterations& iterations_;
  analysis::StepShares steps_;
  analysis::SamplesByThread samples_;
  std::vector<bool> ends_of_;                                      // by op
  std::unordered_map<trace::Id, size_t> collective_of_op_;         // those that end at an op
  std::unordered_map<trace::Id, std::vector<Beginning>> on_host_;  // by thread, by end
  std::optional<HostPlaces> host_places_;                          // if there are such
  // If it is unknown what some waited for:
  std::vector<trace::Id> by_end_;                                        // ops of the process
  std::unordered_map<trace::Id, std::vector<trace::Id>> unknown_syncs_;  // by thread, by return
  std::vector<std::string> places_{""};
  std::unordered_map<std::string, uint32_t> place_ids_{{"", 0}};
  using TimeAt = std::map<uint32_t, trace::Ns>;  // by place
  TimeAt at_place_, at_host_place_;              // of the segment
};

}  // namespace streamscope::job
