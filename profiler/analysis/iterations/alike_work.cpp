// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "alike_work.h"

#include <algorithm>

#include "iterations.h"

namespace streamscope::analysis {
namespace {

constexpr double kNearlyAll = 0.9;

// Where a part begins, and the stack of the synchronization before it.
struct Part {
  size_t begin;
  Id stack;
};

std::vector<Part> find_parts(Analyses& analyses, const IssuedWork& work, size_t first,
                             size_t last) {
  const IssueOrder& order = analyses.order();
  const Acts& blocks = analyses.thread_acts().blocks;
  std::vector<Part> parts;
  for (size_t i = first; i <= last; ++i) {
    const Id thread = order.issue(work.id(i)).thread_id;
    const Ns before = i == 0 ? kUnknownNs : work.issued_ns(i - 1);
    const auto [block, sync] = blocks.next(thread, before);
    const bool blocked = block != kUnknownNs && block < work.issued_ns(i);
    if (blocked || i == first)
      parts.push_back({i, blocked ? work.trace().host_sync.stack_id[sync] : kNoId});
  }
  return parts;
}

// How many parts follow each other until the program synchronizes at the same place again.
size_t parts_of_a_round(const std::vector<Part>& parts) {
  constexpr size_t kMost = 16;
  for (size_t count = 1; count <= kMost && count * kFewestIterations <= parts.size(); ++count) {
    size_t same = 0;  // nothing may precede the first part
    for (size_t i = count + 1; i < parts.size(); ++i)
      same += parts[i].stack == parts[i - count].stack;
    if (static_cast<double>(same) >= kNearlyAll * static_cast<double>(parts.size() - count - 1))
      return count;
  }
  return 1;
}

}  // namespace

AlikeParts parts_between_syncs(Analyses& analyses, const IssuedWork& work, const Period& period) {
  const size_t first = period.matched.front(), last = period.matched.back() + period.length;
  const std::vector<Part> found = find_parts(analyses, work, first, last);
  AlikeParts parts;
  const size_t round = parts_of_a_round(found);
  for (size_t i = 0; i < found.size(); i += round) parts.bounds.push_back(found[i].begin);
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
