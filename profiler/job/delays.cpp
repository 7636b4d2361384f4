// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/delays.h"

#include <algorithm>
#include <map>
#include <set>

#include "job/by_place.h"
#include "vocabulary/threads.h"

namespace streamscope::job {
namespace {

using analysis::kShareCount;
using analysis::TimeShare;

// Chosen so that jobs whose ranks differ by noise only give no delay.
constexpr double kCertain = 3;  // standard deviations: no noise
constexpr double kLikely = 1;   // enough if it happens in nearly every iteration
constexpr double kNearlyEvery = 0.9;
constexpr double kMost = 0.85;        // of a cause, that names a rank
constexpr size_t kFew = 4;            // times as many ranks as are named together
constexpr double kMainShare = 0.25;   // of the excess before a step, that counts as a part
constexpr double kWorthMixing = 1.1;  // gain of many places over one, that is no longer one cause

/// What time was lost to and where. Places are numbers: of a place in Steps, or, beyond those, of
/// a kind of collective in a communicator.
struct Cause {
  TimeShare share;
  uint32_t place;  ///< kNone: in many places
  auto operator<=>(const Cause&) const = default;
};

struct Part {
  Cause cause;
  double ns;
};

struct Candidate {
  Cause cause;
  std::vector<uint32_t> rank_rows;  ///< empty: changing
  bool is_regular = false;          ///< they lose time to it in nearly every iteration
  double on_path_ns = 0;
  double excess_ns = 0;
};

class DelayFinder {
 public:
  DelayFinder(const Steps& steps, const Peers& peers, const Replay& replay,
              const Scenario& measured)
      : steps_(steps), peers_(peers), replay_(replay), scenario_(measured) {}

  std::vector<Delay> find(size_t limit) {
    std::vector<Delay> delays;
    std::vector<Ns> ends = replay_.ends(scenario_);
    double duration_ns = replay_.iteration_ns(scenario_, ends);
    const double whole_ns = duration_ns;
    Scenario trial = reserved_like(scenario_), best = reserved_like(scenario_);  // large: kept
    while (delays.size() < limit) {
      double best_ns = duration_ns;
      const Candidate* chosen = nullptr;
      const std::vector<Candidate> candidates =
          candidates_on(replay_.critical_path(scenario_, ends));
      for (const Candidate& candidate : candidates) {
        trial = scenario_;
        remove_cause(trial, candidate);
        replay_.find_ends(trial, ends);
        const double ns = replay_.iteration_ns(trial, ends);
        const double needed = candidate.cause.place == kNone ? kWorthMixing : 1;
        const double least = candidate.is_regular ? kLeastCost : kLeastChangingCost;
        const double saved_ns = duration_ns - ns;
        if (saved_ns < least * whole_ns || saved_ns <= needed * (duration_ns - best_ns)) continue;
        best_ns = ns;
        std::swap(best, trial);
        chosen = &candidate;
      }
      if (chosen == nullptr) break;
      delays.push_back(described(*chosen, duration_ns - best_ns));
      std::swap(scenario_, best);
      replay_.find_ends(scenario_, ends);
      duration_ns = best_ns;
      gone_.push_back(*chosen);
    }
    return delays;
  }

 private:
  /// What a step lost beyond `sigmas` of noise, by cause; what is gone from the scenario is not
  /// counted again.
  std::vector<Part> parts_of(uint32_t step, double sigmas) const {
    const double least = sigmas * double{noise_ns(steps_, peers_, step)};
    std::vector<Part> parts;
    if (static_cast<double>(excess_ns(steps_, peers_, step)) <= least) return parts;
    const Excess excess = excess_of(steps_, peers_, step);
    const auto take = [&](TimeShare share, uint32_t place, double ns) {
      if (ns <= kMainShare * double{excess.total_ns} || ns <= least) return;
      const Part part{{share, place}, ns};
      if (!is_gone(part.cause, steps_.rank_of(step))) parts.push_back(part);
    };
    for (size_t share = 0; share < kShareCount; ++share) {
      const auto kind = static_cast<TimeShare>(share);
      take(kind, is_host_time(kind) ? steps_.host_place[step] : steps_.place[step],
           double{excess.shares[share]});
    }
    if (excess.exposed != kNone) {
      take(TimeShare::kCollectives, exposed_place(excess.exposed), double{excess.exposed_ns});
    }
    return parts;
  }

  /// Also those of the steps before it that depend on the same one, if it usually depends on one of
  /// these: a late host holds them all up.
  std::vector<Part> parts_on_way_to(uint32_t step) const {
    std::vector<Part> parts = parts_of(step, kCertain);
    if (steps_.after[step] == usual_after(steps_, peers_, step)) return parts;
    for (uint32_t s = steps_.iterations[steps_.row[step]].first_step; s < step; ++s) {
      if (steps_.after[s] != steps_.after[step]) continue;
      for (const Part& part : parts_of(s, kCertain)) {
        const auto known = std::ranges::find(parts, part.cause, &Part::cause);
        if (known == parts.end()) {
          parts.push_back(part);
        } else {
          known->ns = std::max(known->ns, part.ns);
        }
      }
    }
    return parts;
  }

  uint32_t exposed_place(uint32_t step) const {
    constexpr uint32_t kKinds = std::size(kCollectiveKinds);
    return static_cast<uint32_t>(steps_.places.size()) + steps_.communicator[step] * kKinds +
           static_cast<uint32_t>(steps_.kind[step]);
  }

  static bool covers(const Candidate& candidate, const Cause& cause, uint32_t rank_row) {
    return cause.share == candidate.cause.share &&
           (candidate.cause.place == kNone || candidate.cause.place == cause.place) &&
           (candidate.rank_rows.empty() ||
            std::ranges::binary_search(candidate.rank_rows, rank_row));
  }
  bool is_gone(const Cause& cause, uint32_t rank_row) const {
    return std::ranges::any_of(
        gone_, [&](const Candidate& candidate) { return covers(candidate, cause, rank_row); });
  }

  /// The causes with the most excess on the critical path.
  std::vector<Candidate> candidates_on(const std::vector<Hop>& path) const {
    constexpr size_t kTried = 4;
    std::map<std::pair<uint32_t, TimeShare>, TimeBy> by_rank;  // and share
    for (const Hop& hop : path) {
      if (hop.work_ns == 0) continue;
      for (const Part& part : parts_on_way_to(hop.step)) {
        by_rank[{steps_.rank_of(hop.step), part.cause.share}][part.cause.place] += part.ns;
      }
    }
    std::map<Cause, TimeBy> by_cause;  // then by rank
    for (const auto& [key, places] : by_rank) {
      const auto& [rank, share] = key;
      const uint32_t place = main_place(places);
      if (place != kNone) by_cause[{share, place}][rank] += sum_of(places);
      by_cause[{share, kNone}][rank] += sum_of(places);
    }
    std::vector<Candidate> candidates;
    candidates.reserve(by_cause.size());
    for (const auto& [cause, ranks] : by_cause) {
      candidates.push_back({.cause = cause, .on_path_ns = sum_of(ranks)});
    }
    std::ranges::sort(candidates, std::greater<>(), &Candidate::on_path_ns);
    if (candidates.size() > kTried) candidates.resize(kTried);
    // One place first: many places must save more than that.
    std::ranges::stable_partition(
        candidates, [](const Candidate& candidate) { return candidate.cause.place != kNone; });
    for (Candidate& candidate : candidates) name_ranks(candidate, by_cause[candidate.cause]);
    return candidates;
  }

  /// The ranks that lose time to it in nearly every iteration, or the one that does so on the path.
  void name_ranks(Candidate& candidate, const TimeBy& on_path) const {
    struct Loss {
      uint32_t iterations = 0;
      double ns = 0;
    };
    std::vector<Loss> losses(steps_.ranks.size());
    for_each_part(steps_.ranks.size(), [&](size_t rank) {
      const RankRow& row = steps_.ranks[rank];
      for (uint32_t i = 0; i < row.row_count; ++i) {
        const double ns = loss_in(steps_.iterations[row.first_row + i], candidate);
        losses[rank].iterations += ns > 0;
        losses[rank].ns += ns / row.row_count;
      }
    });
    const auto always = [&](uint32_t rank) {
      return losses[rank].ns > 0 &&
             losses[rank].iterations >= kNearlyEvery * steps_.ranks[rank].row_count;
    };
    const auto top =
        std::ranges::max_element(on_path, {}, [](const auto& rank) { return rank.second; });
    const bool alone = top->second >= kMost * candidate.on_path_ns;
    double largest = 0;
    for (uint32_t rank = 0; rank < losses.size(); ++rank) {
      if (always(rank)) largest = std::max(largest, losses[rank].ns);
    }
    double covered = 0;
    for (uint32_t rank = 0; rank < losses.size(); ++rank) {
      if (!always(rank) || losses[rank].ns < largest / 2) continue;
      candidate.rank_rows.push_back(rank);
      const auto found = on_path.find(rank);
      if (found != on_path.end()) covered += found->second;
    }
    // Nobody is behind together with most of the others.
    const size_t count = candidate.rank_rows.size();
    const bool few = count == 1 || count * kFew <= losses.size();
    if (!few || covered < kMost * candidate.on_path_ns) {
      candidate.rank_rows.clear();
      if (alone) candidate.rank_rows = {top->first};
    }
    candidate.is_regular = !candidate.rank_rows.empty() && always(candidate.rank_rows.front());
    for (uint32_t rank : candidate.rank_rows) {
      candidate.excess_ns += losses[rank].ns / static_cast<double>(candidate.rank_rows.size());
    }
    if (!candidate.rank_rows.empty()) return;
    for (const Loss& loss : losses) candidate.excess_ns += loss.ns;
  }

  double loss_in(const IterationRow& row, const Candidate& candidate) const {
    // Steps that usually depend on the same one have the work since then in common.
    TimeBy since;
    for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
      for (const Part& part : parts_of(step, kLikely)) {
        double& most = since[usual_after(steps_, peers_, step)];
        if (covers(candidate, part.cause, row.rank)) most = std::max(most, part.ns);
      }
    }
    return sum_of(since);
  }

  void remove_cause(Scenario& scenario, const Candidate& candidate) const {
    const double sigmas = candidate.rank_rows.empty() ? kCertain : kLikely;
    const auto remove = [&](size_t rank) {
      const RankRow& row = steps_.ranks[rank];
      if (row.row_count == 0) return;
      const uint32_t from = steps_.iterations[row.first_row].first_step;
      const IterationRow& last = steps_.iterations[row.first_row + row.row_count - 1];
      const bool of_host = is_host_time(candidate.cause.share);
      Ns saved_ns = 0;                  // by the host until then
      std::set<uint32_t> shorter = {};  // work since these steps
      for (uint32_t step = from; step < last.first_step + last.step_count; ++step) {
        // Its host, or its work, is early enough then.
        if (of_host ? steps_.shares[step][static_cast<size_t>(candidate.cause.share)] > 0
                    : shorter.contains(steps_.after[step]))
          depend_as_usual(scenario, step);
        for (const Part& part : parts_of(step, sigmas)) {
          if (!covers(candidate, part.cause, static_cast<uint32_t>(rank))) continue;
          if (!of_host && shorter.insert(steps_.after[step]).second)
            depend_as_usual(scenario, step);
          remove_part(scenario, step, part);
          if (of_host) saved_ns += host_part_ns(step, part);
        }
        replay_.call_earlier(scenario, step, saved_ns);
      }
    };
    if (candidate.rank_rows.empty()) {
      for_each_part(steps_.ranks.size(), remove);
    } else {
      for (uint32_t rank : candidate.rank_rows) remove(rank);
    }
  }

  /// Without a change of when it is ready, as long as nothing else changes.
  void depend_as_usual(Scenario& scenario, uint32_t step) const {
    const uint32_t slot = replay_.slot_of(step), usual = usual_after(steps_, peers_, step);
    if (scenario.after[slot] == (usual == kNone ? kNone : steps_.group[usual])) return;
    const std::optional<Ns> length = usual_length_ns(steps_, peers_, step);
    if (!length) return;
    const Ns removed = steps_.work_ns[step] - scenario.work_ns[slot];
    replay_.set(scenario, step, std::max<Ns>(*length - removed, 0), usual);
  }

  Ns host_part_ns(uint32_t step, const Part& part) const {
    return static_cast<Ns>(std::min(double{host_excess_ns(steps_, peers_, step)}, part.ns));
  }

  void remove_part(Scenario& scenario, uint32_t step, const Part& part) const {
    if (part.cause.place >= steps_.places.size()) {  // overlap the collective as the peers do
      replay_.set(scenario, step, peers_.of(steps_, step).work_ns,
                  usual_after(steps_, peers_, step));
    } else {
      Ns& work_ns = scenario.work_ns[replay_.slot_of(step)];
      work_ns = std::max<Ns>(work_ns - static_cast<Ns>(part.ns), 0);
    }
  }

  Delay described(const Candidate& candidate, double cost_ns) const {
    Delay delay;
    delay.has_peers = candidate.rank_rows.empty() ||
                      std::ranges::any_of(candidate.rank_rows,
                                          [&](uint32_t rank) { return !peers_.is_alone[rank]; });
    for (uint32_t rank : candidate.rank_rows) {
      delay.ranks.push_back(steps_.ranks[rank].identity.rank);
    }
    delay.share = candidate.cause.share;
    delay.excess_ns = candidate.excess_ns;
    delay.cost_ns = cost_ns;
    const uint32_t place = candidate.cause.place;
    if (place == kNone) return delay;
    delay.exposed = place >= steps_.places.size();
    if (!delay.exposed) {
      delay.place = steps_.places[place];
      return delay;
    }
    constexpr uint32_t kKinds = std::size(kCollectiveKinds);
    const auto call = place - static_cast<uint32_t>(steps_.places.size());
    delay.place = std::string(streamscope::name_of(kCollectiveKinds, call % kKinds)) + " of " +
                  steps_.communicators[call / kKinds].name;
    return delay;
  }

  const Steps& steps_;
  const Peers& peers_;
  const Replay& replay_;
  Scenario scenario_;            // without what was found
  std::vector<Candidate> gone_;  // from it
};

}  // namespace

std::vector<Delay> costliest_delays(const Steps& steps, const Peers& peers, const Replay& replay,
                                    const Scenario& measured, size_t limit) {
  return DelayFinder(steps, peers, replay, measured).find(limit);
}

void make_as_peers(const Steps& steps, const Peers& peers, const Replay& replay,
                   std::span<const uint32_t> rank_rows, Scenario& scenario) {
  for (uint32_t rank : rank_rows) {
    const RankRow& row = steps.ranks[rank];
    Ns saved_ns = 0;  // by the host until then
    for (uint32_t i = 0; i < row.row_count; ++i) {
      const IterationRow& iteration = steps.iterations[row.first_row + i];
      const uint32_t end = iteration.first_step + iteration.step_count;
      for (uint32_t step = iteration.first_step; step < end; ++step) {
        saved_ns += static_cast<Ns>(host_excess_ns(steps, peers, step));
        replay.call_earlier(scenario, step, saved_ns);
        if (const std::optional<Ns> length = usual_length_ns(steps, peers, step)) {
          replay.set(scenario, step, *length - excess_ns(steps, peers, step),
                     usual_after(steps, peers, step));
        }
      }
    }
  }
}

}  // namespace streamscope::job
