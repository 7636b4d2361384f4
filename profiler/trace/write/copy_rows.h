// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Copies the rows of one trace behind those that another file has.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "trace/read/reader.h"
#include "trace/tables.h"
#include "writer.h"

namespace streamscope::trace {

/// Some rows of each table.
class Selection {
 public:
  /// No row of this trace.
  explicit Selection(const Trace& trace);

  size_t row_count(TableIndex table) const { return at(table).size(); }
  bool has(TableIndex table, Id row) const { return at(table)[row]; }
  /// False if it was there already.
  bool add(TableIndex table, Id row);
  /// For each row of the table how many selected ones are before it.
  std::vector<Id> places(TableIndex table) const;

 private:
  const std::vector<bool>& at(TableIndex table) const { return rows_[static_cast<size_t>(table)]; }
  std::array<std::vector<bool>, kTableCount> rows_;
};

/// Analysis writes these tables, and writes them again for a copy.
constexpr bool is_derived(TableIndex table) {
  return table == TableIndex::kKernelName ||
         (table >= TableIndex::kEdge && table <= TableIndex::kIteration);
}

struct CopyOptions {
  std::function<Ns(Ns)>
      clock;  ///< turns the times of the trace into those of the copy; empty: none
  /// Leave out how the processes were started: command lines and environment variables.
  bool redact = false;
  const Selection* only = nullptr;  ///< null: all rows. What they refer to must be selected, too
};

/// All rows that are not derived, and the texts that they refer to. Throws Error.
void copy_rows(const Trace& trace, Writer& writer, const CopyOptions& options);

}  // namespace streamscope::trace
