// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Explains why a process hangs: a short text to act on and the relevant part of the wait-for graph.
// Works on a live process and later on its trace.
#pragma once

#include <map>

#include "analysis/analyses.h"
#include "trace/write/hang_report.h"

namespace streamscope::analysis {

/// The verdict on a process; docs/analysis.md lists them. `alarm` is false for "alive" (what it
/// waits for has run no longer than earlier work of its kind, or a thread computes) and for "idle"
/// (nothing is pending). `coord`: what libcoord reported, while the process was alive, about waits
/// inside it that may never end.
trace::HangReport explain_hang(Analyses& analyses, Id process,
                               const trace::HangReport* coord = nullptr);

/// Hangs proved by a simulated device: it ends a wait that can never succeed immediately, so no
/// monitor is needed. Empty if the trace holds such reports already.
std::map<Id, trace::HangReport> proved_hangs(Analyses& analyses);

/// Reports on all processes that hang: as recorded, otherwise derived from the trace.
std::vector<trace::HangReport> explain_hangs(Analyses& analyses);

}  // namespace streamscope::analysis
