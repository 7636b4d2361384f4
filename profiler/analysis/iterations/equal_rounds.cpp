// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "equal_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "iterations.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastRounds = 16;
constexpr size_t kMostRounds = 4096;  // of which the newest are looked at
constexpr size_t kMostOpsOfARound = 64;

// ---- Rhythm ----

// Of two, each second one may be longer because steps use two buffers in turn.
constexpr size_t kShortestPeriod = 3, kLongestPeriod = 512;
constexpr size_t kLeastRepetitions = 8;
constexpr double kLeastOfRhythm = 0.7;  // of the pauses of a rhythm that are among the longest
// One chance in 7e10; at most 8 million combinations of period, first pause and op are tried.
constexpr double kLeastEvidence = 25;

// A pause belongs to a rhythm if at most so many are as long within half a period around it.
constexpr size_t kMostLonger = 2;
size_t may_be_longer(size_t period) { return std::min(period / 8, kMostLonger); }

// How far one can go from a pause to both sides until more than `longer` are as long as it is.
std::vector<size_t> reaches(std::span<const Ns> pauses, size_t longer) {
  std::vector<size_t> all;
  all.reserve(pauses.size());
  for (size_t i = 0; i < pauses.size(); ++i) {
    size_t found = 0, reach = 0;
    for (size_t distance = 1; distance <= kLongestPeriod / 2; ++distance) {
      found += i >= distance && pauses[i - distance] >= pauses[i];
      found += i + distance < pauses.size() && pauses[i + distance] >= pauses[i];
      if (found > longer) break;
      reach = distance;
    }
    all.push_back(reach);
  }
  return all;
}

// By the bound of Chernoff and Hoeffding on `hits` of `tries`, each with a probability.
double evidence_of(size_t hits, size_t tries, double probability) {
  const double share = static_cast<double>(hits) / static_cast<double>(tries);
  if (share <= probability) return 0;
  double divergence = share * std::log(share / probability);
  if (share < 1) divergence += (1 - share) * std::log((1 - share) / (1 - probability));
  return static_cast<double>(tries) * divergence;
}

// The best first pause for a period.
Rhythm best_rhythm(size_t period, const std::vector<size_t>& reaches) {
  std::vector<size_t> hits(period);
  for (size_t i = 0; i < reaches.size(); ++i) hits[i % period] += reaches[i] >= period / 2;
  const size_t compared = 1 + 2 * (period / 2);
  const double by_chance =
      static_cast<double>(may_be_longer(period) + 1) / static_cast<double>(compared);
  Rhythm best{.period = period};
  for (size_t first = 0; first < period; ++first) {
    const size_t tries = (reaches.size() - first + period - 1) / period;
    if (static_cast<double>(hits[first]) < kLeastOfRhythm * static_cast<double>(tries)) continue;
    const double evidence = evidence_of(hits[first], tries, by_chance);
    if (evidence > best.evidence) best = {period, first, evidence};
  }
  return best;
}

// ---- Steps ----

// Less is noise, or what a recorder or driver does once in a while.
constexpr Ns kLeastExtraNs = 2'000;

// Rounds of the usual length, one after the other, as indexes of IssuedWork.
struct EqualRounds {
  size_t first, last;
  size_t size() const { return last - first; }
};

std::vector<EqualRounds> equal_rounds_of(std::span<const size_t> rounds, size_t length) {
  std::vector<EqualRounds> runs;
  for (size_t i = 0; i + 1 < rounds.size(); ++i) {
    if (rounds[i + 1] - rounds[i] != length) continue;
    if (runs.empty() || runs.back().last != rounds[i]) runs.push_back({rounds[i], rounds[i]});
    runs.back().last = rounds[i + 1];
  }
  return runs;
}

size_t usual_ops(std::span<const size_t> rounds) {
  std::vector<size_t> lengths;
  for (size_t i = 0; i + 1 < rounds.size(); ++i) lengths.push_back(rounds[i + 1] - rounds[i]);
  return median(std::move(lengths));
}

class StepFinder {
 public:
  StepFinder(Analyses& analyses, const IssuedWork& work, std::span<const size_t> rounds)
      : order_(analyses.order()),
        blocks_(analyses.thread_acts().blocks),
        work_(work),
        length_(usual_ops(rounds)),
        runs_(equal_rounds_of(rounds, length_)) {}

  std::optional<StepsOfRounds> steps() const {
    if (runs_.empty() || length_ > kMostOpsOfARound) return std::nullopt;
    EqualRounds newest = *std::ranges::max_element(runs_, {}, &EqualRounds::size);
    newest.first = newest.last - std::min(newest.size(), kMostRounds * length_);
    std::optional<Rhythm> best;
    size_t op = 0;  // of a round, with which a step begins
    for (size_t i = 0; i < length_; ++i) {
      const std::optional<Rhythm> found = find_rhythm(pauses(newest, i, length_));
      if (!found || (best && best->evidence >= found->evidence)) continue;
      if (!are_steps(newest, i + found->first * length_, found->period * length_)) continue;
      best = found;
      op = i;
    }
    if (!best) return std::nullopt;
    StepsOfRounds steps{.bounds = {}, .rounds = best->period};
    for (const EqualRounds run : runs_) add_steps(run, op, best->period, steps.bounds);
    return steps;
  }

 private:
  // How long the host works between the calls of two ops. How long it waits is the device's doing.
  Ns pause_before(size_t i) const {
    if (i == 0) return 0;
    const Id thread = order_.issue(work_.id(i)).thread_id;
    const Ns until = work_.issued_ns(i);
    Ns at = order_.issue(work_.id(i - 1)).end_ns, pause = 0;
    while (at != kUnknownNs && at < until) {
      const auto [block, sync] = blocks_.next(thread, at);
      const bool is_blocked = block != kUnknownNs && block < until;
      pause += (is_blocked ? block : until) - at;
      at = is_blocked ? std::max(block + 1, work_.trace().host_sync.end_ns[sync]) : until;
    }
    return pause;
  }
  // Before every `distance`th op of a run, beginning with op `first`.
  std::vector<Ns> pauses(EqualRounds run, size_t first, size_t distance) const {
    std::vector<Ns> all;
    for (size_t i = run.first + first; i < run.last; i += distance) all.push_back(pause_before(i));
    return all;
  }

  // Whether the host pauses for longer before parts of `length` ops, from op `first` on, than
  // before the other rounds.
  bool are_steps(EqualRounds run, size_t first, size_t length) const {
    std::vector<Ns> other;
    for (size_t i = first % length_; i < run.size(); i += length_) {
      if (i % length != first) other.push_back(pause_before(run.first + i));
    }
    return median(pauses(run, first, length)) - median(std::move(other)) >= kLeastExtraNs;
  }

  void add_steps(EqualRounds run, size_t op, size_t period, std::vector<size_t>& bounds) const {
    const size_t length = period * length_;
    if (run.size() < kFewestIterations * length) return;
    size_t best = 0;
    Ns longest = -1;
    for (size_t first = op; first < length; first += length_) {
      const Ns pause = median(pauses(run, first, length));
      if (pause <= longest) continue;
      longest = pause;
      best = first;
    }
    for (size_t i = run.first + best; i <= run.last; i += length) {
      if (bounds.empty() || bounds.back() < i) bounds.push_back(i);
    }
  }

  const IssueOrder& order_;
  const Acts& blocks_;
  const IssuedWork& work_;
  size_t length_;  // ops of a round
  std::vector<EqualRounds> runs_;
};

}  // namespace

std::optional<Rhythm> find_rhythm(std::span<const Ns> pauses) {
  if (pauses.size() < kLeastRounds) return std::nullopt;
  const std::array by_longer = {reaches(pauses, 0), reaches(pauses, 1), reaches(pauses, 2)};
  static_assert(by_longer.size() == kMostLonger + 1);
  const size_t longest = std::min(kLongestPeriod, pauses.size() / kLeastRepetitions);
  Rhythm best;
  for (size_t period = kShortestPeriod; period <= longest; ++period) {
    const Rhythm found = best_rhythm(period, by_longer[may_be_longer(period)]);
    if (found.evidence > best.evidence) best = found;
  }
  return best.evidence >= kLeastEvidence ? std::optional(best) : std::nullopt;
}

std::optional<StepsOfRounds> steps_of_rounds(Analyses& analyses, const IssuedWork& work,
                                             std::span<const size_t> rounds) {
  return StepFinder(analyses, work, rounds).steps();
}

}  // namespace streamscope::analysis
