// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Steps that consist of equal rounds and nothing else. Their work does not show where a step
// begins, but the host does more before the first round of a step than before the others.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "issued_work.h"

namespace streamscope::analysis {

/// Every `period`th pause of a series, beginning with the index `first`, is longer than most of
/// those around it.
struct Rhythm {
  size_t period = 0, first = 0;  ///< first < period
  double evidence = 0;  ///< minus the logarithm of the chance that pauses at random look like that

  bool operator==(const Rhythm&) const = default;
};

/// The most evident one: a multiple of a period has less, as it occurs less often. None below 16
/// pauses, and if pauses at random might look like that. Equal pauses have none. O(n) per period
/// that is tried: from 3 to 512 and at most an eighth of the series.
std::optional<Rhythm> find_rhythm(std::span<const Ns> pauses);

struct StepsOfRounds {
  std::vector<size_t> bounds;  ///< where steps begin, as indexes of IssuedWork, and where they end
  size_t rounds = 0;           ///< of a step
};

/// Nothing if the pauses before rounds have no rhythm, or if rounds have more than 64 ops: those
/// are steps, of which each fourth may wait for a batch that one of four workers made. `rounds`:
/// where they begin and end, as above.
std::optional<StepsOfRounds> steps_of_rounds(Analyses& analyses, const IssuedWork& work,
                                             std::span<const size_t> rounds);

}  // namespace streamscope::analysis
