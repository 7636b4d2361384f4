// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ops that were ready, had room, and yet started only when unrelated work had: what hardware queues
// do to streams that share one.
#pragma once

#include <vector>

#include "../analyses.h"

namespace streamscope::analysis {

/// Longer than what the device and the profiler need to start something.
inline constexpr Ns kStallNs = 20'000;

struct Stall {
  Id op = kNoId;
  Id behind = kNoId;          ///< on another stream: what ended or started just before
  bool same_channel = false;  ///< both were given to the same hardware queue, for certain
  Ns lasted_ns = 0;
  size_t blocked_streams = 0;  ///< streams of the device that had work behind something unfinished
  size_t connections = 8;      ///< hardware queues of the device
  /// So many blocked streams can stall others: seen on an H200 with every number of queues.
  bool exhausted() const { return blocked_streams + 1 >= connections; }
};

/// In order of start. O(n log n).
std::vector<Stall> find_stalls(Analyses& analyses);

}  // namespace streamscope::analysis
