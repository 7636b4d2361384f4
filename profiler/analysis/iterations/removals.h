// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The steady part as if something took no time. What bounds an iteration is what it is shortest
// without.
#pragma once

#include <optional>

#include "analysis/delay/change.h"
#include "shares.h"
#include "steady_syncs.h"

namespace streamscope::analysis {

/// Removes what a share is spent on: work of the device, with its calls if it is copies, times of
/// the threads that issue work, or the waiting of synchronizations. Without launching, the device
/// starts work as it does in a graph. Nothing for shares that no program is rid of, or of which too
/// little is known. `count`: of the first steady iterations, at least one; the others may keep it.
/// `threads`: that issue work. O(synchronizations + what these iterations issue), after
/// Analyses::by_start().
std::optional<Change> without(TimeShare share, Analyses& analyses, const Iterations& iterations,
                              size_t count, const SteadySyncs& syncs,
                              const std::vector<Id>& threads);

}  // namespace streamscope::analysis
