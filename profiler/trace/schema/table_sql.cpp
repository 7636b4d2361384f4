// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "table_sql.h"

#include <algorithm>

namespace streamscope::trace {

bool has_column(const TableInfo& table, std::string_view name) {
  return std::ranges::find(table.columns, name, &ColumnInfo::name) != table.columns.end();
}

std::string insert_sql(const TableInfo& table, bool first, uint32_t wanted) {
  std::string names = first ? "id" : "", values = first ? "0" : "";
  for (size_t i = 0; i < table.columns.size(); i++) {
    if (!first && (wanted >> i & 1) == 0) continue;
    std::string comma = names.empty() ? "" : ",";
    names += comma + table.columns[i].name;
    values += comma + "c" + std::to_string(i);
  }
  if (names.empty()) names = "id", values = "NULL";
  return "INSERT INTO " + std::string(table.name) + "(" + names + ") SELECT " + values +
         " FROM rows";
}

std::string update_sql(const TableInfo& table) {
  std::string sql = "UPDATE " + std::string(table.name) + " SET ";
  for (size_t i = 0; i < table.columns.size(); i++) {
    sql += (i == 0 ? "" : ",") + std::string(table.columns[i].name) + "=?" + std::to_string(i + 2);
  }
  return sql + " WHERE id=?1";
}

}  // namespace streamscope::trace
