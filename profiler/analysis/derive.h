// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the derived tables into a finished trace, so that SQL and the viewer need not compute
// them.
#pragma once

#include <optional>
#include <vector>

#include "analyses.h"
#include "detector.h"

namespace streamscope::analysis {

/// `analysis_version` of the derived tables written here; a trace with another one is stale.
inline constexpr int64_t kAnalysisVersion = 1;

struct DerivedCounts {
  size_t edges = 0;
  size_t wait_causes = 0;
  size_t path_steps = 0;
  size_t findings = 0;
  size_t lod_rows = 0;
};

/// Replaces the derived tables of the file that the trace was read from, and adds the hangs that
/// the trace proves. Whoever opens or copies the file meanwhile gets it without or with all of
/// that. Throws Error if the file cannot be written; it is then what it was.
DerivedCounts write_derived_tables(Analyses& analyses);

/// True if the trace holds derived tables of this version, and no row of them lacks what it must
/// have.
bool has_derived_tables(const Trace& trace);

/// What the detectors answered when the derived tables were made, without the repairs. Nothing if
/// these are of another version, or the trace has other rows than it had then. The other derived
/// tables need not be read.
std::optional<std::vector<Verdict>> stored_verdicts(const Trace& trace);

/// A trace of more ops is asked for the answers that it holds before they are computed again.
inline constexpr size_t kTakeDerivedAbove = 1'000'000;

/// The stored verdicts of a trace of more than so many ops if it has them, else evaluate_all().
std::vector<Verdict> verdicts(Analyses& analyses, size_t take_derived_above = kTakeDerivedAbove);

}  // namespace streamscope::analysis
