// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Checks that the segments and collectives of a summary add up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "job/files/rank_summary.h"

namespace streamscope::job {

inline Ns length_of(const Segment& segment) {
  return std::accumulate(segment.shares.begin(), segment.shares.end(), Ns{0});
}

/// The time of the segments and collectives on the way back from the end of an iteration.
inline Ns chain_ns(const RankIteration& iteration) {
  Ns total = 0;
  size_t at = iteration.collectives.size();
  while (true) {
    const Segment& segment = iteration.segments[at];
    total += length_of(segment);
    if (segment.after < 0) return total;
    at = static_cast<size_t>(segment.after);
    const Collective& collective = iteration.collectives[at];
    total += collective.end_ns - std::max(collective.start_ns, iteration.start_ns);
  }
}

inline void expect_sums(const RankSummary& summary, const std::string& which) {
  for (size_t i = 0; i < summary.iterations.size(); ++i) {
    const RankIteration& iteration = summary.iterations[i];
    const std::string here = which + ", iteration " + std::to_string(i);
    ASSERT_EQ(iteration.segments.size(), iteration.collectives.size() + 1) << here;
    for (size_t s = 0; s < iteration.segments.size(); ++s) {
      ASSERT_LT(iteration.segments[s].after, static_cast<int32_t>(s)) << here;
      ASSERT_LT(iteration.segments[s].place, summary.places.size()) << here;
      ASSERT_LT(iteration.segments[s].host_place, summary.places.size()) << here;
      for (const Ns share : iteration.segments[s].shares)
        ASSERT_GE(share, 0) << here << ", segment " << s;
    }
    ASSERT_EQ(chain_ns(iteration), iteration.end_ns - iteration.start_ns) << here;
  }
}

}  // namespace streamscope::job
