// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job that a trace contains, for `info`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/read/reader.h"

namespace streamscope::report {

/// Numbers are trace::kNoSmall where they are not known.
struct RankFact {
  trace::Small rank = trace::kNoSmall, world_size = trace::kNoSmall, local_rank = trace::kNoSmall;
  std::string source;
  uint64_t processes = 0;  ///< that are this rank

  auto operator<=>(const RankFact&) const = default;
};

/// By number.
std::vector<RankFact> ranks_of(const trace::Trace& trace);
/// "rank 3 of 8, local rank 3, from RANK", or "ranks 0-2, 5 of 8, from RANK"; "" without a
/// rank.
std::string rank_sentence(const std::vector<RankFact>& ranks);

}  // namespace streamscope::report
