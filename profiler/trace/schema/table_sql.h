// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The SQL statements that the writer generates from the description of a table. Internal to trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/tables.h"

namespace streamscope::trace {

bool has_column(const TableInfo& table, std::string_view name);

/// "INSERT INTO op(kind,...) SELECT c0,... FROM rows", with only the columns whose bit is set in
/// `wanted`. Without an id SQLite takes the highest plus one and appends to the table without a
/// search, which yields dense ids; only the first row must set it to 0.
std::string insert_sql(const TableInfo& table, bool first, uint32_t wanted);

/// Replaces all columns of the row ?1; column i is ?(i+2).
std::string update_sql(const TableInfo& table);

}  // namespace streamscope::trace
