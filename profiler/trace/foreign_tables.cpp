// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "foreign_tables.h"

#include <algorithm>

#include "open.h"

namespace streamscope::trace {
namespace {

// Longest text or blob that is read; exports hold nothing near it.
constexpr int kLongestValue = 64 << 20;

std::string quoted(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

struct ForeignRows::Impl {
  Statement statement;
};

ForeignRows::ForeignRows(std::unique_ptr<Impl> impl, std::vector<bool> present)
    : impl_(std::move(impl)), present_(std::move(present)) {}
ForeignRows::ForeignRows(ForeignRows&&) noexcept = default;
ForeignRows::~ForeignRows() = default;

bool ForeignRows::next() { return impl_->statement && impl_->statement.step(); }
bool ForeignRows::is_null(int column) const { return impl_->statement.is_null(column); }
int64_t ForeignRows::integer(int column, int64_t otherwise) const {
  // One look at the column: most of an import's time goes into fetching numbers.
  sqlite3_value* value = sqlite3_column_value(impl_->statement.get(), column);
  return sqlite3_value_type(value) == SQLITE_NULL ? otherwise : sqlite3_value_int64(value);
}
std::string_view ForeignRows::text(int column) const {
  return is_null(column) ? std::string_view() : impl_->statement.text(column);
}

struct ForeignTables::Impl {
  std::unique_ptr<Database> database;
};

ForeignTables::ForeignTables(const std::filesystem::path& file)
    : impl_(std::make_unique<Impl>(Impl{open_database(file)})) {
  sqlite3_limit(impl_->database->get(), SQLITE_LIMIT_LENGTH, kLongestValue);
  Statement names(*impl_->database,
                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                  "'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name");
  while (names.step()) tables_.emplace_back(names.text(0));
}
ForeignTables::~ForeignTables() = default;

bool ForeignTables::has(std::string_view table) const {
  return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

bool ForeignTables::has(std::string_view table, std::string_view column) const {
  if (!has(table)) return false;
  Statement info(*impl_->database, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2");
  info.bind(1, table);
  info.bind(2, column);
  return info.step();
}

int64_t ForeignTables::row_count(std::string_view table) const {
  return has(table) ? impl_->database->integer("SELECT count(*) FROM " + quoted(table)) : 0;
}

ForeignRows ForeignTables::rows(std::string_view table,
                                const std::vector<std::string_view>& columns) const {
  auto impl = std::make_unique<ForeignRows::Impl>();
  std::vector<bool> present;
  std::string list;
  for (std::string_view column : columns) {
    present.push_back(has(table, column));
    list += (list.empty() ? "" : ",") + (present.back() ? quoted(column) : std::string("NULL"));
  }
  if (has(table))
    impl->statement = Statement(*impl_->database, "SELECT " + list + " FROM " + quoted(table));
  return ForeignRows(std::move(impl), std::move(present));
}

}  // namespace streamscope::trace
