// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the derived tables into a finished trace, so that SQL and the viewer need not compute
// them.
#pragma once

#include "edges.h"

namespace streamscope::analysis {

/// `analysis_version` of the derived tables written here; a trace with another one is stale.
inline constexpr int64_t kAnalysisVersion = 1;

/// Replaces the derived tables of the file that `trace` was read from. Throws Error if the file
/// cannot be written.
void write_derived_tables(const Trace& trace, const Edges& edges);

/// True if the trace holds derived tables of this version.
bool has_derived_tables(const Trace& trace);

}  // namespace streamscope::analysis
