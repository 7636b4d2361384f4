// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The allowed values of a trace, checked when values enter: Reader checks every column it loads,
// Writer every row that a recording, a recovery or an import appends.
//
// An impossible value becomes unknown (NULL) and is counted as a loss, so all code that processes a
// trace can rely on these bounds. They are chosen so that the sum or difference of a few times or
// sizes fits into 64 bits; sums over rows do not, they need ns_math.h. The reader checks whether
// ids refer to existing rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tables.h"

namespace streamscope::trace {

struct Trace;

/// Every time is within 9 years of the start of the trace: |t| <= kMostNs. So a duration is at most
/// 2 * kMostNs, and 15 durations can be added.
inline constexpr Ns kMostNs = Ns{1} << 58;
/// Sizes and counts; 2^57 bytes is the address space of x86-64.
inline constexpr Int kMostBytes = Int{1} << 57;
/// Unix time: until 2116.
inline constexpr Int kMostRealtimeNs = Int{1} << 62;

/// Smallest and largest value of a column that is not NULL.
struct Bounds {
  Int least = kNoInt;
  Int most = std::numeric_limits<Int>::max();
  constexpr bool allow(Int value) const { return least <= value && value <= most; }
  constexpr bool allow_all() const {
    return least == kNoInt && most == std::numeric_limits<Int>::max();
  }
};
Bounds bounds_of(std::string_view table, std::string_view column, ColumnType type);

/// The impossible values, by table.
class Damage {
 public:
  struct OfTable {
    const char* table;
    Int values = 0;
    std::string first;  ///< "row 7, start_ns = 99"
  };
  /// `table` and `column` must outlive this.
  void add(const char* table, uint64_t row, const char* column, Int value);
  void add(const char* table, uint64_t row, const char* column, std::string_view value);
  /// Adds another's findings, in tables that this has or in others.
  void add(const Damage& later);
  const std::vector<OfTable>& tables() const { return tables_; }
  bool empty() const { return tables_.empty(); }

 private:
  std::vector<OfTable> tables_;
};

/// "table op: row 7, start_ns = 99" or, if there are more, "..., and others".
std::string describe(const Damage::OfTable& table);

/// Replaces values outside the bounds of a column by unknown. `first_row` is the row of its first
/// element, for a column that is loaded in pieces. Column: value_type, size(), operator[].
template <class Column>
void check_column(const char* table, const char* name, Bounds bounds, Column& column,
                  Damage& damage, uint64_t first_row = 0) {
  using Value = typename Column::value_type;
  if (bounds.allow_all()) return;
  constexpr Value kNone = detail::none<Value>();
  bool damaged = false;
  for (size_t row = 0; row < column.size(); ++row) {
    const Value value = column[row];
    damaged |= !bounds.allow(value) && value != kNone;
  }
  if (!damaged) return;
  for (size_t row = 0; row < column.size(); ++row) {
    const Value value = column[row];
    if (bounds.allow(value) || value == kNone) continue;
    damage.add(table, first_row + row, name, value);
    column[row] = kNone;
  }
}

/// True if `rows` pieces of `bytes`, each `pitch` after the previous one, end at or below the last
/// address. All except `address` are within their bounds; NULL counts as 0.
bool fits_into_memory(Int address, Int bytes, Int pitch = kNoInt, Int rows = kNoInt);

/// Replaces inconsistent values of a row by unknown, after its columns were checked: the end of an
/// interval before its start, memory beyond the last address. Table: the columns of a table, or of
/// a piece of it, as members with their names.
template <class Table>
void check_rows(const char* name, Table& table, Damage& damage, uint64_t first_row = 0) {
  // A pair of times of which the second must not be before the first.
  const auto check_order = [&](const char* second_name, auto& first, auto& second) {
    if (first.size() != second.size()) return;
    for (size_t row = 0; row < first.size(); ++row) {
      const Ns from = first[row], to = second[row];
      if (to >= from || to == kUnknownNs) continue;
      damage.add(name, first_row + row, second_name, to);
      first[row] = kUnknownNs;
      second[row] = kUnknownNs;
    }
  };
  if constexpr (requires { table.start_ns, table.end_ns; })
    check_order("end_ns", table.start_ns, table.end_ns);
  if constexpr (requires { table.created_ns, table.destroyed_ns; })
    check_order("destroyed_ns", table.created_ns, table.destroyed_ns);
  if constexpr (requires { table.allocated_ns, table.freed_ns; })
    check_order("freed_ns", table.allocated_ns, table.freed_ns);
  if constexpr (requires { table.first_arrival_ns, table.release_ns; })
    check_order("release_ns", table.first_arrival_ns, table.release_ns);
  if constexpr (requires { table.address, table.bytes; }) {
    for (size_t row = 0; row < table.bytes.size(); ++row) {
      const Int address = table.address[row], bytes = table.bytes[row];
      bool fits = true;
      if constexpr (requires { table.pitch_bytes; })
        fits = fits_into_memory(address, bytes, table.pitch_bytes[row], table.rows[row]);
      else
        fits = fits_into_memory(address, bytes);
      if (fits) continue;
      damage.add(name, first_row + row, "address", address);
      table.address[row] = kNoInt;
      table.bytes[row] = kNoInt;
    }
  }
}

/// The same for a row that is about to be stored.
template <class Row>
void check_row(uint64_t id, Row& row, Damage& damage);

/// Checks rows that were read from a file. `columns`: for each column of the table, in the order of
/// tables.def, its values in 64 bits, regardless of its type; NULL is kNoInt.
using CheckBlock = void (*)(Int* const* columns, size_t rows, uint64_t first_row, Damage& damage);
CheckBlock block_check(TableIndex index);

/// Checks all columns of a trace that was built row by row.
void check(Trace& trace, Damage& damage);

/// The number that meta has for a key; nothing if it is not a number, or beyond kMostRealtimeNs.
std::optional<Int> meta_integer(const Trace& trace, std::string_view key);

/// Adds a loss to a trace for each damaged table.
void add_losses(const Damage& damage, Trace& trace);

}  // namespace streamscope::trace
