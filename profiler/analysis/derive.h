// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the derived tables into a finished trace, so that SQL queries and the viewer need not
// compute them.
#pragma once

#include <optional>
#include <vector>

#include "analyses.h"
#include "detector.h"
#include "iterations/iterations.h"

namespace streamscope::analysis {

/// `analysis_version` of the derived tables written here; a trace with another one is stale.
inline constexpr int64_t kAnalysisVersion = 1;

struct DerivedCounts {
  size_t edges = 0;
  size_t findings = 0;
};

/// Replaces the derived tables of the file that the trace was read from, and adds the hangs that
/// the trace proves. Atomic: a program that opens or copies the file meanwhile gets all of it or
/// nothing. Throws Error if the file cannot be written; the file is then unchanged.
DerivedCounts write_derived_tables(Analyses& analyses);

/// Reads what the analyses need of a trace: all but the derived tables that they recompute, such as
/// edges; findings are read.
trace::ReadOptions options_to_analyze();

/// True if the trace contains derived tables of this version and all of their rows are complete.
bool has_derived_tables(const Trace& trace);

/// The verdicts of the detectors when the derived tables were written, without the repairs. Empty
/// if those are of another version or the rows of the trace have changed since. The other derived
/// tables need not be read.
std::optional<std::vector<Verdict>> stored_verdicts(const Trace& trace);

/// The iterations of the derived tables, without their thread and without how alike they are. Not
/// found if there are none, they are of another version or their rows are invalid.
Iterations stored_iterations(const Trace& trace);

/// For a trace with more ops, stored verdicts are used instead of computing them again.
inline constexpr size_t kTakeDerivedAbove = 1'000'000;

/// The stored verdicts of a trace with more ops than that if it has them, otherwise evaluate_all().
std::vector<Verdict> verdicts(Analyses& analyses, size_t take_derived_above = kTakeDerivedAbove);

}  // namespace streamscope::analysis
