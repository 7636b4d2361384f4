// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The rows that an earlier writer stored, by process: each part of a process takes over those of
// its own tables.
#pragma once

#include <array>
#include <vector>

#include "record/drain/clock_map.h"
#include "record/rows/identity.h"
#include "trace/read/reader.h"
#include "trace/tables.h"

namespace streamscope::record {

namespace detail {
// For any table: its columns, and a row of them.
#define STREAMSCOPE_COPY(type, name) result.name = columns.name[id];
#define STREAMSCOPE_ROW_OF(sql_name, Row, COLUMNS)                              \
  inline const auto& columns_of(const trace::Trace& trace, const trace::Row*) { \
    return trace.sql_name;                                                      \
  }                                                                             \
  inline trace::Row row_at(const trace::Row##Columns& columns, trace::Id id) {  \
    trace::Row result;                                                          \
    COLUMNS(STREAMSCOPE_COPY)                                                   \
    return result;                                                              \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_ROW_OF)
#undef STREAMSCOPE_ROW_OF
#undef STREAMSCOPE_COPY

using RowIds = std::vector<trace::Id>;
}  // namespace detail

/// Thread-compatible.
class EarlierRows {
 public:
  /// Both must outlive it.
  EarlierRows(const trace::Trace& trace, const ClockMap& clock) : trace_(trace), clock_(clock) {}

  const trace::Trace& trace() const { return trace_; }
  /// Calls take(id, row) for each row of a table that belongs to the process, in their order.
  template <class Row, class Take>
  void each(trace::Id process, Take take) {
    const auto& columns = detail::columns_of(trace_, static_cast<const Row*>(nullptr));
    std::vector<detail::RowIds>& ids = ids_[static_cast<size_t>(trace::table_index<Row>())];
    if (ids.empty()) {
      ids.resize(trace_.process.size());
      for (trace::Id id = 0; id < columns.size(); ++id) {
        if (const trace::Id of = process_of(columns, id); of < ids.size()) ids[of].push_back(id);
      }
    }
    for (const trace::Id id : ids[process]) take(id, detail::row_at(columns, id));
  }
  /// The process of a row; kNoId if there is no such row.
  template <class Columns>
  trace::Id process_of(const Columns& rows, trace::Id id) const {
    if (id >= rows.size()) return trace::kNoId;
    if constexpr (requires { rows.process_id; }) {
      return rows.process_id[id];
    } else {
      return process_of_owner(rows, id);
    }
  }

  bool is_virtual(trace::Id process) const {
    return trace_.process.clock[process] == trace::kVirtualClock;
  }
  /// The stamp of a time in ring records of the process.
  uint64_t stamp(trace::Id process, trace::Ns ns) const {
    return is_virtual(process) ? static_cast<uint64_t>(ns) : clock_.to_ticks(ns);
  }
  HandleLives::Life life(trace::Id process, trace::Int handle, trace::Ns created,
                         trace::Ns destroyed) const {
    HandleLives::Life life;
    life.handle = static_cast<uint64_t>(handle);
    life.creation_seen = created != trace::kUnknownNs;
    if (life.creation_seen) life.created = stamp(process, created);
    if (destroyed != trace::kUnknownNs) life.destroyed = stamp(process, destroyed);
    return life;
  }

 private:
  // Of tables without process_id: the process of what a row belongs to.
  template <class Columns>
  trace::Id process_of_owner(const Columns& rows, trace::Id id) const {
    return process_of(trace_.thread, rows.thread_id[id]);
  }
  trace::Id process_of_owner(const trace::StreamColumns& rows, trace::Id id) const {
    return process_of(trace_.context, rows.context_id[id]);
  }
  trace::Id process_of_owner(const trace::OpColumns& rows, trace::Id id) const {
    return process_of(trace_.api_call, rows.api_call_id[id]);
  }
  trace::Id process_of_owner(const trace::OperationDependencyColumns& rows, trace::Id id) const {
    return process_of(trace_.operation, rows.operation_id[id]);
  }
  trace::Id process_of_owner(const trace::BarrierStreamColumns& rows, trace::Id id) const {
    return process_of(trace_.barrier, rows.barrier_id[id]);
  }
  trace::Id process_of_owner(const trace::TaskRunColumns& rows, trace::Id id) const {
    return process_of(trace_.task_queue, rows.task_queue_id[id]);
  }
  trace::Id process_of_owner(const trace::GraphNodeColumns& rows, trace::Id id) const {
    return process_of(trace_.graph, rows.graph_id[id]);
  }
  trace::Id process_of_owner(const trace::StackFrameColumns& rows, trace::Id id) const {
    return process_of(trace_.stack, rows.stack_id[id]);
  }

  const trace::Trace& trace_;
  const ClockMap& clock_;
  std::array<std::vector<detail::RowIds>, trace::kTableCount> ids_;  // by table and process
};

}  // namespace streamscope::record
