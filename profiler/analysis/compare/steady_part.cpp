// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_part.h"

#include <algorithm>
#include <map>

#include "analysis/iterations/iterations.h"
#include "analysis/iterations/marked_ranges.h"
#include "analysis/iterations/periods.h"

namespace streamscope::analysis {
namespace {

constexpr double kSameCount = 0.25;  // maximum difference of counts for the same step
constexpr double kSameWork = 0.9;    // common share of the ops of one repetition

using Labels = std::map<std::pair<std::string_view, std::string_view>, double>;

// The share of work that two repetitions have in common.
double common_share(const Labels& a, const Labels& b) {
  double common = 0, all = 0;
  for_both(a, b, [&](const auto&, double count, double twin) {
    common += std::min(count, twin);
    all += std::max(count, twin);
  });
  return all == 0 ? 0 : common / all;
}

Repetitions repetitions_of(const IssuedWork& run, const MarkedRanges& ranges, size_t compared) {
  const auto& spans = ranges.spans;
  Repetitions result{.count = spans.size(),
                     .median_ns = median(ranges.times()),
                     .from_ns = spans[spans.size() - compared].first,
                     .to_ns = spans.back().second};
  uint64_t ops = 0;
  ops = run.first_issued(result.to_ns) - run.first_issued(result.from_ns);
  result.op_count = ops / compared;
  return result;
}

std::optional<SteadyPart> by_range(const IssuedWork& base, const IssuedWork& now,
                                   const std::string& wanted) {
  const auto before = marked_ranges(base, wanted), after = marked_ranges(now, wanted);
  const size_t fewest = wanted.empty() ? kFewestIterations : 2;
  const MarkedRanges *best_before = nullptr, *best_after = nullptr;
  std::string best;
  for (const auto& [name, ranges] : before) {
    const auto other = after.find(name);
    if (other == after.end() || ranges.spans.size() < fewest || other->second.spans.size() < fewest)
      continue;
    if (wanted.empty() &&
        (!is_steady(base, ranges, HeldOf::kRun) || !is_steady(now, other->second, HeldOf::kRun)))
      continue;
    // Outer ranges are fewer than nested ones.
    if (best_before != nullptr && ranges.spans.size() >= best_before->spans.size()) continue;
    best_before = &ranges;
    best_after = &other->second;
    best = name;
  }
  if (best_before == nullptr) return std::nullopt;
  const size_t compared = std::min(best_before->spans.size(), best_after->spans.size());
  return SteadyPart{.range = best,
                    .compared = compared,
                    .base = repetitions_of(base, *best_before, compared),
                    .now = repetitions_of(now, *best_after, compared)};
}

// The work of one repetition.
Labels labels_of(const IssuedWork& run, const Period& period) {
  std::vector<uint64_t> counts(run.groups().all().size());
  for (size_t i = period.matched.front(); i <= period.matched.back(); ++i) ++counts[run.group(i)];
  const double repetitions =
      static_cast<double>(period.matched.size()) / static_cast<double>(period.length);
  Labels labels;
  for (size_t group = 0; group < counts.size(); ++group) {
    if (counts[group] == 0) continue;
    const WorkGroup& work = run.groups().all()[group];
    labels[{work.label, work.stream}] += static_cast<double>(counts[group]) / repetitions;
  }
  return labels;
}

Repetitions repetitions_of(const IssuedWork& run, const Period& period, size_t compared) {
  const size_t last = period.matched.back() + period.length;
  const size_t first = last + 1 - std::min(last + 1, compared * period.length);
  return {.count = static_cast<uint64_t>(period.count()),
          .median_ns = period.median_ns,
          .op_count = period.length,
          .from_ns = run.issued_ns(first),
          .to_ns = run.issued_ns(last) + 1};
}

std::optional<SteadyPart> by_period(const IssuedWork& base, const IssuedWork& now) {
  const std::vector<Period> before = find_periods(base), after = find_periods(now);
  for (size_t rank = 0; rank < before.size() + after.size(); ++rank) {
    for (size_t i = 0; i <= rank; ++i) {
      if (i >= before.size() || rank - i >= after.size()) continue;
      const Period &b = before[i], &n = after[rank - i];
      const bool same_work = common_share(labels_of(base, b), labels_of(now, n)) >= kSameWork;
      const bool same_count =
          std::abs(b.count() - n.count()) <= kSameCount * std::max(b.count(), n.count());
      if (!same_work && !same_count) continue;
      const auto compared = static_cast<size_t>(std::min(b.count(), n.count()));
      return SteadyPart{.same_work = same_work,
                        .compared = compared,
                        .base = repetitions_of(base, b, compared),
                        .now = repetitions_of(now, n, compared)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SteadyPart> steady_part(Analyses& base, Analyses& now, const std::string& range) {
  const IterationRequest& request = base.iteration_request();
  if (request.off) return std::nullopt;
  const IssuedWork before(base), after(now);
  if (request.source != IterationSource::kSequence) {
    if (auto found = by_range(before, after, range)) return found;
  }
  return range.empty() ? by_period(before, after) : std::nullopt;
}

}  // namespace streamscope::analysis
