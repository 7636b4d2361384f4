// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The tables of a trace that grow with its length, packed: what a Document keeps of them once the
// analyses are done. Read like those of trace::Trace: `tables.op.start_ns[id]`.
#pragma once

#include <string_view>
#include <vector>

#include "packed.h"
#include "trace/reader.h"

namespace streamscope::viewer {

#define STREAMSCOPE_PACKED_TABLES(TABLE)                                                     \
  TABLE(op, Op, STREAMSCOPE_OP_COLUMNS)                                                      \
  TABLE(api_call, ApiCall, STREAMSCOPE_API_CALL_COLUMNS)                                     \
  TABLE(event_record, EventRecord, STREAMSCOPE_EVENT_RECORD_COLUMNS)                         \
  TABLE(event_wait, EventWait, STREAMSCOPE_EVENT_WAIT_COLUMNS)                               \
  TABLE(host_sync, HostSync, STREAMSCOPE_HOST_SYNC_COLUMNS)                                  \
  TABLE(range, Range, STREAMSCOPE_RANGE_COLUMNS)                                             \
  TABLE(operation, Operation, STREAMSCOPE_OPERATION_COLUMNS)                                 \
  TABLE(operation_dependency, OperationDependency, STREAMSCOPE_OPERATION_DEPENDENCY_COLUMNS) \
  TABLE(operation_op, OperationOp, STREAMSCOPE_OPERATION_OP_COLUMNS)                         \
  TABLE(access, Access, STREAMSCOPE_ACCESS_COLUMNS)                                          \
  TABLE(task, Task, STREAMSCOPE_TASK_COLUMNS)

struct PackedTables {
#define STREAMSCOPE_PACKED_COLUMN(type, name) Packed<trace::type> name;
#define STREAMSCOPE_PACKED_TABLE(sql_name, Row, COLUMNS) \
  struct Row {                                           \
    COLUMNS(STREAMSCOPE_PACKED_COLUMN)                   \
    size_t row_count = 0;                                \
    size_t size() const { return row_count; }            \
    bool empty() const { return row_count == 0; }        \
  } sql_name;
  STREAMSCOPE_PACKED_TABLES(STREAMSCOPE_PACKED_TABLE)
#undef STREAMSCOPE_PACKED_TABLE
#undef STREAMSCOPE_PACKED_COLUMN

  /// Packs those of these tables that the trace holds and empties them there, column by column.
  void take(trace::Trace& trace);
  /// The other way round; they stay here too.
  void copy_to(trace::Trace& trace) const;
  /// Their names.
  static std::vector<std::string_view> names();
};

}  // namespace streamscope::viewer
