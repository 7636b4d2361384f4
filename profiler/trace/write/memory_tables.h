// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tables that are no trace, in memory: filled row by row, then asked by Query or stored as a SQLite
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace streamscope::trace {

class Database;

/// Thread-compatible.
class MemoryTables {
 public:
  /// monostate is NULL.
  using Value = std::variant<std::monostate, int64_t, double, std::string>;

  /// `schema`: CREATE statements. Throws Error if out of memory.
  explicit MemoryTables(std::string_view schema);
  MemoryTables(MemoryTables&&) noexcept;
  ~MemoryTables();

  /// Appends a row: a value for each column.
  void append(std::string_view table, std::initializer_list<Value> values);

  /// The content of a SQLite file with these tables.
  std::string bytes() const;

 private:
  friend class Query;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True for a file that bytes() has filled.
bool holds_memory_tables(const std::filesystem::path& file);

}  // namespace streamscope::trace
