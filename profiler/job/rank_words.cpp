// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/rank_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/units.h"
#include "vocabulary/list_text.h"

namespace streamscope::job {

std::string duration_text(double ns) { return analysis::format_duration(std::llround(ns)); }

std::string ranks_text(std::vector<int32_t> ranks) {
  constexpr size_t kMostParts = 6;
  std::ranges::sort(ranks);
  std::vector<std::string> parts;
  size_t named = 0;
  for (size_t i = 0; i < ranks.size() && parts.size() < kMostParts;) {
    size_t next = i + 1;
    while (next < ranks.size() && ranks[next] == ranks[next - 1] + 1) ++next;
    if (next - i == 2) next = i + 1;  // two neighbors are named both
    parts.push_back(next - i == 1 ? fmt::format("{}", ranks[i])
                                  : fmt::format("{}–{}", ranks[i], ranks[next - 1]));
    named += next - i;
    i = next;
  }
  if (named < ranks.size()) parts.push_back(fmt::format("{} more", ranks.size() - named));
  return (ranks.size() == 1 ? "rank " : "ranks ") + listed(parts);
}

}  // namespace streamscope::job
