// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Counts what a trace contains, by meaning, for `info`, the reports and the viewer.
#pragma once

#include <optional>
#include <string>

#include "stream_ops.h"

namespace streamscope::analysis {

/// Rows by meaning; docs/trace-format.md describes the tables.
struct Counts {
  uint64_t process = 0, thread = 0, device = 0, stream = 0;
  uint64_t op = 0, kernel = 0, memcpy = 0, memset = 0, host_function = 0;
  uint64_t page_migration = 0;  ///< memcpys that the driver made by itself (imports only)
  uint64_t api_call = 0;        ///< all traced calls, in all four tables
  uint64_t event_record = 0;
  uint64_t event_wait = 0;  ///< stream waits
  uint64_t event_edge = 0;  ///< stream waits bound to a record in the trace
  uint64_t host_sync = 0;   ///< synchronize calls, which block
  uint64_t query = 0;       ///< event and stream queries, which do not block
  uint64_t graph_launch = 0;
  uint64_t range = 0, mark = 0, operation = 0, barrier = 0, allocation = 0, task = 0;
  uint64_t iteration = 0;  ///< found when the trace was finished
  uint64_t dropped = 0;    ///< records known to be missing; not counted here

  bool operator==(const Counts&) const = default;
};

/// Linear in the rows.
Counts count_rows(const Trace& trace);

/// Counts and the end of a trace, as stored with its derived tables (meta `counts`), so that a
/// large trace need not be read for them.
struct StoredCounts {
  Counts counts;
  Ns end_ns = 0;
};
inline constexpr char kCountsKey[] = "counts";
std::string counts_to_store(const Trace& trace);
/// Empty if none are stored or if they do not match the rows of the trace. The number of rows of
/// all tables of `trace` must be known (trace::ReadOptions::count_others).
std::optional<StoredCounts> stored_counts(const Trace& trace);

}  // namespace streamscope::analysis
