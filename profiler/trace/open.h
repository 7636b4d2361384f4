// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Opens a trace file, or another program's database, for reading, after making sure that it is one;
// makes the file of a new trace.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sqlite.h"

namespace streamscope::trace {

/// A read-only connection. Throws Error that says what is wrong with the file and what to do:
/// missing, empty, truncated, not SQLite, another program's database, another format.
std::unique_ptr<Database> open_trace(const std::filesystem::path& file);

/// The same for any SQLite file, whatever is in it.
std::unique_ptr<Database> open_database(const std::filesystem::path& file);

/// Throws Error unless the database that was opened is a trace whose tables are as Writer makes
/// them.
void expect_trace(const Database& database);

/// One more connection to the file of a trace that is open.
std::unique_ptr<Database> open_again(const Database& trace);

/// True if nothing is stored there yet: no file, an empty one, or a database without tables, as a
/// writer makes one in its first milliseconds.
bool is_unwritten(const std::filesystem::path& file);

/// Makes an empty file with mode 0600 for a trace. SQLite would follow a link, share a file or take
/// what another program left there. Throws Error if there is anything (`overwrite`: anything but a
/// plain file), or if it cannot be made.
void create_file(const std::filesystem::path& file, bool overwrite);

/// The file as SQLite takes it with SQLITE_OPEN_URI. `parameters`: as after the question mark.
std::string uri_of(const std::filesystem::path& file, std::string_view parameters);

}  // namespace streamscope::trace
