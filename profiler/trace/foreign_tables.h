// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads tables of another program's SQLite file by the names of their columns, for importers.
//
// Such files come in many versions: tables and columns may be missing. A missing table has no rows,
// a missing column reads NULL. Views and virtual tables are not looked at, so that a hostile file
// has nothing to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace streamscope::trace {

/// The rows of one table. Thread-compatible. Must not outlive its ForeignTables.
class ForeignRows {
 public:
  ForeignRows(ForeignRows&&) noexcept;
  ~ForeignRows();

  /// Goes to the next row, first to the first; false at the end. Throws Error if the file is
  /// damaged.
  [[nodiscard]] bool next();
  /// True if the table lacks the column.
  bool lacks(int column) const { return !present_[static_cast<size_t>(column)]; }
  bool is_null(int column) const;
  /// `otherwise` for NULL; texts and reals are converted as SQLite does.
  int64_t integer(int column, int64_t otherwise = 0) const;
  /// "" for NULL. Lives until the next call of next().
  std::string_view text(int column) const;

 private:
  friend class ForeignTables;
  struct Impl;
  explicit ForeignRows(std::unique_ptr<Impl> impl, std::vector<bool> present);
  std::unique_ptr<Impl> impl_;
  std::vector<bool> present_;
};

/// Thread-compatible.
class ForeignTables {
 public:
  /// Opens FILE for reading only. Throws Error: missing, empty, truncated, not SQLite.
  explicit ForeignTables(const std::filesystem::path& file);
  ~ForeignTables();

  const std::vector<std::string>& tables() const { return tables_; }
  bool has(std::string_view table) const;
  bool has(std::string_view table, std::string_view column) const;
  int64_t row_count(std::string_view table) const;
  ForeignRows rows(std::string_view table, const std::vector<std::string_view>& columns) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::string> tables_;
};

}  // namespace streamscope::trace
