// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One answer for a job of many ranks: what does not match, who holds the others up and why, what
// that costs, and what would help.
#pragma once

#include "awaited.h"
#include "clocks.h"
#include "delays.h"
#include "overlap.h"

namespace streamscope::job {

/// A rank whose own work makes others wait.
struct Straggler {
  uint32_t rank_row = 0;
  double caused_ns = 0;     ///< waiting of all others, per iteration
  uint32_t iterations = 0;  ///< in which it caused more than any other rank
};

struct WhatIf {
  std::string text;  ///< "rank 5 as fast as its peers"
  double iteration_ns = 0;
};

struct Job {
  Steps steps;
  Matching matching;
  std::vector<RankClock> clocks;  ///< by rank row
  Peers peers;
  Waiting waiting;

  std::vector<Ns> durations_ns;    ///< of iterations, by number: the median over ranks
  double iteration_ns = 0;         ///< as measured: their mean
  double replayed_ns = 0;          ///< the same by the replay; how far off tells how good it is
  std::vector<Hop> critical_path;  ///< across ranks and iterations, latest first
  std::vector<Delay> delays;       ///< at most three, most costly first
  std::vector<std::string> delay_sentences;
  std::vector<AwaitedRank> awaited;  ///< at most three
  std::vector<WhatIf> what_ifs;
  std::vector<Straggler> stragglers;  ///< that caused any waiting, most first
  std::vector<Overlap> overlap;       ///< by rank row

  /// The mean of what all other ranks waited together for one rank.
  double each_other_ns(double all_ns) const;
  /// For a heat map, by row of Steps::iterations: what each other rank waited in the mean because
  /// of this rank's own work.
  double late_ns(uint32_t iteration_row) const;
  /// "-12 %", of the replayed iteration.
  std::string effect_of(const WhatIf& what_if) const;
};

/// Reads no clock but where it joins the first iterations of ranks. About 1 s per million steps.
Job analyze(Steps steps);

}  // namespace streamscope::job
