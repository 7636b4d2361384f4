// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "intervals.h"

#include <algorithm>

namespace streamscope::viewer {

void sort_by_start(std::vector<Interval>& intervals) {
  std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.range.begin_ns != b.range.begin_ns ? a.range.begin_ns < b.range.begin_ns
                                                : a.range.end_ns > b.range.end_ns;
  });
}

namespace {

struct Times {
  std::vector<Ns> start, end;

  explicit Times(const std::vector<Interval>& intervals) {
    start.reserve(intervals.size());
    end.reserve(intervals.size());
    for (const Interval& interval : intervals) {
      start.push_back(interval.range.begin_ns);
      end.push_back(interval.range.end_ns);
    }
  }
};

}  // namespace

void add_bands(const ItemFacts& items, Lane& lane, BandKind kind,
               const std::vector<Interval>& intervals, size_t max_rows) {
  const Times times(intervals);
  const std::vector<uint16_t> rows = pack_rows(times.start, times.end, max_rows);
  const size_t first = lane.bands.size();
  for (size_t i = 0; i < intervals.size(); ++i) {
    while (lane.bands.size() <= first + rows[i]) lane.bands.push_back({kind, {}});
    const auto& [range, item] = intervals[i];
    lane.bands[first + rows[i]].row.push(range.begin_ns, range.end_ns, pack(item),
                                         static_cast<uint8_t>(items.category(item)));
  }
  for (size_t band = first; band < lane.bands.size(); ++band) lane.bands[band].row.finish();
}

double busy_share(const std::vector<Interval>& intervals, TimeRange of) {
  const Times times(intervals);
  return static_cast<double>(covered_ns(times.start, times.end)) / of.span_ns();
}

}  // namespace streamscope::viewer
