// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a part of a table into packed columns. The reader splits large tables into parts, which
// several connections read concurrently, and joins them.
#pragma once

#include <variant>
#include <vector>

#include "trace/checks.h"
#include "trace/model.h"
#include "trace/sqlite/sqlite.h"

namespace streamscope::trace {

/// A column of a Trace, of any type.
using ColumnTarget = std::variant<Column<Id>*, Column<Small>*, Column<Int>*>;

struct StoredColumn {
  const char* name;
  ColumnTarget target;
};

struct StoredTable {
  const char* name;
  size_t* row_count;
  CheckBlock check;
  std::vector<StoredColumn> columns;
};

/// What was read of a column.
struct ColumnPart {
  std::variant<Packed<Id>, Packed<Small>, Packed<Int>> values;
  uint64_t ids_end = 0;  ///< of Id columns: one more than the highest
};

/// Rows [from, to) of a table, whose ids are its positions; up to the end of the table if `to` is
/// kToEnd. Rows that come before them belong to the first part.
inline constexpr uint64_t kToEnd = ~uint64_t{0};
struct TablePart {
  uint64_t from = 0, to = kToEnd;
  uint64_t rows = 0;
  std::vector<ColumnPart> columns;  ///< as in the table
  Damage damage;                    ///< impossible values; they are read as unknown
};

inline constexpr char kRecordAgain[] = "record it again";

/// Reads `part.from` to `part.to` into the rest of the part. Throws Error: the file is damaged.
void read_part(const Database& database, const StoredTable& table, TablePart& part);

}  // namespace streamscope::trace
