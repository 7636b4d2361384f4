// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "extent.h"

#include <algorithm>
#include <limits>
#include <string>

#include "trace/error.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

using trace::Ns;

void widen(Extent& extent, Ns from, Ns to) {
  if (from == trace::kUnknownNs) return;
  extent.begin_ns = std::min(extent.begin_ns, from);
  extent.end_ns = std::max({extent.end_ns, from, to});
}

template <class Columns>
void widen_by_rows(Extent& extent, const Columns& table) {
  for (size_t i = 0; i < table.size(); ++i) widen(extent, table.start_ns[i], table.end_ns[i]);
}

}  // namespace

Extent extent_of(const trace::Trace& trace) {
  Extent extent{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  widen_by_rows(extent, trace.op);
  widen_by_rows(extent, trace.api_call);
  widen_by_rows(extent, trace.event_record);
  widen_by_rows(extent, trace.event_wait);
  widen_by_rows(extent, trace.host_sync);
  widen_by_rows(extent, trace.range);
  const auto& operation = trace.operation;
  for (size_t i = 0; i < operation.size(); ++i) {
    for (const Ns at :
         {operation.registered_ns[i], operation.begun_ns[i], operation.completed_ns[i]})
      widen(extent, at, at);
  }
  const auto& task = trace.task;
  for (size_t i = 0; i < task.size(); ++i) {  // tasks on a GPU run within an op
    const Ns at = task.start_ns[i];
    widen(extent, at, at + std::max<trace::Int>(task.duration_ns[i], 0));
  }
  if (extent.begin_ns > extent.end_ns) extent = {0, 1'000'000};
  if (extent.begin_ns == extent.end_ns) extent.end_ns = trace::sum_of(extent.end_ns, 1);
  return extent;
}

Extent resolve(const TextRange& range, const Extent& extent) {
  const Extent resolved{range.first.resolve(extent.begin_ns, extent.end_ns),
                        range.second.resolve(extent.begin_ns, extent.end_ns)};
  if (resolved.end_ns <= resolved.begin_ns)
    throw Error("--range", "the range ends before it begins", "write FROM:TO with FROM before TO");
  if (resolved.end_ns <= extent.begin_ns || resolved.begin_ns >= extent.end_ns) {
    throw Error("--range", "the range is outside the trace",
                "the trace runs from " + std::to_string(extent.begin_ns) + "ns to " +
                    std::to_string(extent.end_ns) + "ns");
  }
  return resolved;
}

}  // namespace streamscope::analysis
