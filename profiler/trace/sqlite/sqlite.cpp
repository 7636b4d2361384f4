// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "sqlite.h"

#include <cerrno>
#include <cstring>

namespace streamscope::trace {

Statement::Statement(const Database& database, std::string_view sql, bool persistent)
    : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(database.get(), sql.data(), static_cast<int>(sql.size()),
                                persistent ? SQLITE_PREPARE_PERSISTENT : 0, &statement, nullptr);
  if (code != SQLITE_OK) database.fail(code);
  statement_.reset(statement);
}

bool Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    database_->fail(code);
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

std::string_view Statement::text(int column) const {
  auto data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Database::Database(const std::string& name, int flags, const std::filesystem::path& file)
    : file_(file) {
  sqlite3* connection = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &connection, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) fail(code);
  distrust_schema();
}

// The schema of a file may be hostile.
void Database::distrust_schema() {
  constexpr int kOn[] = {SQLITE_DBCONFIG_DEFENSIVE};
  constexpr int kOff[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA,        SQLITE_DBCONFIG_ENABLE_TRIGGER,
                          SQLITE_DBCONFIG_ENABLE_VIEW,           SQLITE_DBCONFIG_ENABLE_FKEY,
                          SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_DQS_DML,
                          SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
  for (const int option : kOn) sqlite3_db_config(get(), option, 1, nullptr);
  for (const int option : kOff) sqlite3_db_config(get(), option, 0, nullptr);
  sqlite3_limit(get(), SQLITE_LIMIT_ATTACHED, 0);
  run("PRAGMA cell_size_check=ON");
}

void Database::run(const std::string& sql) {
  int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

Statement Database::first_row(std::string_view sql) const {
  Statement statement(*this, sql);
  if (!statement.step()) throw Error(file_, "returned no row for " + std::string(sql));
  return statement;
}

int64_t Database::integer(std::string_view sql) const { return first_row(sql).integer(0); }

std::string Database::text(std::string_view sql) const {
  return std::string(first_row(sql).text(0));
}

void Database::fail(int code) const {
  // A failed open without memory leaves no connection to query.
  int system = get() == nullptr ? 0 : sqlite3_system_errno(get());
  std::string message = get() == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(get());
  std::string reason = system == 0 ? "" : std::string(": ") + std::strerror(system);
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw Error(file_, "the disk is full", "free some space or choose another place", code);
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) {
        throw Error(file_, "cannot be read" + reason, "check the disk", code);
      }
      // Only the file system's own message is specific for these; SQLite has one name for the
      // others.
      throw Error(file_, "cannot be written" + reason,
                  system == EACCES || system == EPERM || system == EROFS
                      ? remedy_for(system)
                      : "check free space, quota and size limits, or choose another place",
                  code);
    case SQLITE_NOTADB:
      throw Error(file_, "is not a SQLite database", "", code);
    case SQLITE_CORRUPT:
      throw Error(file_, "is damaged (" + message + ")",
                  "record it again, or try `sqlite3 FILE .recover`", code);
    case SQLITE_CANTOPEN:
      throw Error(file_, "cannot be opened" + reason, "check the path and its permissions", code);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(file_, "may not be written", "check its permissions and those of its folder",
                  code);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(file_, "is in use by another program", "try again when that has ended", code);
    default:
      throw Error(file_, message, "", code);
  }
}

}  // namespace streamscope::trace
