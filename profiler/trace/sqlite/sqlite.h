// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Thin RAII over sqlite3, used inside profiler/trace only. Failures become streamscope::Error that
// names the file.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "trace/error.h"

namespace streamscope::trace {

class Database;

/// A prepared statement. Thread-compatible. Must not outlive its Database.
class Statement {
 public:
  Statement() = default;
  Statement(const Database& database, std::string_view sql, bool persistent = false);
  /// Takes a statement that was prepared elsewhere; may be null.
  Statement(const Database& database, sqlite3_stmt* statement)
      : statement_(statement), database_(&database) {}

  /// True if there is a row, false at the end.
  bool step();
  void reset() { sqlite3_reset(statement_.get()); }
  /// step() and reset(), for statements without rows.
  void run();

  void bind(int index, int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }
  void bind_null(int index) { sqlite3_bind_null(statement_.get(), index); }
  /// Makes no copy: `text` must live until the statement was reset.
  void bind(int index, std::string_view text);

  int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  bool is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  std::string_view text(int column) const;

  sqlite3_stmt* get() const { return statement_.get(); }
  explicit operator bool() const { return statement_ != nullptr; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_ = nullptr;
};

/// A connection used by one thread at a time. Address-stable, as statements refer to it. It trusts
/// no schema: defensive, without triggers, stored views, foreign keys, extensions and ATTACH.
class Database {
 public:
  /// `flags` as for sqlite3_open_v2; extended result codes are on. Throws Error.
  Database(const std::filesystem::path& file, int flags) : Database(file.string(), flags, file) {}
  /// `name` is what SQLite opens, e.g. a URI; `file` appears in messages.
  Database(const std::string& name, int flags, const std::filesystem::path& file);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);
  /// First column of the first row; throws if there is none.
  int64_t integer(std::string_view sql) const;
  std::string text(std::string_view sql) const;

  /// An Error for the last failure, or for `code`; with remedies for disk full, read-only, busy and
  /// corrupt.
  [[noreturn]] void fail(int code) const;

  sqlite3* get() const { return connection_.get(); }
  const std::filesystem::path& file() const { return file_; }

 private:
  void distrust_schema();
  Statement first_row(std::string_view sql) const;

  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::filesystem::path file_;
};

}  // namespace streamscope::trace
