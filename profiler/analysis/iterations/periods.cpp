// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "periods.h"

#include <map>
#include <set>
#include <unordered_map>

#include "iterations.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kMostOps = 1 << 18;  // newest ops of a process that are searched
constexpr double kNearlyBest = 0.97;  // of the best score: an equally good period

class Periods {
 public:
  explicit Periods(const IssuedWork& work) : work_(work) {
    first_ = work.size() > kMostOps ? work.size() - kMostOps : 0;
    // Work that only runs during start-up is ignored.
    std::vector<uint32_t> counts(work.symbol_count()), late(counts.size());
    const size_t middle = first_ + (work.size() - first_) / 2;
    for (size_t i = first_; i < work.size(); ++i) {
      ++counts[symbol(i)];
      late[symbol(i)] += i >= middle;
    }
    for (size_t symbol = 0; symbol < counts.size(); ++symbol)
      repeated_.push_back(counts[symbol] >= kFewestIterations && late[symbol] > 0 ? counts[symbol]
                                                                                  : 0);
  }

  // Most likely first.
  std::vector<Period> find() {
    std::vector<Period> periods;
    double best = 0, best_ahead = 0;
    for (const size_t length : candidates()) {
      periods.push_back({.length = length});
      explain(periods.back());
      best = std::max(best, periods.back().score);
    }
    const auto is_near = [&](const Period& period) { return period.score >= kNearlyBest * best; };
    for (const Period& period : periods) {
      if (is_near(period)) best_ahead = std::max(best_ahead, period.ahead);
    }
    // The longest repeated unit is a whole step, the shortest of equally good ones a single step.
    std::sort(periods.begin(), periods.end(), [&](const Period& a, const Period& b) {
      const auto is_good = [&](const Period& period) {
        return is_near(period) && period.ahead >= kNearlyBest * best_ahead;
      };
      const bool good = is_good(a), other_good = is_good(b);
      if (good != other_good) return good;
      return good ? a.length < b.length : a.score > b.score;
    });
    constexpr size_t kMostTried = 8;
    if (periods.size() > kMostTried) periods.resize(kMostTried);
    for (Period& period : periods) match(period);
    std::erase_if(periods, [&](const Period& period) { return !is_steady(period); });
    return periods;
  }

 private:
  uint32_t symbol(size_t op) const { return work_.symbol(op); }

  // Distances at which the same sequences of ops recur, for several sequence lengths: short ones
  // tolerate variations of a step, long ones skip parts that repeat within a step.
  std::set<size_t> candidates() const {
    constexpr uint64_t kBase = 0x9e3779b97f4a7c15;  // odd; hashes are modulo 2^64
    constexpr size_t kPerRun = 4;
    const size_t n = work_.size() - first_;
    std::vector<uint64_t> prefix(n + 1);
    for (size_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] * kBase + symbol(first_ + i) + 1;
    std::set<size_t> lengths;
    for (size_t run = 1; run <= n / kFewestIterations; run *= 4) {
      uint64_t power = 1;
      for (size_t i = 0; i < run; ++i) power *= kBase;
      std::unordered_map<uint64_t, size_t> last;
      std::unordered_map<size_t, size_t> votes;
      for (size_t i = 0; i + run <= n; ++i) {
        const auto [seen, is_new] = last.try_emplace(prefix[i + run] - prefix[i] * power, i);
        if (is_new) continue;
        ++votes[i - seen->second];
        seen->second = i;
      }
      std::vector<std::pair<size_t, size_t>> by_votes;
      for (const auto& [length, count] : votes) {
        if (length <= n / kFewestIterations) by_votes.emplace_back(count, length);
      }
      std::sort(by_votes.rbegin(), by_votes.rend());
      for (size_t i = 0; i < std::min(kPerRun, by_votes.size()); ++i)
        lengths.insert(by_votes[i].second);
    }
    return lengths;
  }

  bool comes_again(size_t op, size_t length) const {
    return op + length < work_.size() && symbol(op) == symbol(op + length);
  }

  // How well a period explains every kind of work that repeats, rare and frequent with equal
  // weight: a frequent kernel that mostly follows itself is not a period of one op. An op is
  // explained if it came or comes again, so that one extra op does no harm; looking ahead only, a
  // period of one op does not explain where runs of the same kernel end.
  void explain(Period& period) const {
    const size_t length = period.length;
    std::vector<uint32_t> explained(repeated_.size()), ahead(repeated_.size());
    for (size_t i = first_; i < work_.size(); ++i) {
      const bool again = comes_again(i, length),
                 before = i >= first_ + length && symbol(i) == symbol(i - length);
      if (again || before) ++explained[symbol(i)];
      if (again || (before && i + length >= work_.size())) ++ahead[symbol(i)];
    }
    double symbols = 0;
    for (size_t symbol = 0; symbol < repeated_.size(); ++symbol) {
      if (repeated_[symbol] == 0) continue;
      period.score += static_cast<double>(explained[symbol]) / repeated_[symbol];
      period.ahead += static_cast<double>(ahead[symbol]) / repeated_[symbol];
      ++symbols;
    }
    if (symbols == 0) return;
    period.score /= symbols;
    period.ahead /= symbols;
  }

  bool is_steady(const Period& period) const {
    if (period.count() < static_cast<double>(kFewestIterations) ||
        period.device_share < kLeastCovered)
      return false;
    std::vector<Ns> steps_ns;
    const size_t middle = period.matched.size() / 2;
    const auto start_ns = [&](size_t match) { return work_.start_ns(period.matched[match]); };
    for (size_t match = middle + 1; match < period.matched.size(); ++match)
      steps_ns.push_back(start_ns(match) - start_ns(match - 1));
    const size_t last = period.matched.back() + period.length;
    steps_ns.push_back(work_.start_ns(last) - work_.start_ns(period.matched.back()));
    return fills_the_time(
        static_cast<double>(last - period.matched[middle]) / static_cast<double>(period.length),
        period.usual_ns, std::move(steps_ns), period.most_pauses());
  }

  // An isolated match is a coincidence.
  void match(Period& period) const {
    const size_t least = std::max<size_t>(1, period.length / 4);
    Ns held = 0;
    size_t seen = first_;  // ops before it are counted in `held`
    for (size_t i = first_; i < work_.size();) {
      size_t end = i;
      while (comes_again(end, period.length)) ++end;
      if (end - i >= least) {
        for (size_t op = i; op < end; ++op) period.matched.push_back(op);
        for (seen = std::max(seen, i); seen < end + period.length; ++seen)
          trace::add_to(held, work_.duration_ns(seen));
      }
      i = end + 1;
    }
    std::vector<Ns> times;
    times.reserve(period.matched.size());
    for (const size_t op : period.matched)
      times.push_back(work_.start_ns(op + period.length) - work_.start_ns(op));
    period.median_ns = median(times);
    period.usual_ns = upper_quartile(std::move(times));
    if (period.matched.empty()) return;
    const Ns all = work_.device_ns_around(first_, period.matched.front(),
                                          period.matched.back() + period.length);
    period.device_share = all == 0 ? 0 : static_cast<double>(held) / static_cast<double>(all);
  }

  const IssuedWork& work_;
  size_t first_ = 0;
  std::vector<uint32_t> repeated_;  // by symbol: how often; 0 if ignored
};

}  // namespace

std::vector<Period> find_periods(const IssuedWork& work) { return Periods(work).find(); }

}  // namespace streamscope::analysis
