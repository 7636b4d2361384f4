// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/units.h"
#include "rank_words.h"

namespace streamscope::job {
namespace {

constexpr double kLeastAwaited = 0.05;  // of an iteration
constexpr size_t kDelays = 3;           // and as many ranks in what-ifs

std::vector<Ns> medians_of(const Steps& steps) {
  std::map<uint32_t, std::vector<Ns>> by_number;
  for (const IterationRow& row : steps.iterations) {
    by_number[row.number].push_back(row.end_ns - row.start_ns);
  }
  std::vector<Ns> medians;
  for (auto& [number, durations] : by_number) {
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::ranges::nth_element(durations, middle);
    medians.push_back(*middle);
  }
  return medians;
}

/// When each rank begins, on one clock where it is known: ranks enter their first iteration as late
/// as they left the one before. The others begin with the median.
std::vector<Ns> starts_of(const Steps& steps, const std::vector<RankClock>& clocks) {
  std::vector<Ns> starts(steps.ranks.size()), known;
  const auto start_of = [&](size_t rank) {
    const Ns own = steps.iterations[steps.ranks[rank].first_row].start_ns;
    return clocks[rank].to_first(own);
  };
  const auto has_start = [&](size_t rank) {
    return clocks[rank].known() && steps.ranks[rank].row_count > 0;
  };
  for (size_t rank = 0; rank < starts.size(); ++rank) {
    if (has_start(rank)) known.push_back(start_of(rank));
  }
  if (known.empty()) return starts;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::ranges::nth_element(known, middle);
  for (size_t rank = 0; rank < starts.size(); ++rank) {
    starts[rank] = has_start(rank) ? start_of(rank) - *middle : 0;
  }
  return starts;
}

std::vector<Straggler> stragglers_of(const Steps& steps, const Waiting& waiting) {
  std::vector<Straggler> all(steps.ranks.size());
  std::map<uint32_t, uint32_t> worst;  // row by number of the iteration
  for (uint32_t row = 0; row < steps.iterations.size(); ++row) {
    const IterationRow& iteration = steps.iterations[row];
    all[iteration.rank].rank_row = iteration.rank;
    all[iteration.rank].caused_ns += waiting.caused_ns[row] / steps.ranks[iteration.rank].row_count;
    const auto [found, is_new] = worst.try_emplace(iteration.number, row);
    if (waiting.caused_ns[row] > waiting.caused_ns[found->second]) found->second = row;
  }
  for (const auto& [number, row] : worst) ++all[steps.iterations[row].rank].iterations;
  std::erase_if(all, [](const Straggler& straggler) { return straggler.caused_ns <= 0; });
  std::ranges::sort(all, std::greater<>(), &Straggler::caused_ns);
  return all;
}

std::string sentence_of(const Delay& delay, double iteration_ns) {
  const std::string who = delay.ranks.empty() ? "another rank each time" : ranks_text(delay.ranks);
  const std::string cost =
      fmt::format("costs {} per iteration ({:.1f} %)", duration_text(delay.cost_ns),
                  100 * delay.cost_ns / iteration_ns);
  const std::string longer = duration_text(delay.excess_ns);
  if (delay.exposed) {
    return fmt::format(
        "{}: waits for {}, which its peers overlap with work, for {} per iteration; {}", who,
        delay.place, longer, cost);
  }
  const std::string place = delay.place.empty() ? "in many places" : "at " + delay.place;
  return fmt::format("{}: {} {}, {} per iteration more than {}; {}", who,
                     names_of(delay.share).shown, place, longer,
                     delay.has_peers ? "on its peers" : "in its other iterations", cost);
}

std::vector<WhatIf> what_ifs_of(const Job& job, const Replay& replay, const Scenario& measured) {
  std::vector<WhatIf> result;
  Scenario scenario = reserved_like(measured);  // large: kept
  std::vector<Ns> ends;
  const auto ask = [&](std::string text, std::span<const uint32_t> ranks) {
    scenario = measured;
    make_as_peers(job.steps, job.peers, replay, ranks, scenario);
    replay.find_ends(scenario, ends);
    result.push_back({std::move(text), replay.iteration_ns(scenario, ends)});
  };
  for (size_t i = 0; i < std::min(kDelays, job.stragglers.size()); ++i) {
    const uint32_t row = job.stragglers[i].rank_row;
    ask(fmt::format("rank {} as fast as its peers", job.steps.ranks[row].identity.rank), {&row, 1});
  }
  std::vector<uint32_t> all(job.steps.ranks.size());
  for (uint32_t row = 0; row < all.size(); ++row) all[row] = row;
  ask("all ranks as fast as the median of their peers", all);
  return result;
}

}  // namespace

double Job::each_other_ns(double all_ns) const {
  return all_ns / static_cast<double>(std::max<size_t>(steps.ranks.size(), 2) - 1);
}

double Job::late_ns(uint32_t iteration_row) const {
  return each_other_ns(waiting.caused_ns[iteration_row]);
}

std::string Job::effect_of(const WhatIf& what_if) const {
  return analysis::format_change(what_if.iteration_ns / replayed_ns - 1);
}

Job analyze(Steps steps) {
  Job job;
  job.steps = std::move(steps);
  job.matching = matching_of(job.steps);
  job.clocks = clocks_of(job.steps);
  job.peers = peers_of(job.steps);
  job.waiting = waiting_of(job.steps, job.peers);
  job.overlap = overlap_of(job.steps, job.waiting);
  job.stragglers = stragglers_of(job.steps, job.waiting);
  if (job.steps.iterations.empty()) return job;

  const Replay replay(job.steps, job.matching, job.peers);
  const Scenario measured = replay.measured(job.waiting, starts_of(job.steps, job.clocks));
  const std::vector<Ns> ends = replay.ends(measured);
  job.durations_ns = medians_of(job.steps);
  for (const Ns duration : job.durations_ns) {
    job.iteration_ns +=
        static_cast<double>(duration) / static_cast<double>(job.durations_ns.size());
  }
  job.replayed_ns = replay.iteration_ns(measured, ends);
  job.critical_path = replay.critical_path(measured, ends);
  job.delays = costliest_delays(job.steps, job.peers, replay, measured, kDelays);
  for (const Delay& delay : job.delays) {
    job.delay_sentences.push_back(sentence_of(delay, job.replayed_ns));
  }
  job.awaited =
      awaited_without_peers(job.steps, job.peers, job.waiting, kLeastAwaited * job.iteration_ns);
  if (job.awaited.size() > kDelays) job.awaited.resize(kDelays);
  job.what_ifs = what_ifs_of(job, replay, measured);
  return job;
}

}  // namespace streamscope::job
