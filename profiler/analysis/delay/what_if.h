// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Parses what-if questions into changes for replay.h: what if an edge, a synchronization or an op
// were removed, an op took a different time, a stream or a copy engine were added?
#pragma once

#include <string_view>

#include "analysis/analyses.h"

namespace streamscope::analysis {

/// Adds one of these to a change: "drop-edge:12" (a row of `edge`), "drop-sync:3" (of host_sync:
/// the host does not wait there), "scale-op:7=0.5", "drop-op:7" (it takes no time), "add-stream:4"
/// (its work runs on it and on one more, in any order), "split-stream:4" (branches of its work in
/// iterations, see branches.h, run on it and on one more), "add-copy-engine" (of every device),
/// "graph" (each iteration) or "no-sync" (in iterations). Returns false and leaves the change alone
/// if the text is none of these or names what the trace does not have.
bool add_change(Analyses& analyses, std::string_view text, Change& change);

}  // namespace streamscope::analysis
