// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/rank_summary.h"

#include <fmt/format.h>

namespace streamscope::job {

std::string name_of(const RankSummary& summary, const Collective& collective) {
  return fmt::format("{} {} of {}", streamscope::name_of(kCollectiveKinds, collective.kind),
                     collective.sequence, summary.communicators[collective.communicator].name);
}

}  // namespace streamscope::job
