// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Cuts a part out of a trace.
#pragma once

#include <filesystem>
#include <string_view>

#include "trace/read/reader.h"

namespace streamscope::trace {

/// An interval of one process, or of all.
struct Part {
  Id process = kNoId;  ///< kNoId: all
  Ns start_ns = 0, end_ns = 0;
};

/// What the last range of this name that has ended covers. Throws Error if there is none.
Part part_of_range(const Trace& trace, std::string_view name);

/// Writes `out`: what the process did on the host from the beginning of the part to its end, the
/// work that this gave to devices (of all processes: also the work that ran meanwhile), and all
/// that these refer to, such as the records that waits before the part left. Memory that was
/// allocated before is known, too. Times and clock stay as they are; derived tables are left empty.
/// Throws Error.
void cut(Trace trace, const Part& part, const std::filesystem::path& out, bool overwrite);

}  // namespace streamscope::trace
