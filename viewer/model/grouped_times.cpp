// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "grouped_times.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace streamscope::viewer {
namespace {

struct Sample {
  Ns at_ns, duration_ns;
  Item item;
};
// By name and stream.
using Groups = std::map<std::pair<std::string, std::string>, std::vector<Sample>>;

// Calls `each` with every bar of the bands of a kind.
template <class Each>
void for_each_bar(const TraceModel& model, BandKind kind, std::optional<TimeRange> range,
                  Each each) {
  for (const Lane& lane : model.lanes()) {
    for (const Band& band : lane.bands) {
      if (band.kind != kind) continue;
      const auto [first, last] = range ? visible(band.row, *range) : IndexRange{0, band.row.size()};
      for (size_t i = first; i < last; ++i) {
        Ns from = band.row.start_ns[i], to = band.row.end_ns[i];
        if (range) {
          from = std::max(from, range->begin_ns);
          to = std::min(to, range->end_ns);
          if (to < from) continue;
        }
        each(lane, unpack(band.row.item[i]), TimeRange{from, to});
      }
    }
  }
}

Groups group(const TraceModel& model, GroupBy by, std::optional<TimeRange> range) {
  Groups groups;
  const BandKind kind = by == GroupBy::kCall    ? BandKind::kCalls
                        : by == GroupBy::kRange ? BandKind::kRanges
                                                : BandKind::kOps;
  if (by == GroupBy::kCause) {
    for (Id op = 0; op < model.trace().op.size(); ++op) {
      const auto time = model.items().time({ItemKind::kOp, op});
      if (!time || (range && (time->begin_ns < range->begin_ns || time->begin_ns >= range->end_ns)))
        continue;
      for (const analysis::WaitPart& part : model.waits().of(op))
        groups[{std::string(to_string(part.cause)), ""}].push_back(
            {time->begin_ns, part.duration_ns, {ItemKind::kOp, op}});
    }
    return groups;
  }
  for_each_bar(model, kind, range, [&](const Lane& lane, Item item, TimeRange time) {
    std::string name = by == GroupBy::kStream ? lane.title
                       : by == GroupBy::kKind ? std::string(to_string(model.items().category(item)))
                                              : model.items().label(item);
    groups[{std::move(name), by == GroupBy::kName ? lane.title : ""}].push_back(
        {time.begin_ns, time.duration_ns(), item});
  });
  return groups;
}

StatisticsRow row_of(std::string name, std::string stream, std::vector<Sample>& samples,
                     const analysis::Iterations& iterations) {
  std::ranges::sort(samples, {}, &Sample::duration_ns);
  StatisticsRow row{.name = std::move(name), .stream = std::move(stream), .count = samples.size()};
  row.longest = samples.back().item;
  IterationSums sums;
  for (const Sample& sample : samples) {
    row.total_ns = add_ns(row.total_ns, static_cast<double>(sample.duration_ns));
    if (sums.add(iterations, sample.at_ns, sample.duration_ns)) row.longest = sample.item;
  }
  row.each = sums.over(iterations);
  row.shortest_ns = samples.front().duration_ns;
  row.median_ns = samples[samples.size() / 2].duration_ns;
  row.p95_ns = samples[samples.size() * 95 / 100].duration_ns;
  row.longest_ns = samples.back().duration_ns;
  return row;
}

double log_ns(Ns duration_ns) {
  return std::log2(static_cast<double>(std::max<Ns>(duration_ns, 1)));
}

}  // namespace

std::vector<StatisticsRow> statistics(const TraceModel& model, GroupBy by,
                                      std::optional<TimeRange> range) {
  Groups groups = group(model, by, range);
  const analysis::Iterations iterations =
      range ? analysis::Iterations() : model.diagnosis().iterations;
  std::vector<StatisticsRow> rows;
  double least = 64, most = 0;
  for (auto& [key, samples] : groups) {
    rows.push_back(row_of(key.first, key.second, samples, iterations));
    least = std::min(least, log_ns(rows.back().shortest_ns));
    most = std::max(most, log_ns(rows.back().longest_ns));
  }
  const double width = std::max(most - least, 1e-9);
  size_t index = 0;
  for (const auto& [key, samples] : groups) {
    auto& histogram = rows[index++].histogram;
    for (const Sample& sample : samples) {
      const double share = (log_ns(sample.duration_ns) - least) / width;
      const auto bucket = static_cast<size_t>(share * static_cast<double>(histogram.size()));
      ++histogram[std::min(bucket, histogram.size() - 1)];
    }
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const StatisticsRow& row) {
    return std::pair(row.each.median_ns, row.total_ns);
  });
  return rows;
}

}  // namespace streamscope::viewer
