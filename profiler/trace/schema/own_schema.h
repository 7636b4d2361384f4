// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Distinguishes the tables of a trace from those of a hostile file. The schema of a file is never
// trusted: tables are recognized by the text that created them, views are those of this version.
#pragma once

#include <string>
#include <string_view>

#include "schema.h"
#include "trace/sqlite/sqlite.h"

namespace streamscope::trace {

/// The statement of schema.sql that creates a table.
std::string_view create_table_sql(std::string_view table);
/// The statements that create the views which read a table, each after one that drops the view.
std::string create_views_sql(std::string_view table, std::string_view schema = schema_sql());

/// Throws Error unless every table of schema.sql exists and was created by its statement; comments
/// and whitespace may differ.
void expect_own_tables(const Database& database);

/// Throws Error if the file has triggers: no trace has any, and they would change what is stored.
void expect_no_triggers(const Database& database);

/// Creates the views of this version in the connection's own memory, where they hide those of the
/// file.
void make_own_views(Database& database);
/// True if the SQL names one of them.
bool names_own_view(std::string_view sql);

}  // namespace streamscope::trace
