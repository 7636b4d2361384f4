// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_range.h"

#include <algorithm>
#include <cmath>

#include "issued_work.h"

namespace streamscope::analysis {
namespace {

// Sums of a series for the cost of a part: the squared distance from its mean.
struct Sums {
  std::vector<double> sum{0}, squares{0};
  explicit Sums(const std::vector<double>& values) {
    for (const double value : values) {
      sum.push_back(sum.back() + value);
      squares.push_back(squares.back() + value * value);
    }
  }
  double mean(size_t from, size_t to) const {
    return (sum[to] - sum[from]) / static_cast<double>(to - from);
  }
  double cost(size_t from, size_t to) const {
    const double total = sum[to] - sum[from];
    return std::max(0.0,
                    squares[to] - squares[from] - total * total / static_cast<double>(to - from));
  }
};

// Splits a part where the level changes, until nothing is gained. Small changes are drift.
void split(const Sums& sums, size_t from, size_t to, double penalty, std::vector<size_t>& changes) {
  constexpr size_t kLeastPart = 3;
  constexpr double kLeastChange = 0.15;
  if (to - from < 2 * kLeastPart) return;
  const double whole = sums.cost(from, to);
  double best_gain = penalty;
  size_t best = to;
  for (size_t at = from + kLeastPart; at + kLeastPart <= to; ++at) {
    const double gain = whole - sums.cost(from, at) - sums.cost(at, to);
    if (gain <= best_gain) continue;
    if (std::abs(sums.mean(from, at) - sums.mean(at, to)) < kLeastChange) continue;
    best_gain = gain;
    best = at;
  }
  if (best == to) return;
  split(sums, from, best, penalty, changes);
  changes.push_back(best);
  split(sums, best, to, penalty, changes);
}

}  // namespace

std::pair<size_t, size_t> steady_range(const std::vector<Ns>& durations) {
  // Relative levels: a change is one in percent. Outliers are clipped.
  std::vector<double> levels;
  levels.reserve(durations.size());
  for (const Ns duration : durations)
    levels.push_back(std::log(static_cast<double>(std::max<Ns>(1, duration))));
  const double middle = median(levels);
  std::vector<double> distances, steps;
  for (const double level : levels) distances.push_back(std::abs(level - middle));
  constexpr double kLeastSpread = 0.01;
  const double spread = std::max(kLeastSpread, 1.5 * median(distances));
  constexpr double kLeastClip = 0.3;  // above kLeastChange, so that a change can be seen
  const double clip = std::max(kLeastClip, 4 * spread);
  for (double& level : levels) level = std::clamp(level, middle - clip, middle + clip);
  for (size_t i = 1; i < levels.size(); ++i) steps.push_back(std::abs(levels[i] - levels[i - 1]));
  const double noise = std::max(kLeastSpread, median(steps));
  const double penalty = 6 * noise * noise * std::log(static_cast<double>(levels.size() + 1));
  std::vector<size_t> changes{0};
  split(Sums(levels), 0, levels.size(), penalty, changes);
  changes.push_back(levels.size());
  std::pair<size_t, size_t> longest{0, levels.size()};
  size_t most = 0;
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    if (changes[i + 1] - changes[i] < most) continue;
    most = changes[i + 1] - changes[i];
    longest = {changes[i], changes[i + 1]};
  }
  return longest;
}

}  // namespace streamscope::analysis
