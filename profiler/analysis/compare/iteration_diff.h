// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares the iterations of two runs: how long they take, what grew, and at which line.
#pragma once

#include <string>
#include <vector>

#include "analysis/iterations/host_pace.h"
#include "analysis/iterations/iteration_model.h"
#include "rank_test.h"

namespace streamscope::analysis {

/// The steady iterations of one run. Durations are per iteration.
struct ComparedIterations {
  size_t count = 0;
  Ns median_ns = 0, low_ns = 0, high_ns = 0;  ///< `low` and `high` are the quartiles
  Ns mean_ns = 0;
  Shares mean_shares_ns{};  ///< sum to the mean
  double launch_count = 0;  ///< mean
  HostPace pace;
};

/// What the host did at one place of the program, per iteration.
struct PlaceChange {
  enum Kind : uint8_t {
    kSynchronization,  ///< time in a call that blocks, by its name
    kLateLaunch,       ///< gaps before work that the host issued late, by the label of the work
  } kind = kSynchronization;
  std::string name;
  std::string call_site;  ///< "train.py:41 step", in the new run if it is there; "": unknown
  Ns base_ns = 0, new_ns = 0;
  double base_count = 0, new_count = 0;

  Ns growth_ns() const { return new_ns - base_ns; }
};

struct IterationDiff {
  std::string how;      ///< how iterations were found; "" if they cannot be compared
  std::string why_not;  ///< why they cannot be compared
  ComparedIterations base, now;
  RankTest test;  ///< of the durations of the steady iterations
  /// Places whose time changed, by the size of the change; the largest kMostPlaces.
  std::vector<PlaceChange> places;

  bool comparable() const { return why_not.empty(); }
  /// True if chance does not explain the difference of the durations.
  bool is_significant() const { return test.p_value < kSignificance; }
  Ns growth_ns(TimeShare share) const {
    const auto index = static_cast<size_t>(share);
    return now.mean_shares_ns[index] - base.mean_shares_ns[index];
  }
  /// How many times as slow the host of the new run is if it launches as often: at everything,
  /// which is the machine rather than a place of the program. 1: equally fast, or not known.
  double host_slowdown() const;
  /// The share that grew most.
  TimeShare most_grown() const;

  static constexpr double kSignificance = 0.01;
  static constexpr size_t kMostPlaces = 100;
};

/// Iterations are looked for as both analyses were asked to. Both runs must have iterations that
/// were found in the same way.
IterationDiff compare_iterations(Analyses& base, Analyses& now);

/// The same of durations alone, without shares and places; of each at least one. `how`: what they
/// are durations of.
IterationDiff compare_durations(std::string how, const std::vector<Ns>& base,
                                const std::vector<Ns>& now);

}  // namespace streamscope::analysis
