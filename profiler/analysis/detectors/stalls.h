// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds ops that were ready and had free capacity but started only after unrelated work: the effect
// of streams that share a hardware queue.
#pragma once

#include <vector>

#include "../analyses.h"

namespace streamscope::analysis {

/// Longer than what the device and the profiler need to start something.
inline constexpr Ns kStallNs = 20'000;

struct Stall {
  Id op = kNoId;
  Id behind = kNoId;          ///< the op on another stream that ended or started just before
  bool same_channel = false;  ///< both certainly used the same hardware queue
  Ns lasted_ns = 0;
  size_t blocked_streams = 0;  ///< streams of the device with work behind something unfinished
  size_t connections = 8;      ///< hardware queues of the device; 8 by default on all GPUs
  /// This many blocked streams can stall others: measured on an H200 with every number of queues.
  bool exhausted() const { return blocked_streams + 1 >= connections; }
};

/// Ordered by start. O(n log n).
std::vector<Stall> find_stalls(Analyses& analyses);

}  // namespace streamscope::analysis
