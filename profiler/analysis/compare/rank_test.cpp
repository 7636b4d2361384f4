// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "rank_test.h"

#include <algorithm>
#include <cmath>

namespace streamscope::analysis {

RankTest compare_ranks(const std::vector<Ns>& base, const std::vector<Ns>& now) {
  if (base.empty() || now.empty()) return {};
  std::vector<std::pair<Ns, bool>> all;  // true: of `now`
  all.reserve(base.size() + now.size());
  for (const Ns value : base) all.emplace_back(value, false);
  for (const Ns value : now) all.emplace_back(value, true);
  std::ranges::sort(all);
  double rank_sum = 0, ties = 0;
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    size_t of_now = 0;
    for (; to < all.size() && all[to].first == all[from].first; ++to) of_now += all[to].second;
    const auto equal = static_cast<double>(to - from);
    // Equal values share the mean of their ranks, which are counted from 1.
    rank_sum += static_cast<double>(of_now) * (static_cast<double>(from + to) + 1) / 2;
    ties += equal * equal * equal - equal;
  }
  const auto n = static_cast<double>(base.size()), m = static_cast<double>(now.size());
  const double pairs = n * m, whole = n + m;
  const double longer = rank_sum - m * (m + 1) / 2;  // pairs in which `now` is longer
  RankTest result{.longer = longer / pairs};
  const double variance = pairs / 12 * (whole + 1 - ties / (whole * (whole - 1)));
  if (variance <= 0) return result;  // all values are equal
  constexpr double kContinuity = 0.5;
  const double distance = std::max(0.0, std::abs(longer - pairs / 2) - kContinuity);
  result.p_value = std::erfc(distance / std::sqrt(2 * variance));
  return result;
}

}  // namespace streamscope::analysis
