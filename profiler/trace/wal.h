// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// From a trace with a write-ahead log to one plain file.
#pragma once

#include <filesystem>

#include "sqlite.h"

namespace streamscope::trace {

/// Moves what the log holds into the file, removes the log and leaves journal mode DELETE. A kill
/// at any instant leaves either the file and its log or the plain file. False if somebody else has
/// the file open: it stays as it is. Throws Error if the file cannot be written; nothing is lost
/// then either.
bool fold_wal(Database& database);

/// The same for a finished trace that nobody writes any more; rolls back first what another program
/// was writing when it was killed. False if somebody has it open, or if it is no finished trace.
/// Costs a look at the header where there is nothing to do. Throws Error.
bool fold_wal(const std::filesystem::path& file);

}  // namespace streamscope::trace
