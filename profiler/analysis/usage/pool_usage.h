// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pool usage over time: the pools that libcoord reports, and pools derived from when streams,
// events and memory were created and destroyed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/stream_ops.h"
#include "lifetimes.h"

namespace streamscope::analysis {

struct PoolUsage {
  std::string name;
  trace::PoolKind kind = trace::kEventPool;
  bool derived = false;  ///< derived from calls, not reported as a pool
  Id process_id = kNoId;
  trace::Int capacity = trace::kNoInt;  ///< elements, bytes of memory; kNoInt: no limit

  struct Step {
    Ns at_ns;
    trace::Int in_use;
    trace::Int available;  ///< created and free; 0 if unknown
  };
  std::vector<Step> steps;  ///< by time; each is valid until the next
  trace::Int high_water = 0;
  uint64_t taken = 0;   ///< how often the number in use grew
  uint64_t waits = 0;   ///< acquisitions that had to wait, as far as samples show
  Ns wait_ns = 0;       ///< for how long
  trace::Int left = 0;  ///< in use at the end: leaked, unless the program ended with them
  /// Derived pools: streams, events or allocations, by their rows. Others: see pool_holders.h.
  std::shared_ptr<const Lifetimes> holders;
};

/// libcoord's pools by id, then the derived pools of every process; unused pools are omitted.
/// O(rows log rows).
std::vector<PoolUsage> pool_usage(const Trace& trace);

}  // namespace streamscope::analysis
