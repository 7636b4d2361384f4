// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Buffered rows as a virtual table, so that one `INSERT INTO t SELECT ... FROM rows` stores them
// all.
//
// Binding and stepping a prepared statement once per row costs more than the insertion itself; with
// a virtual table SQLite reads the fields directly from the buffer and never leaves its own loop.
#pragma once

#include "trace/sqlite/sqlite.h"
#include "trace/tables.h"

namespace streamscope::trace {

/// What the virtual table `rows` (c0, c1, ...) currently contains. Set it, then run a statement
/// that selects from it.
struct RowSource {
  const TableInfo* table = nullptr;
  const unsigned char* begin = nullptr;
  size_t count = 0;
};

/// Registers `rows` with this connection. `source` must outlive it.
void register_row_source(Database& database, RowSource* source);

}  // namespace streamscope::trace
