// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pool_history.h"

#include <algorithm>

#include "analysis/call_sites.h"

namespace streamscope::viewer {
namespace {

using analysis::PoolUsage;

PoolCurve curve_of(const PoolUsage& pool) {
  const Counter::Unit unit =
      pool.kind == trace::kMemoryPool ? Counter::Unit::kBytes : Counter::Unit::kCount;
  PoolCurve curve{Counter(pool.capacity, unit), Counter(pool.capacity, unit)};
  for (size_t i = 0; i < pool.steps.size(); ++i) {
    const PoolUsage::Step& step = pool.steps[i];
    // Of several steps at one instant, only the last counts.
    if (i + 1 < pool.steps.size() && pool.steps[i + 1].at_ns == step.at_ns) continue;
    curve.in_use.push(step.at_ns, step.in_use);
    curve.made.push(step.at_ns, step.in_use + step.available);
  }
  curve.in_use.finish();
  curve.made.finish();
  return curve;
}

}  // namespace

PoolHistory::PoolHistory(const trace::Trace& trace, const std::vector<PoolUsage>& pools)
    : trace_(trace) {
  if (pools.empty()) return;
  std::ranges::transform(pools, std::back_inserter(curves_), curve_of);
  creators_ = analysis::find_creators(trace);
  call_sites_ = analysis::call_sites(trace);
  const bool counts_events = std::ranges::any_of(
      pools, [](const PoolUsage& pool) { return pool.derived && pool.kind == trace::kEventPool; });
  if (!counts_events) return;
  const auto& record = trace.event_record;
  records_of_event_ = Grouping(trace.event.size(), record.size(),
                               [&](uint32_t row) { return record.event_id[row]; });
  records_of_event_.sort_each([&](uint32_t row) -> Ns { return record.start_ns[row]; });
}

trace::Id PoolHistory::last_record(trace::Id event, Ns at) const {
  const auto rows = records_of_event_.of(event);
  const auto after = std::ranges::upper_bound(
      rows, at, {}, [&](uint32_t row) -> Ns { return trace_.event_record.start_ns[row]; });
  return after == rows.begin() ? trace::kNoId : *(after - 1);
}

}  // namespace streamscope::viewer
