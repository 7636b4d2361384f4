// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations of a program whose ops are all alike: the parts between its synchronizations.
#pragma once

#include <vector>

#include "periods.h"

namespace streamscope::analysis {

/// Parts of the work that a period matches, which is all alike: each begins after the thread that
/// issues it was blocked in a synchronization, at the same place as the others if it synchronizes
/// at several in turn.
struct AlikeParts {
  std::vector<size_t> bounds;  ///< where they begin, as indexes of IssuedWork, and where they end
  double repeated = 0;         ///< of their ops, how many are in a part with the usual number
};

/// Nothing if most of the parts have different numbers of ops. O(n log n).
AlikeParts parts_between_syncs(Analyses& analyses, const IssuedWork& work, const Period& period);

}  // namespace streamscope::analysis
