// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much time the host lost in synchronizations, per call site. host_time.h has it per thread and
// interval.
#pragma once

#include <vector>

#include "analysis/iterations/iteration_series.h"
#include "analysis/stream_ops.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {

/// What a copy of at most so many bytes costs the host that waits for it is that it waits.
inline constexpr trace::Int kMostSmallBytes = 64 << 10;
inline bool is_small_copy(const Trace& trace, Id op) {
  return trace.op.bytes[op] >= 0 && trace.op.bytes[op] <= kMostSmallBytes;  // kNoInt is negative
}
/// True for a small copy to the host.
inline bool reads_value(const Trace& trace, Id op) {
  return trace.op.kind[op] == trace::kMemcpy && trace.op.detail[op] == CopyKind::kDeviceToHost &&
         is_small_copy(trace, op);
}

/// True for the kinds in which the host blocks until the device is done.
inline bool is_blocking(trace::Small kind) {
  return kind == trace::kDeviceSynchronize || kind == trace::kStreamSynchronize ||
         kind == trace::kEventSynchronize;
}
/// True for a call in which the host waits for the device: a synchronization of the kinds above, or
/// a synchronous copy.
inline bool blocks_host(const Trace& trace, Id host_sync) {
  const trace::Small kind = trace.host_sync.kind[host_sync];
  return is_blocking(kind) || kind == trace::kSynchronousCopy;
}
/// True for successful synchronizations in which the host may block, except queries and copies.
bool is_blocking_sync(const Trace& trace, Id host_sync);
/// True for the kinds that query whether work is done and return immediately.
inline bool is_query(trace::Small kind) {
  return kind == trace::kStreamQuery || kind == trace::kEventQuery;
}

/// All synchronizations of one kind by one process, on one target, from one call site.
struct SyncGroup {
  trace::HostSyncKind kind = trace::kDeviceSynchronize;
  Id process_id = kNoId;
  Id name_id = kNoId;
  Id stream_id =
      kNoId;  ///< kStreamSynchronize, and kEventSynchronize if the record is known: whose work
  Id stack_id = kNoId;
  size_t count = 0;
  size_t steady_count = 0;  ///< of these, in the steady part and returned
  IterationSeries times;    ///< by the iteration in which they began
  Ns longest_ns = 0;        ///< in the steady part, if any is in it
  size_t open_count = 0;    ///< did not return during recording; not in the times

  /// Adds one of the same place.
  void add(const SyncGroup& other);
};

/// Blocking synchronizations, most costly first. Queries are left out. `slots` are those of the
/// host.
std::vector<SyncGroup> host_syncs_by_cost(const Trace& trace, IterationSlots slots = {});

}  // namespace streamscope::analysis
