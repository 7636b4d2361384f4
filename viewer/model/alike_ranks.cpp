// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "alike_ranks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace streamscope::viewer {
namespace {

using job::IterationRow;
using job::Steps;

using WaitsBySize = std::map<int32_t, double>;  // by size of the communicator

// Of one rank, per iteration.
WaitsBySize waits_of(const job::Job& job, uint32_t rank) {
  const Steps& steps = job.steps;
  WaitsBySize waits;
  const job::RankRow& row = steps.ranks[rank];
  for (uint32_t i = row.first_row; i < row.first_row + row.row_count; ++i) {
    const IterationRow& iteration = steps.iterations[i];
    for (uint32_t step = iteration.first_step; step < iteration.first_step + iteration.step_count;
         ++step) {
      if (steps.ends_iteration(step)) continue;
      waits[steps.communicators[steps.communicator[step]].size] +=
          static_cast<double>(job::waited_ns(steps, job.waiting.waits[steps.group[step]], step)) /
          row.row_count;
    }
  }
  return waits;
}

bool are_alike(const WaitsBySize& a, const WaitsBySize& b, double tolerance_ns) {
  return std::ranges::equal(a, b, [&](const auto& one, const auto& other) {
    return one.first == other.first && std::fabs(one.second - other.second) <= tolerance_ns;
  });
}

// What ranks must have in common exactly: their calls, as those of the first iteration, how many
// iterations they have, and whether their clock is known.
using Program = std::tuple<std::pair<uint32_t, uint64_t>, uint32_t, bool>;

Program program_of_rank(const job::Job& job, uint32_t rank) {
  const job::RankRow& row = job.steps.ranks[rank];
  const bool has_clock = job.clocks[rank].known();
  if (row.row_count == 0) return {{0, 0}, 0, has_clock};
  return {job::program_of(job.steps, job.steps.iterations[row.first_row]), row.row_count,
          has_clock};
}

}  // namespace

std::vector<AlikeRanks> alike_ranks(const job::Job& job, const std::vector<double>& caused_ns) {
  struct Leader {
    size_t group;
    WaitsBySize waits;
  };
  std::vector<AlikeRanks> groups;
  std::map<Program, std::vector<Leader>> leaders;
  for (uint32_t rank = 0; rank < job.steps.ranks.size(); ++rank) {
    if (caused_ns[rank] > kLateShare * job.iteration_ns) {
      groups.push_back({{rank}});
      continue;
    }
    WaitsBySize waits = waits_of(job, rank);
    std::vector<Leader>& of_program = leaders[program_of_rank(job, rank)];
    const auto like = std::ranges::find_if(of_program, [&](const Leader& leader) {
      return are_alike(leader.waits, waits, kAlikeShare * job.iteration_ns);
    });
    if (like != of_program.end()) {
      groups[like->group].ranks.push_back(rank);
    } else {
      of_program.push_back({groups.size(), std::move(waits)});
      groups.push_back({{rank}});
    }
  }
  return groups;
}

std::vector<ShownRank> shown_ranks(const std::vector<AlikeRanks>& groups,
                                   const std::vector<double>& caused_ns, bool by_number,
                                   const std::vector<bool>& unfolded) {
  const auto latest_first = [&](std::vector<uint32_t>& order, const std::vector<double>& caused) {
    if (by_number) return;
    std::ranges::stable_sort(order, std::greater<>(), [&](uint32_t each) { return caused[each]; });
  };
  std::vector<uint32_t> order(groups.size());
  std::vector<double> most(groups.size());
  for (uint32_t group = 0; group < order.size(); ++group) {
    order[group] = group;
    for (const uint32_t rank : groups[group].ranks)
      most[group] = std::max(most[group], caused_ns[rank]);
  }
  latest_first(order, most);
  std::vector<ShownRank> shown;
  for (const uint32_t group : order) {
    std::vector<uint32_t> ranks = groups[group].ranks;
    shown.push_back({.rank = ranks.front(), .group = group, .is_fold = groups[group].is_fold()});
    if (!groups[group].is_fold() || group >= unfolded.size() || !unfolded[group]) continue;
    latest_first(ranks, caused_ns);
    for (const uint32_t rank : ranks)
      shown.push_back({.rank = rank, .group = group, .is_member = true});
  }
  return shown;
}

}  // namespace streamscope::viewer
