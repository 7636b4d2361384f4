// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace streamscope::trace {
namespace {

#define STREAMSCOPE_COLUMN_INFO(type, name) \
  ColumnInfo{#name, detail::kTypeOf_##type, offsetof(Self, name)},
#define STREAMSCOPE_DESCRIBE(sql_name, Row, COLUMNS)                             \
  struct Row##Description {                                                      \
    using Self = Row;                                                            \
    static constexpr ColumnInfo kColumns[] = {COLUMNS(STREAMSCOPE_COLUMN_INFO)}; \
    static_assert(std::size(kColumns) <= kMostColumns);                          \
  };
STREAMSCOPE_TABLES(STREAMSCOPE_DESCRIBE)
#undef STREAMSCOPE_DESCRIBE
#undef STREAMSCOPE_COLUMN_INFO

constexpr TableInfo kTables[] = {
#define STREAMSCOPE_TABLE_INFO(sql_name, Row, COLUMNS) \
  {#sql_name, sizeof(Row), Row##Description::kColumns},
    STREAMSCOPE_TABLES(STREAMSCOPE_TABLE_INFO)
#undef STREAMSCOPE_TABLE_INFO
};

struct Reference {
  std::string_view column;
  const char* table;
};

// Columns whose name is not simply TABLE_id; every other *_id column names a table or contains a
// text.
constexpr Reference kReferences[] = {
    {"record_id", "event_record"},
    {"source_graph_id", "graph"},
    {"parent_operation_id", "operation"},
    {"depends_on_operation_id", "operation"},
    {"alloc_stream_id", "stream"},
    {"free_stream_id", "stream"},
    {"alloc_call_id", "api_call"},
    {"free_call_id", "api_call"},
    {"from_op_id", "op"},
    {"to_op_id", "op"},
    {"because_op_id", "op"},
    {"first_op_id", "op"},
    {"second_op_id", "op"},
    {"longest_op_id", "op"},
    {"lock_owner_id", "thread"},
    {"object_id", nullptr},
};

}  // namespace

std::span<const TableInfo, kTableCount> tables() { return kTables; }

const char* referenced_table(const char* table, std::string_view column) {
  if (column == "from_node_id" || column == "to_node_id") {
    return table == std::string_view("hang_edge") ? "hang_node" : "graph_node";
  }
  for (const Reference& reference : kReferences) {
    if (reference.column == column) return reference.table;
  }
  for (const TableInfo& target : kTables) {
    if (column.size() == std::string_view(target.name).size() + 3 &&
        column.starts_with(target.name)) {
      return target.name;
    }
  }
  return "string";
}

std::string_view hang_object_table(Small kind) {
  constexpr std::string_view kTables[] = {"thread",     "stream",    "op",       "event_record",
                                          "event_wait", "host_sync", "operation"};
  return kind >= 0 && static_cast<size_t>(kind) < std::size(kTables) ? kTables[kind] : "";
}

}  // namespace streamscope::trace
