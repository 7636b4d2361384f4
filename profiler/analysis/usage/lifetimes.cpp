// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "lifetimes.h"

#include <algorithm>
#include <limits>

namespace streamscope::analysis {
namespace {

constexpr Ns kForEver = std::numeric_limits<Ns>::max();

}  // namespace

void Lifetimes::add(Ns from_ns, Ns until_ns, Id id) {
  lives_.push_back({from_ns, until_ns == kUnknownNs ? kForEver : std::max(from_ns, until_ns), id});
}

void Lifetimes::finish() {
  std::ranges::stable_sort(lives_, {}, &Life::from_ns);
  std::vector<Ns>& untils = latest_until_.emplace_back();
  for (const Life& life : lives_) untils.push_back(life.until_ns);
  ends_ = untils;
  std::ranges::sort(ends_);
  while (latest_until_.back().size() > kBlock) {
    const std::vector<Ns>& fine = latest_until_.back();
    std::vector<Ns> coarse;
    for (size_t i = 0; i < fine.size(); i += kBlock) {
      const auto begin = fine.begin() + static_cast<ptrdiff_t>(i);
      coarse.push_back(*std::max_element(
          begin, begin + static_cast<ptrdiff_t>(std::min(kBlock, fine.size() - i))));
    }
    latest_until_.push_back(std::move(coarse));
  }
}

size_t Lifetimes::count_at(Ns at) const {
  const auto begun = std::ranges::upper_bound(lives_, at, {}, &Life::from_ns) - lives_.begin();
  const auto ended = std::ranges::upper_bound(ends_, at) - ends_.begin();
  return static_cast<size_t>(std::max<ptrdiff_t>(begun - ended, 0));
}

size_t Lifetimes::next_after(size_t index, Ns at) const {
  for (size_t level = 0; index < latest_until_[level].size();) {
    if (latest_until_[level][index] > at) {
      if (level == 0) return index;
      --level;
      index *= kBlock;
      continue;
    }
    ++index;
    while (index % kBlock == 0 && level + 1 < latest_until_.size()) {
      index /= kBlock;
      ++level;
    }
  }
  return lives_.size();
}

std::vector<Lifetimes::Life> Lifetimes::oldest_at(Ns at, size_t most) const {
  std::vector<Life> result;
  if (lives_.empty()) return result;
  for (size_t i = next_after(0, at);
       i < lives_.size() && lives_[i].from_ns <= at && result.size() < most;
       i = next_after(i + 1, at))
    result.push_back(lives_[i]);
  return result;
}

size_t Lifetimes::endless_count() const { return count_at(kForEver - 1); }

std::vector<Lifetimes::Life> Lifetimes::oldest_endless(size_t most) const {
  return oldest_at(kForEver - 1, most);
}

}  // namespace streamscope::analysis
