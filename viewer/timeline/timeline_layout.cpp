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
  // Far outside the axis the exact value no longer matters, only that it stays outside.
  return static_cast<Wide>(std::clamp(value, -1e30, 1e30));
}

// std::floor() without the function call that code for CPUs before 2008 needs.
double floor_of(double value) {
  if (!(std::fabs(value) < 0x1p52)) return value;  // whole already
  const auto whole = static_cast<double>(static_cast<Ns>(value));
  return whole > value ? whole - 1 : whole;
}

// Results beyond 64 bits, kept out of functions that a picture calls a hundred thousand times.
[[gnu::noinline]] Ns far_distance_ns(Ns from, Ns to) { return clamp_wide(Wide{to} - from); }
[[gnu::noinline]] Ns add_far_ns(Ns at, double by) { return clamp_wide(at + to_wide(by)); }

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

}  // namespace

Ns distance_ns(Ns from, Ns to) {
  Ns distance = 0;
  return __builtin_sub_overflow(to, from, &distance) ? far_distance_ns(from, to) : distance;
}

Ns add_ns(Ns at, double by) {
  const double whole = floor_of(by);
  Ns sum = 0;
  if (std::fabs(whole) < 0x1p62 && !__builtin_add_overflow(at, static_cast<Ns>(whole), &sum))
    return sum;
  return add_far_ns(at, whole);
}

size_t first_not_before(const Packed<Ns>& sorted, size_t from, size_t to, Ns at) {
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

void Row::push(Ns start, Ns end, uint32_t what, uint8_t sort) {
  start_ns.push(start);
  end_ns.push(end);
  item.push(what);
  kind.push(sort);
}

std::optional<size_t> Row::find(Ns start, uint32_t what) const {
  const auto first = std::ranges::lower_bound(start_ns, start);
  for (auto i = static_cast<size_t>(first - start_ns.begin()); i < size() && start_ns[i] == start;
       ++i) {
    if (item[i] == what) return i;
  }
  return std::nullopt;
}

void Row::Level::finish() {
  start_ns.finish();
  busy_before_ns.finish();
  kind.finish();
}

void Row::finish() {
  start_ns.finish();
  end_ns.finish();
  item.finish();
  kind.finish();
  bool overlap = false;
  for (size_t i = 1; i < size() && !overlap; ++i) overlap = start_ns[i] < end_ns[i - 1];
  if (overlap) {
    Ns reach = kMinNs;
    for (const Ns end : end_ns) max_end_ns.push(reach = std::max(reach, end));
    max_end_ns.finish();
    return;
  }
  // The finest level is made from the intervals, each further one from the one before it.
  std::vector<Ns> longest(size() / kBlock);
  if (longest.empty()) return;
  Level& finest = levels.emplace_back();
  Wide busy = 0;
  for (size_t block = 0; block < longest.size(); ++block) {
    finest.start_ns.push(start_ns[block * kBlock]);
    finest.busy_before_ns.push(clamp_wide(busy));
    uint8_t kind_of_longest = 0;
    longest[block] = -1;
    for (size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
      const Ns duration = distance_ns(start_ns[i], end_ns[i]);
      busy += duration;
      if (duration <= longest[block]) continue;
      longest[block] = duration;
      kind_of_longest = kind[i];
    }
    finest.kind.push(kind_of_longest);
  }
  finest.finish();
  while (longest.size() >= kBlock) {
    Level coarse;
    const Level& fine = levels.back();
    const size_t blocks = longest.size() / kBlock;
    for (size_t block = 0; block < blocks; ++block) {
      const auto first = longest.begin() + static_cast<ptrdiff_t>(block * kBlock);
      const auto most = std::max_element(first, first + kBlock);
      coarse.start_ns.push(fine.start_ns[block * kBlock]);
      coarse.busy_before_ns.push(fine.busy_before_ns[block * kBlock]);
      coarse.kind.push(fine.kind[static_cast<size_t>(most - longest.begin())]);
      longest[block] = *most;
    }
    coarse.finish();
    longest.resize(blocks);
    levels.push_back(std::move(coarse));
  }
}

IndexRange visible(const Row& row, TimeRange range) {
  const Packed<Ns>& ends = row.max_end_ns.empty() ? row.end_ns : row.max_end_ns;
  // An empty interval at the very start is still inside: it is drawn as a hairline there.
  const auto first = std::lower_bound(ends.begin(), ends.end(), range.begin_ns);
  const auto last = std::upper_bound(row.start_ns.begin(), row.start_ns.end(), range.end_ns);
  const size_t begin = static_cast<size_t>(first - ends.begin());
  const size_t end = static_cast<size_t>(last - row.start_ns.begin());
  return {std::min(begin, end), end};
}

namespace {

using viewer::first_not_before;

// A few adjacent values of a column, read together.
class Neighbors {
 public:
  Neighbors(const Packed<Ns>& column, size_t from, size_t to) : from_(from) {
    if (from < to) column.read(from, to - from, values_);
  }
  Ns operator[](size_t index) const { return values_[index - from_]; }

 private:
  size_t from_;
  Ns values_[Row::kBlock + 1];  // only values that were read are used
};

size_t first_not_before(const Neighbors& sorted, size_t from, size_t to, Ns at) {
  while (from < to && sorted[from] < at) ++from;
  return from;
}

// One call of fold().
class Folding {
 public:
  Folding(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out)
      : row_(row),
        window_(window),
        min_px_(min_px),
        cell_ns_(window.ns_per_px * min_px),
        half_cell_ns_(add_ns(0, cell_ns_ / 2)),
        least_wide_ns_(add_ns(0, cell_ns_ * 0.99)),
        out_(out) {}

  void fold() {
    const auto [begin, end] = visible(row_, {window_.to_ns(kLeft), window_.to_ns(right_)});
    if (begin == end) return;
    drawn_to_ = kLeft;
    cell_ = cell_from(row_.start_ns[begin]);
    if (row_.levels.empty()) return fold_each(row_.start_ns, row_.end_ns, begin, end);
    fold_blocks(row_.levels.size(), begin, end);
  }

 private:
  // A cell of time, counted from time 0, not from the window. Its ends are rounded down to a
  // nanosecond, so that each nanosecond belongs to one cell.
  struct Cell {
    double number, px;
    Ns end_ns;
  };
  Cell cell_of(double number, Ns begin_ns) const {
    return {number, window_.to_px(begin_ns), add_ns(0, (number + 1) * cell_ns_)};
  }
  Cell cell_from(Ns at) const {
    const double number = -floor_of(-(static_cast<double>(at) + 1) / cell_ns_) - 1;
    return cell_of(number, add_ns(0, number * cell_ns_));
  }
  // Moves to the cell of an instant; instants must ascend. It is mostly the same cell or the next.
  const Cell& move_to(Ns at) {
    if (at < cell_.end_ns) return cell_;
    cell_ = cell_of(cell_.number + 1, cell_.end_ns);
    if (at >= cell_.end_ns) cell_ = cell_from(at);
    return cell_;
  }

  // Whether the interval is drawn on its own, with nothing of it left of `from`.
  bool is_wide(Ns start, Ns end, double from = -std::numeric_limits<double>::infinity()) const {
    return distance_ns(start, end) >= least_wide_ns_ &&
           window_.to_px(end) - std::max(window_.to_px(start), from) >= min_px_;
  }

  // Adds a run of intervals that begin in the cell, the first of them at `start`; it is merged with
  // an earlier run of the same cell. The run is busy for `busy_ns` of `span_ns`.
  void add_run(Ns start, size_t first, size_t count, double busy_ns, double span_ns, uint8_t kind) {
    const auto coverage = static_cast<float>(std::clamp(busy_ns / span_ns, 0.05, 1.0));
    const bool joins = cell_.px == run_px_;
    run_px_ = cell_.px;
    if (!joins) {
      const double px = count == 1 ? window_.to_px(start) : cell_.px;
      out_.push_back({static_cast<float>(px), static_cast<float>(px + min_px_),
                      static_cast<uint32_t>(first), static_cast<uint32_t>(count), kind, coverage});
      return;
    }
    DrawItem& run = out_.back();
    run.x0 = static_cast<float>(cell_.px);
    run.x1 = static_cast<float>(cell_.px + min_px_);
    run.count += static_cast<uint32_t>(count);
    run.coverage = std::min(run.coverage + coverage, 1.0f);
  }

  // Folds the intervals [i, end), which lie in one block of the level above: whole blocks of this
  // level if they are narrower than half a cell, the rest block by block on the level below. Level
  // 0 is the intervals themselves.
  void fold_blocks(size_t level, size_t i, size_t end) {
    if (level == 0) {
      const Neighbors starts(row_.start_ns, i, end), ends(row_.end_ns, i, end);
      return fold_each(starts, ends, i, end);
    }
    const Row::Level& blocks = row_.levels[level - 1];
    const size_t bits = kBlockBits * level, size = size_t{1} << bits;
    // Blocks before this one end in the range, and the start of the next is known.
    const size_t whole = std::min(blocks.start_ns.size() - 1, end >> bits);
    const Neighbors starts(blocks.start_ns, i >> bits, whole + 1);
    const auto is_narrow = [&](size_t block) {
      return distance_ns(starts[block], starts[block + 1]) <= half_cell_ns_;
    };
    while (i < end) {
      const size_t block = i >> bits;
      if (i % size != 0 || block >= whole || !is_narrow(block)) {
        const size_t until = std::min((block + 1) << bits, end);
        fold_blocks(level - 1, i, until);
        i = until;
        continue;
      }
      const Ns start = starts[block];
      size_t next = first_not_before(starts, block + 1, whole, move_to(start).end_ns);
      // Of the blocks that begin in the cell, only the last may be wide.
      while (next > block + 1 && !is_narrow(next - 1)) --next;
      // A whole run is about as long as a cell, not exactly; the busy share is of its own length.
      const auto span = static_cast<double>(distance_ns(start, starts[next]));
      add_run(start, i, (next - block) << bits,
              static_cast<double>(blocks.busy_before_ns[next]) -
                  static_cast<double>(blocks.busy_before_ns[block]),
              std::max(span, cell_ns_ / 2), blocks.kind[block]);
      i = next << bits;
    }
  }

  void fold_each(const auto& starts, const auto& ends, size_t i, size_t end) {
    const bool overlap = !row_.max_end_ns.empty();
    while (i < end) {
      const Ns start = starts[i], stop = ends[i];
      const double from = overlap ? drawn_to_ : kLeft;
      if (is_wide(start, stop, from)) {
        const double x1 = window_.to_px(stop);
        out_.push_back({static_cast<float>(std::max({window_.to_px(start), from, kLeft})),
                        static_cast<float>(std::min(x1, right_)), static_cast<uint32_t>(i), 1,
                        row_.kind[i], 1});
        drawn_to_ = x1;
        run_px_ = std::numeric_limits<double>::quiet_NaN();  // later intervals join no earlier run
        ++i;
        if (overlap) {  // intervals that do not extend further are hidden behind this one
          const auto further =
              std::upper_bound(row_.max_end_ns.begin() + static_cast<ptrdiff_t>(i),
                               row_.max_end_ns.end(), window_.to_ns(drawn_to_ + min_px_));
          i = static_cast<size_t>(further - row_.max_end_ns.begin());
        }
        continue;
      }
      const Ns cell_end = move_to(start).end_ns;
      size_t next = first_not_before(starts, i + 1, end, std::max(cell_end, add_ns(start, 1)));
      // The last of the run may be wide; it is then drawn on its own.
      if (next - i > 1 && is_wide(starts[next - 1], ends[next - 1])) --next;
      double busy = 0;
      const size_t step = (next - i + kMostSummed - 1) / kMostSummed;
      for (size_t each = i; each < next; each += step)
        busy += static_cast<double>(distance_ns(starts[each], ends[each]));
      add_run(start, i, next - i, busy * static_cast<double>(step), cell_ns_, row_.kind[i]);
      i = next;
    }
  }

  static constexpr size_t kBlockBits = 3;
  static_assert(size_t{1} << kBlockBits == Row::kBlock);
  // If more intervals share a cell, as when they overlap, this many of them are sampled.
  static constexpr size_t kMostSummed = 32;
  // Nothing beyond this is visible, and float stays exact.
  static constexpr double kLeft = -2;

  const Row& row_;
  const TimeWindow& window_;
  const double min_px_, cell_ns_, right_ = window_.width_px + 2;
  const Ns half_cell_ns_;
  const Ns least_wide_ns_;  // anything shorter is not wide; anything longer may be
  std::vector<DrawItem>& out_;
  Cell cell_{};  // of the last run
  double drawn_to_ = kLeft;
  double run_px_ =
      std::numeric_limits<double>::quiet_NaN();  // of the last run, if it may be joined
};

}  // namespace

void fold(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out) {
  Folding(row, window, min_px, out).fold();
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

}  // namespace streamscope::viewer
