// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why a process stands still, in a short text that a person can act on, with the part of the
// wait-for graph that shows it. Asked while the process lives, and of its trace later.
#pragma once

#include <map>

#include "analysis/analyses.h"
#include "trace/hang_report.h"

namespace streamscope::analysis {

/// The verdict of a process; docs/analysis.md lists them. `alarm` is false for "alive" (what it
/// waits for is no longer under way than such work was before, or a thread works) and for "idle"
/// (nothing is pending). `coord`: what libcoord said, while the process lived, of waits in it that
/// may never end.
trace::HangReport explain_hang(Analyses& analyses, Id process,
                               const trace::HangReport* coord = nullptr);

/// Why processes never went on whose simulated device said so: it ends a hopeless wait at once, and
/// nobody need look. Empty if the trace holds such reports already.
std::map<Id, trace::HangReport> proved_hangs(Analyses& analyses);

/// Reports of all processes that do not go on, as recorded, else as the trace lets us conclude.
std::vector<trace::HangReport> explain_hangs(Analyses& analyses);

}  // namespace streamscope::analysis
