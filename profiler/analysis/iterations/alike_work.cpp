// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "alike_work.h"

#include <algorithm>

namespace streamscope::analysis {

AlikeParts parts_between_syncs(Analyses& analyses, const IssuedWork& work, const Period& period) {
  const IssueOrder& order = analyses.order();
  const Acts& blocks = analyses.thread_acts().blocks;
  const size_t first = period.matched.front(), last = period.matched.back() + period.length;
  AlikeParts parts{.bounds = {first}};
  for (size_t i = first + 1; i <= last; ++i) {
    const Id thread = order.issue(work.id(i)).thread_id;
    const Ns block = blocks.next(thread, work.issued_ns(i - 1)).first;
    if (block != kUnknownNs && block < work.issued_ns(i)) parts.bounds.push_back(i);
  }
  parts.bounds.push_back(last + 1);
  std::vector<size_t> counts;
  for (size_t i = 1; i < parts.bounds.size(); ++i)
    counts.push_back(parts.bounds[i] - parts.bounds[i - 1]);
  const size_t usual = median(counts);
  parts.repeated = static_cast<double>(usual * std::ranges::count(counts, usual)) /
                   static_cast<double>(last + 1 - first);
  return parts.repeated < kLeastCovered ? AlikeParts{} : parts;
}

}  // namespace streamscope::analysis
