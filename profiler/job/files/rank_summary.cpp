// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/rank_summary.h"

#include <fmt/format.h>

namespace streamscope::job {

int32_t rank_in(const Membership& membership, const RankIdentity& self) {
  const bool is_whole_job = self.world_size > 0 && membership.size == self.world_size;
  return membership.rank < 0 && is_whole_job ? self.rank : membership.rank;
}

std::string name_of(const RankSummary& summary, const Collective& collective) {
  return fmt::format("{} {} of {}", streamscope::name_of(kCollectiveKinds, collective.kind),
                     collective.sequence, summary.communicators[collective.communicator].name);
}

}  // namespace streamscope::job
