// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts a trace with a write-ahead log to one plain file.
#pragma once

#include <filesystem>

#include "trace/sqlite/sqlite.h"

namespace streamscope::trace {

/// Moves the content of the log into the file, removes the log and leaves journal mode DELETE. A
/// kill at any time leaves either the file and its log or the plain file. False if another process
/// has the file open: it stays unchanged. Throws Error if the file cannot be written; nothing is
/// lost in that case either.
bool fold_wal(Database& database);

/// The same for a finished trace without a writer; first rolls back what another program was
/// writing when it was killed. False if another process has it open, or if it is not a finished
/// trace. If there is nothing to do, this only reads the header. Throws Error.
bool fold_wal(const std::filesystem::path& file);

}  // namespace streamscope::trace
