// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "ranks.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "analysis/labels.h"
#include "vocabulary/number_ranges.h"

namespace streamscope::report {

using trace::kNoSmall;
using trace::Small;

std::vector<RankFact> ranks_of(const trace::Trace& trace) {
  const auto& processes = trace.process;
  std::map<std::tuple<Small, Small, Small, trace::Id>, uint64_t> counts;
  for (trace::Id row = 0; row < processes.size(); ++row) {
    if (processes.rank[row] != kNoSmall)
      ++counts[{processes.rank[row], processes.world_size[row], processes.local_rank[row],
                processes.rank_source_id[row]}];
  }
  std::vector<RankFact> ranks;
  for (const auto& [key, count] : counts) {
    const auto& [rank, world_size, local_rank, source] = key;
    ranks.push_back({rank, world_size, local_rank, analysis::printable(trace.text(source)), count});
  }
  return ranks;
}

std::string rank_sentence(const std::vector<RankFact>& ranks) {
  std::set<Small> numbers, sizes;
  std::set<std::string> sources;
  for (const RankFact& rank : ranks) {
    numbers.insert(rank.rank);
    if (rank.world_size != kNoSmall) sizes.insert(rank.world_size);
    if (!rank.source.empty()) sources.insert(rank.source);
  }
  if (numbers.empty()) return "";
  std::string text = (numbers.size() > 1 ? "ranks " : "rank ") + number_ranges(numbers);
  if (!sizes.empty()) text += fmt::format(" of {}", fmt::join(sizes, " or "));
  if (ranks.size() == 1 && ranks.front().local_rank != kNoSmall)
    text += fmt::format(", local rank {}", ranks.front().local_rank);
  if (!sources.empty()) text += fmt::format(", from {}", fmt::join(sources, " and "));
  return text;
}

}  // namespace streamscope::report
