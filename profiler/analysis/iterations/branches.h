// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Branches of a stream's work that do not depend on each other by the memory that they access, and
// so could run on two streams.
//
// Known are the bytes of copies and memsets and of what operations of libcoord declare. A kernel's
// parameters only show which allocations it may access: what it writes through a pointer to memory
// with further pointers is not seen. An op whose accesses or occupancy are unknown depends on all
// others.
#pragma once

#include "analysis/analyses.h"
#include "iterations.h"

namespace streamscope::analysis {

struct Branches {
  /// The steady part with the stream's work on it and on one more; events order what depends on
  /// each other.
  Change change;
  Id first = kNoId;       ///< the first op that moves to the other stream; kNoId: none can
  size_t iterations = 0;  ///< that were looked at
  uint64_t count = 0;     ///< ops that move
  Ns beside_ns = 0;       ///< how much of the work would run beside other work of the stream
  bool possible = false;  ///< known only by parameters of kernels
};

/// `iterations` was found; looks at the first `most` of the steady part. O(n log n) in the ops and
/// accesses of the trace.
Branches find_branches(Analyses& analyses, const Iterations& iterations, Id stream, size_t most);

}  // namespace streamscope::analysis
