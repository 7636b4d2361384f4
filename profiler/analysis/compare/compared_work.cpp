// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "compared_work.h"

#include <algorithm>
#include <functional>

#include "analysis/labels.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// Smaller changes of medians are noise from clocks and caches.
constexpr double kLeastShare = 0.02;

// A fifth of the values is below the first and a fifth is above the last.
struct Spread {
  Ns low = 0, median = 0, high = 0, total = 0;
};

Spread spread_of(std::vector<Ns> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  for (const Ns value : values) trace::add_to(spread.total, value);
  spread.low = values[values.size() / 5];
  spread.median = values[values.size() / 2];
  spread.high = values[values.size() - 1 - values.size() / 5];
  return spread;
}

WorkChange compare(const WorkGroup& before, const WorkGroup& after) {
  const Spread b = spread_of(before.durations_ns), n = spread_of(after.durations_ns);
  const bool comparable = !before.durations_ns.empty() && !after.durations_ns.empty();
  const auto least = static_cast<Ns>(kLeastShare * static_cast<double>(b.median));
  return {
      .base_count = before.count,
      .new_count = after.count,
      .base_total_ns = b.total,
      .new_total_ns = n.total,
      .base_median_ns = b.median,
      .new_median_ns = n.median,
      .slower = comparable && n.median > b.high && n.low > b.median && n.median - b.median > least,
      .faster = comparable && n.median < b.low && n.high < b.median && b.median - n.median > least,
      .base_longest = before.longest,
      .new_longest = after.longest};
}

}  // namespace

WorkGroups::WorkGroups(const Trace& names, size_t op_count) : names_(&names) {
  for (Id stream = 0; stream < names.stream.size(); ++stream)
    stream_names_.push_back(lasting_stream_name(names, stream));
  group_of_.reserve(op_count);
}

uint32_t WorkGroups::group_of_new(const Sort& sort) {
  const auto [kind, name_id, detail, stream] = sort;
  const std::string stream_name =
      stream < stream_names_.size() ? stream_names_[stream] : "unknown stream";
  const auto [entry, is_new] =
      by_name_.try_emplace({op_label(*names_, kind, name_id, detail), stream_name},
                           static_cast<uint32_t>(groups_.size()));
  if (is_new) groups_.push_back({.label = entry->first.first, .stream = stream_name});
  return entry->second;
}

void WorkGroups::add(const Sort& sort, Ns start_ns, Ns end_ns) {
  const auto [entry, is_new] = known_.try_emplace(sort, 0);
  if (is_new) entry->second = group_of_new(sort);
  const auto op = static_cast<Id>(group_of_.size());
  group_of_.push_back(entry->second);
  WorkGroup& group = groups_[entry->second];
  ++group.count;
  if (!is_timed(start_ns, end_ns)) return;
  const Ns duration_ns = end_ns - start_ns;
  if (group.longest == trace::kNoId || duration_ns > group.longest_ns) {
    group.longest = op;
    group.longest_ns = duration_ns;
  }
  group.durations_ns.push_back(duration_ns);
}

std::string_view WorkChange::verdict() const {
  if (base_count == 0) return "new";
  if (new_count == 0) return "gone";
  if (slower) return "slower";
  if (faster) return "faster";
  if (base_count == new_count) return "same";
  return new_count > base_count ? "more often" : "less often";
}

std::vector<WorkChange> compare_work(const WorkGroups& base, const WorkGroups& now) {
  const WorkGroup none;
  using Pair = std::pair<const WorkGroup*, const WorkGroup*>;
  std::map<std::pair<std::string_view, std::string_view>, Pair> pairs;
  for (const WorkGroup& group : base.all()) pairs[{group.label, group.stream}] = {&group, &none};
  for (const WorkGroup& group : now.all())
    pairs.try_emplace({group.label, group.stream}, &none, nullptr).first->second.second = &group;
  std::vector<WorkChange> changes;
  for (const auto& [name, both] : pairs) {
    WorkChange& change = changes.emplace_back(compare(*both.first, *both.second));
    change.label = name.first;
    change.stream = name.second;
  }
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const WorkChange& change) { return std::abs(change.cost_ns()); });
  return changes;
}

}  // namespace streamscope::analysis
