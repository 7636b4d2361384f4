// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/common_clock.h"

#include <algorithm>
#include <limits>

namespace streamscope::job {

CommonClock::CommonClock(const Job& job) : job_(job) {
  Ns first_ns = std::numeric_limits<Ns>::max();
  for (uint32_t row = 0; row < job.steps.ranks.size(); ++row)
    first_ns = std::min(first_ns, of(row, 0));
  if (!job.steps.ranks.empty()) first_ns_ = first_ns;
}

Ns CommonClock::of(uint32_t rank_row, Ns trace_ns) const {
  const Ns host_ns = trace::sum_of(trace_ns, job_.steps.ranks[rank_row].shift_ns);
  const RankClock& clock = job_.clocks[rank_row];
  return trace::difference_of(clock.known() ? clock.to_first(host_ns) : host_ns, first_ns_);
}

Ns CommonClock::started_ns() const {
  const Ns origin_ns = job_.steps.origin_ns;
  return origin_ns == 0 ? trace::kUnknownNs : trace::sum_of(origin_ns, first_ns_);
}

}  // namespace streamscope::job
