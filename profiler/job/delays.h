// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The causes of delay that cost a job most: what ranks spend beyond their peers on the critical
// path across ranks, each with what the job would save without it.
#pragma once

#include "replay.h"

namespace streamscope::job {

struct Delay {
  std::vector<int32_t> ranks;  ///< that it comes from, sorted; empty: another rank each time
  analysis::TimeShare share = analysis::TimeShare::kUnknown;
  std::string place;      ///< source line, kernel, or the collective that others overlap with work
  bool exposed = false;   ///< `place` is such a collective
  bool has_peers = true;  ///< else `ranks` are compared with their own other iterations
  double excess_ns = 0;   ///< per iteration, beyond the peers: mean of `ranks`, sum if changing
  double cost_ns = 0;     ///< per iteration of the job, once the delays before it are gone
};

/// The share of an iteration that a delay must cost to be worth a line. That the slowest of many
/// ranks differs a little in each iteration is normal, so what does not happen in nearly every
/// iteration must cost more.
inline constexpr double kLeastCost = 0.02, kLeastChangingCost = 0.05;

/// At most `limit`, most costly first. Work is compared with that of peers; what is within the
/// noise of an iteration is left alone. O(limit * steps).
std::vector<Delay> costliest_delays(const Steps& steps, const Peers& peers, const Replay& replay,
                                    const Scenario& measured, size_t limit);

/// Makes the work of some ranks, by row, as that of their peers: what they have more is gone.
void make_as_peers(const Steps& steps, const Peers& peers, const Replay& replay,
                   std::span<const uint32_t> rank_rows, Scenario& scenario);

}  // namespace streamscope::job
