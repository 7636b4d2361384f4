// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How full the pools of a trace were over time, and where their elements came from.
#pragma once

#include <string>
#include <vector>

#include "analysis/usage/pool_holders.h"
#include "counters.h"
#include "grouping.h"
#include "trace/read/reader.h"

namespace streamscope::viewer {

/// How full a pool was over time.
struct PoolCurve {
  Counter in_use;
  Counter made;  ///< in use or free
};

/// Empty without pools. Thread-safe: all const.
class PoolHistory {
 public:
  /// The trace outlives it.
  PoolHistory(const trace::Trace& trace, const std::vector<analysis::PoolUsage>& pools);

  /// In the order of Insights::pools.
  const std::vector<PoolCurve>& curves() const { return curves_; }
  const analysis::Creators& creators() const { return creators_; }
  /// By stack.
  const std::vector<std::string>& call_sites() const { return call_sites_; }
  /// The newest record of an event at an instant, or kNoId; only for events created while this was
  /// recorded.
  trace::Id last_record(trace::Id event, Ns at) const;

 private:
  const trace::Trace& trace_;
  std::vector<PoolCurve> curves_;
  analysis::Creators creators_;
  std::vector<std::string> call_sites_;
  Grouping records_of_event_;  // event_records by time; empty unless events are counted
};

}  // namespace streamscope::viewer
