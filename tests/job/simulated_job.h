// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A training job of many ranks with tensor, pipeline and data parallelism, simulated call by call:
// a host issues work, a device runs it in order, collectives run on streams of their own and wait
// for every rank. Durations are noisy, clocks of hosts are wrong, and one thing may be planted that
// holds the job up.
#pragma once

#include <optional>
#include <random>

#include "job/files/rank_summary.h"

namespace streamscope::job {

enum class Fault : uint8_t {
  kNone,
  kLateHost,        ///< one call of the host takes long
  kSlowKernel,      ///< one kernel takes longer than on the other ranks
  kSlowRank,        ///< all kernels do
  kExtraSync,       ///< the host waits for the device in the middle of the iteration
  kSlowLoader,      ///< loading data takes long
  kMissingOverlap,  ///< the device waits for reductions of gradients that others overlap
  kImbalance,       ///< another rank each iteration has more to compute
  kMixedOrder,      ///< two collectives in another order
};
inline constexpr int kFaultCount = 9;

struct JobPlan {
  int ranks = 8;
  int tensor = 1, pipeline = 1;  ///< sizes; the rest is data parallel
  int iterations = 10;
  int layers = 4;             ///< of each pipeline stage
  bool runs_ahead = false;    ///< hosts wait for their devices only where the fault makes them
  double device_factor = 1;   ///< of the times of kernels and collectives
  double hosts_apart_ms = 0;  ///< hosts start by chance up to so much later
  Fault fault = Fault::kNone;
  uint32_t seed = 1;

  int data() const { return ranks / (tensor * pipeline); }
};

/// Sizes and a seed by chance, so that the fault can show.
JobPlan random_plan(int ranks, Fault fault, uint32_t seed);

struct SimulatedJob {
  std::vector<RankSummary> summaries;
  int32_t faulty_rank = -1;
  std::string faulty_place;  ///< "": in many places
  analysis::TimeShare faulty_share = analysis::TimeShare::kUnknown;
  std::vector<double> offset_ns;  ///< by rank: its clock at the start less the true time
  std::vector<double> drift;      ///< by rank: what its clock gains per second, in seconds
  Ns duration_ns = 0;             ///< of all iterations, in true time
};

SimulatedJob simulate(const JobPlan& plan);

}  // namespace streamscope::job
