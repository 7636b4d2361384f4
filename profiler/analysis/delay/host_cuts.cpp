// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_cuts.h"

#include <algorithm>

#include "trace/ns_math.h"

namespace streamscope::analysis {

using trace::difference_of;
using trace::sum_of;

void HostCuts::add(Id thread, Ns from, Ns to) {
  if (from >= to) return;
  auto& cuts = threads_[thread];
  const auto later = [](const Cut& cut, Ns at) { return cut.to < at; };
  // Merged with those that it touches.
  const auto first = std::lower_bound(cuts.begin(), cuts.end(), from, later);
  if (first != cuts.end() && first->from <= from && to <= first->to) return;
  auto last = first;
  for (; last != cuts.end() && last->from <= to; ++last) {
    from = std::min(from, last->from);
    to = std::max(to, last->to);
  }
  auto at = cuts.insert(cuts.erase(first, last), {from, to, 0});
  for (; at != cuts.end(); ++at)
    at->before = at == cuts.begin() ? 0
                                    : sum_of(std::prev(at)->before,
                                             difference_of(std::prev(at)->to, std::prev(at)->from));
}

void HostCuts::add(const HostCuts& others) {
  for (const auto& [thread, cuts] : others.threads_) {
    for (const Cut& cut : cuts) add(thread, cut.from, cut.to);
  }
}

Ns HostCuts::cut_ns(Id thread, Ns from, Ns to) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end() || from >= to) return 0;
  const auto until = [&](Ns at) {
    auto next = std::ranges::upper_bound(found->second, at, {}, &Cut::from);
    if (next == found->second.begin()) return Ns{0};
    const Cut& cut = *std::prev(next);
    return sum_of(cut.before, difference_of(std::min(at, cut.to), cut.from));
  };
  return difference_of(until(to), until(from));
}

}  // namespace streamscope::analysis
