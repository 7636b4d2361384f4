// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads tables of another program's SQLite file by the names of their columns, for importers.
//
// Such files come in many versions: tables and columns may be missing. A missing table has no rows,
// a missing column reads NULL. Views and virtual tables are ignored, so that a hostile file cannot
// run anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3_value;

namespace streamscope::trace {

/// A row; columns are numbered in the order in which they were requested. Valid, with its texts,
/// until the function to which it is passed returns.
class ForeignRow {
 public:
  /// True if the table lacks the column.
  bool lacks(int column) const { return !present_[static_cast<size_t>(column)]; }
  bool is_null(int column) const;
  /// `otherwise` for NULL; texts and reals are converted as SQLite does.
  int64_t integer(int column, int64_t otherwise = 0) const;
  /// "" for NULL.
  std::string_view text(int column) const;

 private:
  friend class ForeignTables;
  ForeignRow(sqlite3_value** values, const std::vector<bool>& present)
      : values_(values), present_(present) {}
  sqlite3_value** values_;
  const std::vector<bool>& present_;
};

/// Thread-compatible.
class ForeignTables {
 public:
  using Take = std::function<void(const ForeignRow&)>;
  /// Selects only rows in which this column has this value.
  struct Only {
    std::string_view column;
    int64_t value;
  };

  /// Opens FILE read-only. Throws Error: missing, empty, truncated, not SQLite.
  explicit ForeignTables(const std::filesystem::path& file);
  ~ForeignTables();

  const std::vector<std::string>& tables() const { return tables_; }
  bool has(std::string_view table) const;
  int64_t row_count(std::string_view table) const;
  /// Highest row number, a cheap upper limit for the number of rows; 0 if the table has none.
  int64_t highest_row(std::string_view table) const;
  /// True if each() was called for it.
  bool was_read(std::string_view table) const { return read_.contains(table); }
  /// Passes every row, in no order, to `take`, which must not request other rows meanwhile. Throws
  /// Error if the file is damaged, and what `take` throws.
  void each(std::string_view table, const std::vector<std::string_view>& columns, const Take& take,
            std::optional<Only> only = std::nullopt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::string> tables_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace streamscope::trace
