// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "table_sql.h"

#include <algorithm>
#include <cctype>

#include "schema.h"

namespace streamscope::trace {

bool has_column(const TableInfo& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const ColumnInfo& column) { return column.name == name; });
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

std::string create_views_sql(const TableInfo& table) {
  const std::string_view schema = schema_sql();
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto names_table = [&](std::string_view view) {
    const std::string_view name = table.name;
    for (size_t at = view.find(name); at != view.npos; at = view.find(name, at + 1)) {
      const size_t end = at + name.size();
      if (!is_word(view[at - 1]) && (end == view.size() || !is_word(view[end]))) return true;
    }
    return false;
  };
  std::string result;
  constexpr std::string_view kCreate = "CREATE VIEW ";
  for (size_t at = schema.find(kCreate); at != schema.npos; at = schema.find(kCreate, at + 1)) {
    const std::string_view view = schema.substr(at, schema.find(";\n", at) + 1 - at);
    const std::string_view rest = view.substr(kCreate.size());
    const std::string name(rest.substr(0, rest.find(' ')));
    if (names_table(view)) result += "DROP VIEW IF EXISTS " + name + ";" + std::string(view);
  }
  return result;
}

}  // namespace streamscope::trace
