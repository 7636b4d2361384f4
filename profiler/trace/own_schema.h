// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tells the tables of a trace from what a hostile file has in their place. The schema of a file is
// never trusted: tables are known by the text that made them, views are those of this version.
#pragma once

#include <string>
#include <string_view>

#include "sqlite.h"

namespace streamscope::trace {

/// The statement of schema.sql that makes a table.
std::string_view create_table_sql(std::string_view table);

/// Throws Error unless every table of schema.sql is there and was made by its statement; comments
/// and space may differ.
void expect_own_tables(const Database& database);

/// Throws Error if the file has triggers: no trace has, and they would change what is stored.
void expect_no_triggers(const Database& database);

/// Makes the views of this version in the connection's own memory, where they hide those of the
/// file.
void make_own_views(Database& database);
/// True if SQL names one of them.
bool names_own_view(std::string_view sql);

}  // namespace streamscope::trace
