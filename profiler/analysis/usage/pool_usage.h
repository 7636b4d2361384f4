// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How full pools were over time: those that libcoord told of, and what can be told without it from
// when streams, events and memory were made and given up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "lifetimes.h"

namespace streamscope::analysis {

struct PoolUsage {
  std::string name;
  trace::PoolKind kind = trace::kEventPool;
  bool derived = false;  ///< from calls; nobody said that it was a pool
  Id process_id = kNoId;
  trace::Int capacity = trace::kNoInt;  ///< elements, bytes of memory; kNoInt: no limit

  struct Step {
    Ns at_ns;
    trace::Int in_use;
    trace::Int available;  ///< made and free; 0 where it is not known
  };
  std::vector<Step> steps;  ///< each holds until the next; by time
  trace::Int high_water = 0;
  uint64_t taken = 0;   ///< how often the number in use grew
  uint64_t waits = 0;   ///< acquisitions that had to wait, as far as samples tell
  Ns wait_ns = 0;       ///< for how long
  trace::Int left = 0;  ///< in use at the end: leaked, unless the program ended with them
  /// Derived pools: streams, events or allocations, by their rows. Others: see pool_holders.h.
  std::shared_ptr<const Lifetimes> holders;
};

/// Pools of libcoord in order of id, then the derived ones of every process, without those in which
/// nothing happened. O(rows log rows).
std::vector<PoolUsage> pool_usage(const Trace& trace);

}  // namespace streamscope::analysis
