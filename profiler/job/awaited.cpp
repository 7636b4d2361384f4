// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/awaited.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "job/by_place.h"
#include "job/rank_words.h"

namespace streamscope::job {
namespace {

struct Awaited {
  double waits_ns = 0;
  std::array<TimeBy, analysis::kShareCount> shares;  // by place
};

// The others wait until the work before the collective is done, so for its last part.
void add(const Steps& steps, const Wait& wait, Awaited& to) {
  const auto work_ns = static_cast<double>(steps.work_ns[wait.late]);
  const auto late_ns = static_cast<double>(wait.late_ns);
  if (work_ns <= 0 || late_ns <= 0) return;
  const double during_ns = static_cast<double>(wait.total_ns) * std::min(1.0, work_ns / late_ns);
  to.waits_ns += during_ns;
  for (size_t share = 0; share < analysis::kShareCount; ++share) {
    const double part = double{steps.shares[wait.late][share]};
    if (part <= 0) continue;
    const bool host = is_host_time(static_cast<analysis::TimeShare>(share));
    const uint32_t place = host ? steps.host_place[wait.late] : steps.place[wait.late];
    to.shares[share][place] += during_ns * part / work_ns;
  }
}

}  // namespace

std::vector<AwaitedRank> awaited_without_peers(const Steps& steps, const Peers& peers,
                                               const Waiting& waiting, double least_ns) {
  std::map<uint32_t, Awaited> by_rank;
  for (const Wait& wait : waiting.waits) {
    if (wait.late != kNone && peers.is_alone[steps.rank_of(wait.late)])
      add(steps, wait, by_rank[steps.rank_of(wait.late)]);
  }
  std::vector<AwaitedRank> result;
  for (const auto& [rank, awaited] : by_rank) {
    const double count = steps.ranks[rank].row_count;
    if (awaited.waits_ns / count < least_ns) continue;
    const auto most = std::ranges::max_element(awaited.shares, {}, sum_of);
    AwaitedRank one{.rank_row = rank,
                    .waits_ns = awaited.waits_ns / count,
                    .share = static_cast<analysis::TimeShare>(most - awaited.shares.begin()),
                    .share_ns = sum_of(*most) / count};
    if (const uint32_t place = main_place(*most); place != kNone) one.place = steps.places[place];
    result.push_back(std::move(one));
  }
  std::ranges::stable_sort(result, std::greater<>(), &AwaitedRank::waits_ns);
  return result;
}

std::string sentence_of(const Steps& steps, const AwaitedRank& awaited) {
  return fmt::format(
      "rank {} makes others wait {} per iteration, {} of it by {} {}; no other rank makes the same "
      "calls, so how much is usual is not known",
      steps.ranks[awaited.rank_row].identity.rank, duration_text(awaited.waits_ns),
      duration_text(awaited.share_ns), names_of(awaited.share).shown,
      awaited.place.empty() ? "in many places" : "at " + awaited.place);
}

}  // namespace streamscope::job
