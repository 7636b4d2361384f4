// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much is in a trace, by meaning: the one place that counts for `info`, for reports and for the
// viewer.
#pragma once

#include "host_syncs.h"

namespace streamscope::analysis {

/// Rows by meaning; docs/trace-format.md says what each table holds.
struct Counts {
  uint64_t process = 0, thread = 0, device = 0, stream = 0;
  uint64_t op = 0, kernel = 0, memcpy = 0, memset = 0, host_function = 0;
  uint64_t page_migration = 0;  ///< those of memcpy that the driver made by itself (imports only)
  uint64_t api_call = 0;        ///< all traced calls, whichever of the four tables they stand in
  uint64_t event_record = 0;
  uint64_t event_wait = 0;  ///< stream waits
  uint64_t event_edge = 0;  ///< stream waits bound to a record in the trace
  uint64_t host_sync = 0;   ///< synchronize calls, which block
  uint64_t query = 0;       ///< event and stream queries, which do not
  uint64_t graph_launch = 0;
  uint64_t range = 0, mark = 0, operation = 0, barrier = 0, allocation = 0, task = 0;
  uint64_t dropped = 0;  ///< records known to be missing; not counted here
};

/// `tables` holds the tables that grow with the trace, plain as in Trace or packed; `trace` the
/// others. Linear in the rows.
template <class Tables>
Counts count_rows(const Trace& trace, const Tables& tables) {
  constexpr trace::Small kGraphLaunchCall = 29;  // of api_call.kind, as schema.sql lists them
  Counts counts;
  counts.process = trace.process.size();
  counts.thread = trace.thread.size();
  counts.device = trace.device.size();
  counts.stream = trace.stream.size();
  const auto& op = tables.op;
  counts.op = op.size();
  for (Id id = 0; id < op.size(); ++id) {
    const trace::Small kind = op.kind[id];
    counts.kernel += kind == trace::kKernel;
    counts.memcpy += kind == trace::kMemcpy;
    counts.memset += kind == trace::kMemset;
    counts.host_function += kind == trace::kHostFunction;
    counts.page_migration += kind == trace::kMemcpy && op.detail[id] >= trace::kFirstMigration;
  }
  counts.event_record = tables.event_record.size();
  counts.event_wait = tables.event_wait.size();
  for (const trace::Small binding : tables.event_wait.binding)
    counts.event_edge += binding == trace::kBindingExact;
  counts.api_call = tables.api_call.size() + counts.event_record + counts.event_wait;
  for (Id sync = 0; sync < tables.host_sync.size(); ++sync) {
    const trace::Small kind = tables.host_sync.kind[sync];
    const auto calls = static_cast<uint64_t>(trace::call_count(tables.host_sync, sync));
    counts.host_sync += is_blocking(kind);
    if (is_query(kind)) counts.query += calls;
    counts.api_call += calls;
  }
  for (const trace::Small kind : tables.api_call.kind)
    counts.graph_launch += kind == kGraphLaunchCall;
  counts.range = tables.range.size();
  counts.mark = trace.mark.size();
  counts.operation = tables.operation.size();
  counts.barrier = trace.barrier.size();
  counts.allocation = trace.allocation.size();
  counts.task = tables.task.size();
  return counts;
}

}  // namespace streamscope::analysis
