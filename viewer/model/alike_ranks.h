// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks of a job that one lane can stand for.
#pragma once

#include <vector>

#include "job/job.h"

namespace streamscope::viewer {

/// Ranks that make the same calls and wait alike, and none of which makes others wait: rows of
/// job::Steps, ascending. The first stands for all. A rank that is like no other is alone.
struct AlikeRanks {
  std::vector<uint32_t> ranks;

  bool is_fold() const { return ranks.size() > 1; }
};

/// A rank is late, and never folded, if others wait this share of an iteration for it, all of them
/// together; noise makes a rank cause less.
inline constexpr double kLateShare = 0.2;
/// Ranks wait alike if their waiting per iteration, in communicators of each size, differs by no
/// more than this share of an iteration.
inline constexpr double kAlikeShare = 0.05;

/// By first rank. `caused_ns`: by rank row, per iteration. O(steps + ranks * groups).
std::vector<AlikeRanks> alike_ranks(const job::Job& job, const std::vector<double>& caused_ns);

/// A row of the lanes: a rank, or ranks that are folded.
struct ShownRank {
  uint32_t rank = 0;  ///< whose lane is drawn
  uint32_t group = 0;
  bool is_fold = false;    ///< stands for its group, whose members follow if it is unfolded
  bool is_member = false;  ///< of an unfolded group
};

/// Top to bottom, by number, or those first that make others wait most. `unfolded`: by group.
std::vector<ShownRank> shown_ranks(const std::vector<AlikeRanks>& groups,
                                   const std::vector<double>& caused_ns, bool by_number,
                                   const std::vector<bool>& unfolded);

}  // namespace streamscope::viewer
