// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The summary of one rank, from its trace.
#pragma once

#include "analysis/analyses.h"
#include "files/rank_summary.h"

namespace streamscope::job {

/// Of the process with the most device time. A trace without iterations that issue its collectives
/// is one iteration. Following Segment::after back from the end of an iteration, the segments and
/// the times of the collectives in it sum to its duration.
RankSummary summarize(analysis::Analyses& analyses, RankIdentity identity);

}  // namespace streamscope::job
