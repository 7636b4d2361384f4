// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

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

// Columns whose name is not TABLE_id or WHICH_TABLE_id; every other *_id column contains a text.
constexpr Reference kReferences[] = {
    {"record_id", "event_record"}, {"alloc_call_id", "api_call"}, {"free_call_id", "api_call"},
    {"lock_owner_id", "thread"},   {"object_id", nullptr},
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
  column.remove_suffix(std::string_view("_id").size());
  for (const TableInfo& target : kTables) {
    const std::string_view name = target.name;
    if (column == name ||
        (column.ends_with(name) && column[column.size() - name.size() - 1] == '_'))
      return target.name;
  }
  return "string";
}

std::string_view hang_object_table(Small kind) {
  constexpr std::string_view kTables[] = {"thread",     "stream",    "op",       "event_record",
                                          "event_wait", "host_sync", "operation"};
  return kind >= 0 && static_cast<size_t>(kind) < std::size(kTables) ? kTables[kind] : "";
}

}  // namespace streamscope::trace
