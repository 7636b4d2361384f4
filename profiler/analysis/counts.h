// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much is in a trace, by meaning: the one place that counts for `info`, for reports and for the
// viewer.
#pragma once

#include <optional>
#include <string>

#include "timeline.h"

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

  bool operator==(const Counts&) const = default;
};

/// Linear in the rows.
Counts count_rows(const Trace& trace);

/// Counts and the end of a trace, as stored with its derived tables (meta `counts`), so that a
/// large one is not read for them.
struct StoredCounts {
  Counts counts;
  Ns end_ns = 0;
};
inline constexpr char kCountsKey[] = "counts";
std::string counts_to_store(const Trace& trace);
/// Nothing if none are stored or they are of other rows than the trace has. Of `trace` the number
/// of rows of all tables must be known (trace::ReadOptions::count_others).
std::optional<StoredCounts> stored_counts(const Trace& trace);

}  // namespace streamscope::analysis
