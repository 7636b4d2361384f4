// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Communication and work of each rank at the same time.
#pragma once

#include <algorithm>

#include "waiting.h"

namespace streamscope::job {

/// Of one rank: of one iteration, or the mean of all.
struct Overlap {
  double communication_ns = 0;  ///< a collective ran, waiting included
  double exposed_ns = 0;        ///< of it, with no other work of the rank beside it; where only
                                ///< paths are known, what the rank's path went through
  double waited_ns = 0;         ///< of `exposed_ns`, waiting for other ranks

  /// The part of communication that costs nothing; 1 without communication.
  double share() const {
    return communication_ns > 0 ? std::max(1 - exposed_ns / communication_ns, 0.0) : 1;
  }
};

/// O(steps of the iteration).
Overlap overlap_in(const Steps& steps, const Waiting& waiting, const IterationRow& row);
/// Means by rank row. O(steps).
std::vector<Overlap> overlap_of(const Steps& steps, const Waiting& waiting);

}  // namespace streamscope::job
