// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What if an edge, a synchronization or an op were not there, an op took another time, a stream or
// a copy engine were added: questions in words, as changes that replay.h answers.
#pragma once

#include <string_view>

#include "analysis/analyses.h"

namespace streamscope::analysis {

/// Adds to a change what one of these texts says: "drop-edge:12" (a row of `edge`), "drop-sync:3"
/// (of host_sync: the host does not wait there), "scale-op:7=0.5", "drop-op:7" (which takes no
/// time), "add-stream:4" (its work runs on it and on one more) or "add-copy-engine" (of every
/// device). False, and the change is as it was, if it is none of these or names what the trace does
/// not hold.
bool add_change(Analyses& analyses, std::string_view text, Change& change);

}  // namespace streamscope::analysis
