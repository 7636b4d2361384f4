// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Replays a job: every rank works, a collective ends when its last rank has arrived plus its own
// duration, and not before the hosts have called it. With other lengths it answers what-ifs;
// backward it gives the critical path.
#pragma once

#include "waiting.h"

namespace streamscope::job {

/// What a replay goes by. Slots are indices into Matching::members, so that a replay reads memory
/// in order.
struct Scenario {
  std::vector<Ns> work_ns;      ///< by slot
  std::vector<uint32_t> after;  ///< by slot: group on which it depends; kNone: start of the rank
  std::vector<Ns> called_ns;    ///< by slot: the host calls it not earlier, on one clock
  std::vector<Ns> own_ns;       ///< by group
  std::vector<Ns> start_ns;     ///< by rank row: when its first iteration starts, on one clock
};

/// Empty, with memory for as many as `other` has.
Scenario reserved_like(const Scenario& other);

/// A stretch of the critical path: a step's work, then its collective.
struct Hop {
  uint32_t step;
  Ns work_ns;  ///< 0 if the collective was held up by the one before it on its stream
  Ns own_ns;
};

/// Borrows its arguments.
class Replay {
 public:
  Replay(const Steps& steps, const Matching& matching, const Peers& peers);

  /// What was measured. `starts`: as Scenario::start_ns; empty: all at 0.
  Scenario measured(const Waiting& waiting, std::vector<Ns> starts = {}) const;

  /// When each group ends, into memory that can serve again. O(steps).
  void find_ends(const Scenario& scenario, std::vector<Ns>& ends) const;
  std::vector<Ns> ends(const Scenario& scenario) const {
    std::vector<Ns> ends;
    find_ends(scenario, ends);
    return ends;
  }

  /// Mean duration of an iteration of the job.
  double iteration_ns(const Scenario& scenario, const std::vector<Ns>& ends) const;

  /// Back from the end of the last iteration of the last rank, latest first.
  std::vector<Hop> critical_path(const Scenario& scenario, const std::vector<Ns>& ends) const;

  uint32_t slot_of(uint32_t step) const { return matching_.slots[step]; }
  /// Lets a step take another time, and depend on another step of its rank or kNone.
  void set(Scenario& scenario, uint32_t step, Ns work_ns, uint32_t after) const {
    scenario.work_ns[slot_of(step)] = work_ns;
    scenario.after[slot_of(step)] = after == kNone ? kNone : steps_.group[after];
  }

  /// Lets the host call a step earlier.
  void call_earlier(Scenario& scenario, uint32_t step, Ns saved_ns) const {
    Ns& called_ns = scenario.called_ns[slot_of(step)];
    if (called_ns != trace::kUnknownNs) called_ns -= saved_ns;
  }

  /// Groups that wait for each other in a circle, as ranks call them in another order; they are
  /// replayed last.
  uint32_t circular_count() const { return circular_count_; }

 private:
  void set_calls(uint32_t rank, Scenario& scenario) const;
  Ns ready_ns(const Scenario& scenario, const std::vector<Ns>& ends, uint32_t slot) const;

  const Steps& steps_;
  const Matching& matching_;
  std::vector<uint32_t> queued_;  // by slot: group before it on its stream; kNone: none
  std::vector<uint32_t> order_;   // groups
  uint32_t circular_count_ = 0;
};

}  // namespace streamscope::job
