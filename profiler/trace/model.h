// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The content of a trace as plain types: one row struct per table for writing, one column store per
// table for reading.
//
// Writer appends rows; Reader loads columns. Both are generated from tables.def, so a column is
// named in one place there and described in one place in schema.sql (docs/trace-format.md).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "column.h"
#include "tables.def"
#include "vocabulary/annotation.h"
#include "vocabulary/event_binding.h"
#include "vocabulary/hang.h"
#include "vocabulary/host_sync_kind.h"
#include "vocabulary/op_kind.h"
#include "vocabulary/operation.h"
#include "vocabulary/order.h"
#include "vocabulary/pool_kind.h"
#include "vocabulary/process_clock.h"
#include "vocabulary/severity.h"
#include "vocabulary/stream_kind.h"
#include "vocabulary/timeline_act.h"

namespace streamscope::trace {

/// Version of the file format (`user_version`). From the first release on, incremented by every
/// change of a table, a column or its meaning.
inline constexpr int kFormatVersion = 1;
/// `application_id` of a trace file: "StSc".
inline constexpr int kApplicationId = 0x53745363;
/// The same for files of unreleased versions ("SScp"), which are refused.
inline constexpr int kUnreleasedApplicationId = 0x53536370;

using Id = uint32_t;  ///< row of another table or a string; also the index into its columns
using Ns = int64_t;   ///< nanoseconds since the trace start
using Int = int64_t;
using Small = int32_t;

inline constexpr Id kNoId = std::numeric_limits<Id>::max();
inline constexpr Ns kUnknownNs = std::numeric_limits<Ns>::min();
inline constexpr Int kNoInt = std::numeric_limits<Int>::min();
inline constexpr Small kNoSmall = std::numeric_limits<Small>::min();

/// A count or number from elsewhere; kNoSmall if it is negative or too large.
template <std::integral Number>
constexpr Small small_or_none(Number number) {
  const bool fits = std::in_range<Small>(number) && number >= 0;
  return fits ? static_cast<Small>(number) : kNoSmall;
}

namespace detail {
template <class T>
constexpr T none() {
  return Packed<T>::kNone;
}
static_assert(none<Id>() == kNoId && none<Int>() == kNoInt && none<Small>() == kNoSmall);
}  // namespace detail

/// Row structs: `Op`, `EventWait`, ... Every field starts as NULL.
#define STREAMSCOPE_FIELD(type, name) type name = detail::none<type>();
#define STREAMSCOPE_ROW(sql_name, Row, COLUMNS) \
  struct Row {                                  \
    COLUMNS(STREAMSCOPE_FIELD)                  \
  };
STREAMSCOPE_TABLES(STREAMSCOPE_ROW)
#undef STREAMSCOPE_ROW
#undef STREAMSCOPE_FIELD

/// Column stores: `OpColumns` with `Column<Ns> start_ns` and so on; index = id.
#define STREAMSCOPE_COLUMN(type, name) Column<type> name;
#define STREAMSCOPE_STORE(sql_name, Row, COLUMNS) \
  struct Row##Columns {                           \
    COLUMNS(STREAMSCOPE_COLUMN)                   \
    size_t row_count = 0;                         \
    size_t size() const { return row_count; }     \
    bool empty() const { return row_count == 0; } \
    /** Adds a row and returns its id. */         \
    Id append(const Row& row);                    \
    /** Packs what was appended. */               \
    void pack();                                  \
  };
STREAMSCOPE_TABLES(STREAMSCOPE_STORE)
#undef STREAMSCOPE_STORE
#undef STREAMSCOPE_COLUMN

// Enumerations stored in `Small` columns, and their names.

using streamscope::to_string;

using streamscope::AllocationKind;
using streamscope::Binding;
using streamscope::EdgeKind;
using streamscope::FrameKind;
using streamscope::HangEdgeKind;
using streamscope::HangNodeKind;
using streamscope::HostSyncKind;
using streamscope::OperationState;
using streamscope::OpKind;
using streamscope::PathStepKind;
using streamscope::PoolKind;
using streamscope::ProbeKind;
using streamscope::ProcessClock;
using streamscope::RangeKind;
using streamscope::RecordFlag;
using streamscope::Severity;
using streamscope::StreamKind;
using streamscope::TimelineAct;
using enum AllocationKind;
using enum Binding;
using enum EdgeKind;
using enum FrameKind;
using enum HangEdgeKind;
using enum HangNodeKind;
using enum HostSyncKind;
using enum OpKind;
using enum OperationState;
using enum PathStepKind;
using enum PoolKind;
using enum ProbeKind;
using enum ProcessClock;
using enum RangeKind;
using enum RecordFlag;
using enum StreamKind;
using enum TimelineAct;

/// CUDA's result code for "not ready", the normal result of a query of unfinished work.
inline constexpr Small kResultNotReady = 600;

/// Number of calls that a row of host_sync represents.
inline Int call_count(const HostSyncColumns& syncs, Id sync) {
  return syncs.polls[sync] == kNoSmall ? 1 : syncs.polls[sync];
}

}  // namespace streamscope::trace
