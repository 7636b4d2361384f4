// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who held elements of a pool at an instant, in words for the pools panel.
#pragma once

#include <string>
#include <vector>

#include "trace_model.h"

namespace streamscope::viewer {

struct Holder {
  std::string name;     ///< "load batch 3", "event 12", "4 MiB"
  std::string details;  ///< "on copies, train.cpp:41 step"; may be empty
  Ns since_ns = 0;
};

struct Holders {
  size_t count = 0;            ///< all of them
  std::vector<Holder> oldest;  ///< at most as many as requested
};

/// O(most * log n).
Holders holders_at(const TraceModel& model, const analysis::PoolUsage& pool, Ns at, size_t most);
/// Those that never returned what they held.
Holders endless_holders(const TraceModel& model, const analysis::PoolUsage& pool, size_t most);

}  // namespace streamscope::viewer
