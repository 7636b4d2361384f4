// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The time that a trace covers, and parts of it that users name. The viewer and commands that show
// or cut a part use it.
#pragma once

#include "trace/read/reader.h"
#include "vocabulary/time_range_text.h"

namespace streamscope::analysis {

/// Half-open range of time.
struct Extent {
  trace::Ns begin_ns = 0, end_ns = 0;
};

/// From the first to the last time of work, calls, ranges, operations and tasks; 0 to 1 ms if there
/// is none. Never empty.
Extent extent_of(const trace::Trace& trace);

/// A range within an extent, as an option --range names it. Throws Error if it is empty or outside.
Extent resolve(const TextRange& range, const Extent& extent);

}  // namespace streamscope::analysis
