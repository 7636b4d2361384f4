// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "query.h"

#include <algorithm>
#include <atomic>
#include <cctype>

#include "trace/error.h"
#include "trace/schema/own_schema.h"
#include "trace/sqlite/open.h"
#include "trace/sqlite/sqlite.h"
#include "trace/write/memory_tables_impl.h"

namespace streamscope::trace {
namespace {

// Virtual-machine steps between two checks of the interrupt flag: some tens of microseconds.
constexpr int kStepsPerLook = 10'000;

// Pragmas that only return information about the database.
constexpr const char* kTellingPragmas[] = {
    "application_id",   "collation_list", "compile_options", "database_list", "encoding",
    "foreign_key_list", "function_list",  "index_info",      "index_list",    "index_xinfo",
    "page_count",       "page_size",      "schema_version",  "table_info",    "table_list",
    "table_xinfo",      "user_version"};
// For these an argument names the object; for the others it is a new value.
constexpr const char* kPragmasWithSubject[] = {"foreign_key_list", "index_info", "index_list",
                                               "index_xinfo",      "table_info", "table_list",
                                               "table_xinfo"};

int authorize(void* denied, int action, const char* first, const char* second, const char*,
              const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_UPDATE:
      // SQLite asks this when it finds a table-valued pragma; a statement that really did it would
      // not be read-only.
      if (std::string_view(first) == "sqlite_master") return SQLITE_OK;
      break;
    case SQLITE_FUNCTION:
      if (second != nullptr && sqlite3_stricmp(second, "load_extension") != 0) return SQLITE_OK;
      break;
    case SQLITE_PRAGMA: {
      std::span<const char* const> allowed = kTellingPragmas;
      if (second != nullptr) allowed = kPragmasWithSubject;
      const auto is_named = [&](const char* name) { return sqlite3_stricmp(name, first) == 0; };
      if (std::ranges::any_of(allowed, is_named)) return SQLITE_OK;
      break;
    }
    default:
      break;
  }
  *static_cast<bool*>(denied) = true;
  return SQLITE_DENY;
}

bool only_space_or_comments(std::string_view sql) {
  for (size_t i = 0; i < sql.size(); i++) {
    if (std::isspace(static_cast<unsigned char>(sql[i])) || sql[i] == ';') continue;
    size_t end = std::string_view::npos;
    if (sql.substr(i).starts_with("--"))
      end = sql.find('\n', i);
    else if (sql.substr(i).starts_with("/*"))
      end = sql.find("*/", i + 2);
    else
      return false;
    if (end == std::string_view::npos) return true;
    i = sql[i] == '/' ? end + 1 : end;
  }
  return true;
}

}  // namespace

struct Query::Impl {
  std::unique_ptr<Database> database;
  Statement statement;
  std::vector<std::string> columns;
  bool denied = false;
  std::atomic<bool> interrupted = false;

  [[noreturn]] void fail(int code) const {
    if ((code & 0xff) == SQLITE_AUTH || denied) {
      throw Error("query", "only reading is allowed",
                  "use SELECT; the sqlite3 program can do the rest on a copy", code);
    }
    if ((code & 0xff) == SQLITE_INTERRUPT) throw Error("query", "was interrupted", "", code);
    if ((code & 0xff) == SQLITE_ERROR) {
      throw Error("query", sqlite3_errmsg(database->get()),
                  "`streamscope query --help` names the tables and views", code);
    }
    database->fail(code);
  }
  void prepare(std::string_view sql);
};

Query::Query(const std::filesystem::path& file, std::string_view sql)
    : impl_(std::make_unique<Impl>()) {
  if (holds_memory_tables(file)) {
    impl_->database = open_database(file);
  } else {
    impl_->database = open_trace(file);
    if (names_own_view(sql)) make_own_views(*impl_->database);
  }
  impl_->prepare(sql);
}

Query::Query(MemoryTables tables, std::string_view sql) : impl_(std::make_unique<Impl>()) {
  tables.impl_->inserts.clear();
  impl_->database = std::move(tables.impl_->database);
  impl_->prepare(sql);
}

void Query::Impl::prepare(std::string_view sql) {
  sqlite3* connection = database->get();
  sqlite3_set_authorizer(connection, authorize, &denied);
  sqlite3_progress_handler(
      connection, kStepsPerLook,
      [](void* flag) { return static_cast<std::atomic<bool>*>(flag)->load() ? 1 : 0; },
      &interrupted);
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  int code =
      sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()), 0, &prepared, &tail);
  if (code != SQLITE_OK) fail(code);
  statement = Statement(*database, prepared);
  if (prepared == nullptr) throw Error("query", "is empty", "give one SELECT statement");
  if (!only_space_or_comments(sql.substr(static_cast<size_t>(tail - sql.data())))) {
    throw Error("query", "has more than one statement", "give one SELECT statement");
  }
  if (sqlite3_stmt_readonly(prepared) == 0) fail(SQLITE_AUTH);
  for (int i = 0; i < sqlite3_column_count(prepared); i++) {
    columns.emplace_back(sqlite3_column_name(prepared, i));
  }
}

Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;
Query::~Query() = default;

const std::vector<std::string>& Query::columns() const { return impl_->columns; }

bool Query::next() {
  if (impl_->interrupted.exchange(false)) impl_->fail(SQLITE_INTERRUPT);
  int code = sqlite3_step(impl_->statement.get());
  if (code == SQLITE_ROW) return true;
  impl_->statement.reset();
  if (code == SQLITE_DONE) return false;
  impl_->interrupted = false;
  impl_->fail(code);
}

Cell Query::cell(size_t column) const {
  sqlite3_stmt* statement = impl_->statement.get();
  int index = static_cast<int>(column);
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, index);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, index);
    case SQLITE_TEXT:
      return impl_->statement.text(index);
    case SQLITE_BLOB: {
      auto data = static_cast<const std::byte*>(sqlite3_column_blob(statement, index));
      return Blob{{data, static_cast<size_t>(sqlite3_column_bytes(statement, index))}};
    }
    default:
      return {};
  }
}

void Query::interrupt() { impl_->interrupted = true; }

}  // namespace streamscope::trace
