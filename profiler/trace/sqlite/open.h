// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Opens a trace file, or another program's database, for reading, after checking that it is one;
// creates the file of a new trace.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sqlite.h"

namespace streamscope::trace {

/// A read-only connection. Throws Error with what is wrong with the file and what to do: missing,
/// empty, truncated, not SQLite, another program's database, another format.
std::unique_ptr<Database> open_trace(const std::filesystem::path& file);

/// The same for any SQLite file, whatever its content.
std::unique_ptr<Database> open_database(const std::filesystem::path& file);

/// Throws Error unless the open database is a trace whose tables have the schema that Writer
/// creates.
void expect_trace(const Database& database);

/// Another connection to the file of an open trace.
std::unique_ptr<Database> open_again(const Database& trace);

/// True if nothing is stored there yet: no file, an empty one, or a database without tables, as a
/// writer creates it in its first milliseconds.
bool is_unwritten(const std::filesystem::path& file);

/// Creates an empty file with mode 0600 for a trace. SQLite would follow a link, share a file or
/// reuse what another program left there. Throws Error if anything exists there (`overwrite`:
/// anything but a plain file), or if it cannot be created.
void create_file(const std::filesystem::path& file, bool overwrite);

/// The file as a URI for SQLITE_OPEN_URI. `parameters`: what follows the question mark.
std::string uri_of(const std::filesystem::path& file, std::string_view parameters);

}  // namespace streamscope::trace
