// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/rank_hang.h"

#include <algorithm>

namespace streamscope::job {

void add_lost_ranks(std::vector<RankHang>& ranks, std::string_view reason) {
  int32_t size = 0;
  for (const RankHang& rank : ranks) size = std::max(size, rank.identity.world_size);
  std::vector<bool> known(static_cast<size_t>(size));
  for (const RankHang& rank : ranks) {
    if (rank.identity.rank >= 0 && rank.identity.rank < size)
      known[static_cast<size_t>(rank.identity.rank)] = true;
  }
  for (int32_t rank = 0; rank < size; ++rank) {
    if (known[static_cast<size_t>(rank)]) continue;
    RankHang& lost = ranks.emplace_back();
    lost.identity.rank = rank;
    lost.state = RankState::kLost;
    lost.reason = reason;
  }
}

}  // namespace streamscope::job
