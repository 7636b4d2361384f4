// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace streamscope::viewer {
namespace {

using Wide = __int128;

constexpr Ns kMinNs = std::numeric_limits<Ns>::min();
constexpr Ns kMaxNs = std::numeric_limits<Ns>::max();

Ns clamp_wide(Wide value) {
  return value < kMinNs ? kMinNs : value > kMaxNs ? kMaxNs : static_cast<Ns>(value);
}

Wide to_wide(double value) {
  // Far beyond the axis the exact value no longer matters, only that it stays there.
  return static_cast<Wide>(std::clamp(value, -1e30, 1e30));
}

// As std::lower_bound over [from, to), looking near `from` first: the next pixel is near.
size_t first_not_before(const std::vector<Ns>& sorted, size_t from, size_t to, Ns at) {
  size_t step = 1, last = from;
  while (last < to && sorted[last] < at) {
    from = last + 1;
    last += step;
    step *= 2;
  }
  const auto begin = sorted.begin();
  return static_cast<size_t>(std::lower_bound(begin + static_cast<ptrdiff_t>(from),
                                              begin + static_cast<ptrdiff_t>(std::min(last, to)),
                                              at) -
                             begin);
}

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

}  // namespace

Ns distance_ns(Ns from, Ns to) { return clamp_wide(static_cast<Wide>(to) - from); }

Ns add_ns(Ns at, double by) { return clamp_wide(at + to_wide(std::floor(by))); }

Ns TimeWindow::to_ns(double px) const { return add_ns(begin_ns, px * ns_per_px + begin_fraction); }

void TimeWindow::pan_px(double px) {
  const double shift = begin_fraction - px * ns_per_px;
  begin_ns = add_ns(begin_ns, shift);
  begin_fraction = shift - std::floor(shift);
}

void TimeWindow::zoom(double px, double factor) {
  const double scale = std::clamp(ns_per_px / factor, kMinNsPerPx, kMaxNsPerPx);
  const double shift = begin_fraction + px * (ns_per_px - scale);
  ns_per_px = scale;
  begin_ns = add_ns(begin_ns, shift);
  begin_fraction = shift - std::floor(shift);
}

void TimeWindow::show(TimeRange range, double margin) {
  const double span = std::max(range.span_ns(), 1.0);
  ns_per_px = std::clamp(span * (1 + 2 * margin) / width_px, kMinNsPerPx, kMaxNsPerPx);
  const double shift = span / 2 - span_ns() / 2;
  begin_ns = add_ns(range.begin_ns, shift);
  begin_fraction = shift - std::floor(shift);
}

void TimeWindow::resize(double width) {
  if (width == width_px || width < 1) return;
  ns_per_px = std::clamp(ns_per_px * width_px / width, kMinNsPerPx, kMaxNsPerPx);
  width_px = width;
}

Ticks ticks(const TimeWindow& window, double min_spacing_px) {
  Ticks result;
  const double least = std::min(std::max(window.ns_per_px * min_spacing_px, 1.0), 5e18);
  Ns decade = 1;
  while (static_cast<double>(decade) * 10 <= least) decade *= 10;
  for (const Ns factor : {1, 2, 5, 10}) {
    if (static_cast<Wide>(decade) * factor > kMaxNs) break;
    result.step_ns = decade * factor;
    result.minor_step_ns = result.step_ns / (factor == 2 ? 4 : 5);
    if (static_cast<double>(result.step_ns) >= least) break;
  }
  if (result.minor_step_ns < 1) result.minor_step_ns = 1;
  if (result.step_ns % result.minor_step_ns != 0) result.minor_step_ns = result.step_ns;
  const TimeRange range = window.range();
  for (Wide at = -floor_div(-static_cast<Wide>(range.begin_ns), result.step_ns) * result.step_ns;
       at <= range.end_ns; at += result.step_ns) {
    result.at.push_back(static_cast<Ns>(at));
  }
  return result;
}

Ns Row::busy(size_t from, size_t to) const {
  if (from >= to) return 0;
  return add_ns(busy_before_ns[to - 1] - busy_before_ns[from],
                static_cast<double>(distance_ns(start_ns[to - 1], end_ns[to - 1])));
}

void Row::finish() {
  busy_before_ns.resize(size());
  Wide busy = 0;
  bool overlap = false;
  for (size_t i = 0; i < size(); ++i) {
    busy_before_ns[i] = clamp_wide(busy);
    busy += distance_ns(start_ns[i], end_ns[i]);
    overlap = overlap || (i > 0 && end_ns[i] < end_ns[i - 1]);
  }
  max_end_ns.clear();
  if (!overlap) return;
  max_end_ns.resize(size());
  Ns reach = kMinNs;
  for (size_t i = 0; i < size(); ++i) max_end_ns[i] = reach = std::max(reach, end_ns[i]);
}

IndexRange visible(const Row& row, TimeRange range) {
  const std::vector<Ns>& ends = row.max_end_ns.empty() ? row.end_ns : row.max_end_ns;
  // An empty interval at the very begin is still inside: it is drawn as a hairline there.
  const auto first = std::lower_bound(ends.begin(), ends.end(), range.begin_ns);
  const auto last = std::upper_bound(row.start_ns.begin(), row.start_ns.end(), range.end_ns);
  const size_t begin = static_cast<size_t>(first - ends.begin());
  const size_t end = static_cast<size_t>(last - row.start_ns.begin());
  return {std::min(begin, end), end};
}

void fold(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out) {
  const double cell_ns = window.ns_per_px * min_px;
  const double left = -2,
               right = window.width_px + 2;  // beyond this nothing is seen, and float stays exact
  const auto [begin, end] = visible(row, {window.to_ns(left), window.to_ns(right)});
  double drawn_to = left;
  for (size_t i = begin; i < end;) {
    const double x0 =
        std::max(window.to_px(row.start_ns[i]), row.max_end_ns.empty() ? left : drawn_to);
    const double x1 = window.to_px(row.end_ns[i]);
    if (x1 - x0 >= min_px) {
      out.push_back({static_cast<float>(std::max(x0, left)),
                     static_cast<float>(std::min(x1, right)), static_cast<uint32_t>(i), 1, 1});
      drawn_to = x1;
      ++i;
      if (!row.max_end_ns.empty()) {  // what does not reach further is hidden behind this one
        const auto further =
            std::upper_bound(row.max_end_ns.begin() + static_cast<ptrdiff_t>(i),
                             row.max_end_ns.end(), window.to_ns(drawn_to + min_px));
        i = static_cast<size_t>(further - row.max_end_ns.begin());
      }
      continue;
    }
    // The cell of this interval, counted from time 0, not from the window.
    const double cell = std::floor(static_cast<double>(row.start_ns[i]) / cell_ns);
    const Ns cell_end = add_ns(0, (cell + 1) * cell_ns);
    size_t next =
        first_not_before(row.start_ns, i + 1, end, std::max(cell_end, add_ns(row.start_ns[i], 1)));
    // The last of the run may be wide: it is drawn for itself.
    if (next - i > 1 &&
        window.to_px(row.end_ns[next - 1]) - window.to_px(row.start_ns[next - 1]) >= min_px)
      --next;
    const double cell_px = window.to_px(add_ns(0, cell * cell_ns));
    const double busy = static_cast<double>(row.busy(i, next));
    const float coverage = static_cast<float>(std::clamp(busy / cell_ns, 0.05, 1.0));
    if (next - i == 1) {
      out.push_back({static_cast<float>(x0), static_cast<float>(x0 + min_px),
                     static_cast<uint32_t>(i), 1, coverage});
    } else {
      out.push_back({static_cast<float>(cell_px), static_cast<float>(cell_px + min_px),
                     static_cast<uint32_t>(i), static_cast<uint32_t>(next - i), coverage});
    }
    i = next;
  }
}

std::vector<uint16_t> pack_rows(std::span<const Ns> start_ns, std::span<const Ns> end_ns,
                                size_t max_rows) {
  std::vector<uint16_t> result(start_ns.size());
  std::vector<Ns> free_from;
  for (size_t i = 0; i < start_ns.size(); ++i) {
    size_t row = 0;
    while (row < free_from.size() && free_from[row] > start_ns[i]) ++row;
    if (row == free_from.size() && row < max_rows) free_from.push_back(kMinNs);
    row = std::min(row, max_rows - 1);
    free_from[row] = std::max(free_from[row], end_ns[i]);
    result[i] = static_cast<uint16_t>(row);
  }
  return result;
}

Ns covered_ns(std::span<const Ns> start_ns, std::span<const Ns> end_ns) {
  Wide covered = 0;
  Ns reach = kMinNs;
  for (size_t i = 0; i < start_ns.size(); ++i) {
    const Ns from = std::max(start_ns[i], reach);
    if (end_ns[i] > from) covered += static_cast<Wide>(end_ns[i]) - from;
    reach = std::max(reach, end_ns[i]);
  }
  return clamp_wide(covered);
}

std::vector<float> density(const Row& row, TimeRange range, size_t buckets) {
  std::vector<float> result(buckets, 0);
  const double width = range.span_ns() / static_cast<double>(buckets);
  if (width <= 0) return result;
  const auto [first, last] = visible(row, range);
  for (size_t i = first; i < last; ++i) {
    const double from = std::max(TimeRange{range.begin_ns, row.start_ns[i]}.span_ns() / width, 0.0);
    const double to = std::min(TimeRange{range.begin_ns, row.end_ns[i]}.span_ns() / width,
                               static_cast<double>(buckets));
    for (size_t bucket = static_cast<size_t>(from);
         bucket < buckets && static_cast<double>(bucket) < to; ++bucket) {
      const double share = std::min(to, static_cast<double>(bucket + 1)) -
                           std::max(from, static_cast<double>(bucket));
      result[bucket] = std::min(1.0f, result[bucket] + static_cast<float>(share));
    }
  }
  return result;
}

}  // namespace streamscope::viewer
