// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "foreign_tables.h"

#include <algorithm>
#include <exception>

#include "open.h"

namespace streamscope::trace {
namespace {

// Longest text or blob that is read; exports contain nothing nearly as long.
constexpr int kLongestValue = 64 << 20;

std::string quoted(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

bool ForeignRow::is_null(int column) const {
  return sqlite3_value_type(values_[column]) == SQLITE_NULL;
}
int64_t ForeignRow::integer(int column, int64_t otherwise) const {
  // NULL reads 0, so most values need only one read.
  const int64_t value = sqlite3_value_int64(values_[column]);
  return value == 0 && is_null(column) ? otherwise : value;
}
std::string_view ForeignRow::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(values_[column]));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_value_bytes(values_[column]))};
}

struct ForeignTables::Impl {
  std::unique_ptr<Database> database;
  // The state of each().
  const Take* take = nullptr;
  std::vector<bool> present;
  std::exception_ptr failure;

  static void step(sqlite3_context* context, int, sqlite3_value** values) {
    auto& self = *static_cast<Impl*>(sqlite3_user_data(context));
    try {
      (*self.take)(ForeignRow(values, self.present));
    } catch (...) {
      self.failure = std::current_exception();
      sqlite3_result_error(context, "", 0);
    }
  }
  static void done(sqlite3_context*) {}
};

ForeignTables::ForeignTables(const std::filesystem::path& file)
    : impl_(std::make_unique<Impl>(Impl{.database = open_database(file)})) {
  sqlite3* connection = impl_->database->get();
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kLongestValue);
  // Rows go through an aggregate function: a statement that returns them one by one takes 50 %
  // longer.
  const int code =
      sqlite3_create_function_v2(connection, "take", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                 impl_.get(), nullptr, Impl::step, Impl::done, nullptr);
  if (code != SQLITE_OK) impl_->database->fail(code);
  Statement names(*impl_->database,
                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                  "'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name");
  while (names.step()) tables_.emplace_back(names.text(0));
}
ForeignTables::~ForeignTables() = default;

bool ForeignTables::has(std::string_view table) const {
  return std::ranges::find(tables_, table) != tables_.end();
}

int64_t ForeignTables::row_count(std::string_view table) const {
  return has(table) ? impl_->database->integer("SELECT count(*) FROM " + quoted(table)) : 0;
}

int64_t ForeignTables::highest_row(std::string_view table) const {
  if (!has(table)) return 0;
  try {
    return impl_->database->integer("SELECT max(coalesce(max(rowid), 0), 0) FROM " + quoted(table));
  } catch (const Error&) {
    return 0;  // a table WITHOUT ROWID
  }
}

void ForeignTables::each(std::string_view table, const std::vector<std::string_view>& columns,
                         const Take& take, std::optional<Only> only) {
  read_.emplace(table);
  if (!has(table)) return;
  std::vector<std::string> names;
  Statement info(*impl_->database, "SELECT name FROM pragma_table_info(?1)");
  info.bind(1, table);
  while (info.step()) names.emplace_back(info.text(0));
  const auto known = [&](std::string_view column) {
    return std::ranges::find(names, column) != names.end();
  };
  std::string list;
  impl_->present.clear();
  for (std::string_view column : columns) {
    impl_->present.push_back(known(column));
    list += (list.empty() ? "" : ",") + (known(column) ? quoted(column) : std::string("NULL"));
  }
  std::string sql = "SELECT take(" + list + ") FROM " + quoted(table);
  if (only) {
    if (!known(only->column)) return;
    sql += " WHERE " + quoted(only->column) + " = " + std::to_string(only->value);
  }
  impl_->take = &take;
  impl_->failure = nullptr;
  try {
    Statement(*impl_->database, sql).run();
  } catch (const Error&) {
    if (!impl_->failure) throw;
  }
  if (impl_->failure) std::rethrow_exception(impl_->failure);
}

}  // namespace streamscope::trace
