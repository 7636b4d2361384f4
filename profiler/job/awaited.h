// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What others wait for where nothing says how much of it is usual: a rank that no other resembles,
// such as a stage of a pipeline.
#pragma once

#include <string>
#include <vector>

#include "peers.h"
#include "waiting.h"

namespace streamscope::job {

/// A rank without peers that others wait for while it does work of its own.
struct AwaitedRank {
  uint32_t rank_row = 0;
  double waits_ns = 0;  ///< of all others together, per iteration
  analysis::TimeShare share = analysis::TimeShare::kUnknown;  ///< what it does most meanwhile
  std::string place;    ///< where most of that comes from; "": many places
  double share_ns = 0;  ///< the part of `waits_ns` in which it does that
};

/// Those that others wait for during at least `least_ns` of an iteration, most awaited first.
/// O(collectives log ranks).
std::vector<AwaitedRank> awaited_without_peers(const Steps& steps, const Peers& peers,
                                               const Waiting& waiting, double least_ns);

/// "rank 1 makes others wait 10.9 ms per iteration, of which host outside CUDA at loader.py:12 is
/// 10.2 ms; ..."
std::string sentence_of(const Steps& steps, const AwaitedRank& awaited);

}  // namespace streamscope::job
