// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The steady part as if it were captured in graphs.
#pragma once

#include "analysis/delay/change.h"
#include "iteration_model.h"

namespace streamscope::analysis {

struct Graphs {
  Change change;
  size_t count = 0;
  size_t launches = 0;  ///< launches of kernels that they replace
};

/// Everything between two synchronizations, synchronous copies, allocations or ends of iterations
/// as one graph, if it is at least eight launches, and a quarter of those of an iteration.
Graphs as_graphs(Analyses& analyses, const IterationModel& model);

/// The same if the synchronizations of the steady part, and the copies that they are or whose
/// values the host reads by them, were gone.
Graphs as_graphs_without_syncs(Analyses& analyses, const IterationModel& model);

}  // namespace streamscope::analysis
