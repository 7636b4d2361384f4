// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The arithmetic of a timeline: nanoseconds to pixels and back, ticks, rows, and folding of what is
// too small to see.
//
// Used by the views and by TraceModel; independent of Dear ImGui and of traces, so that all of it
// is tested as plain functions. Cost depends on pixels: what a row draws is bounded by its width,
// whatever the number of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/packed.h"

namespace streamscope::viewer {

using trace::Packed;

/// Nanoseconds on the trace clock, as in trace/model.h.
using Ns = int64_t;

/// `to - from`, or the largest Ns if that does not fit.
Ns distance_ns(Ns from, Ns to);
/// `at + by`, clamped to the range of Ns.
Ns add_ns(Ns at, double by);

/// `to - from`, to 53 bits whatever its size.
inline double difference_ns(Ns from, Ns to) {
  Ns difference = 0;
  if (!__builtin_sub_overflow(to, from, &difference)) return static_cast<double>(difference);
  return static_cast<double>(static_cast<__int128>(to) - from);
}

/// Half-open range of time.
struct TimeRange {
  Ns begin_ns = 0;
  Ns end_ns = 0;

  /// The duration, or the largest Ns if it does not fit; `span_ns` is right (to 53 bits) in that
  /// case, too.
  Ns duration_ns() const { return distance_ns(begin_ns, end_ns); }
  double span_ns() const { return difference_ns(begin_ns, end_ns); }
  bool operator==(const TimeRange&) const = default;
};

/// The part of time shown by a width of pixels. The first pixel is at `begin_ns + begin_fraction`,
/// so that panning by single pixels works when a nanosecond is wider than a pixel. Exact: an
/// instant less than 2^53 ns from `begin_ns` is converted to pixels without loss, wherever it is on
/// the int64 axis.
struct TimeWindow {
  Ns begin_ns = 0;
  double begin_fraction = 0;  ///< in [0, 1)
  double ns_per_px = 1;
  double width_px = 1;

  double to_px(Ns at) const { return (difference_ns(begin_ns, at) - begin_fraction) / ns_per_px; }
  /// The instant at or just before a pixel, clamped to the range of Ns.
  Ns to_ns(double px) const;
  double span_ns() const { return ns_per_px * width_px; }
  TimeRange range() const { return {begin_ns, to_ns(width_px)}; }

  /// Moves the picture right by `px` pixels: earlier times come into view from the left.
  void pan_px(double px);
  /// Makes everything `factor` times wider, keeping the instant under `px` where it is.
  void zoom(double px, double factor);
  /// Shows `range` with a margin of `margin` of its width on both sides.
  void show(TimeRange range, double margin = 0);
  /// Shows the same range at another width.
  void resize(double width);
};

/// Narrowest and widest scales a window may take: a nanosecond is at most 64 pixels wide.
inline constexpr double kMinNsPerPx = 1.0 / 64;
inline constexpr double kMaxNsPerPx = 1e17;
/// Zoom factor per step of the wheel or a key.
inline constexpr double kZoomStep = 1.25;

struct Ticks {
  Ns step_ns = 1;        ///< 1, 2 or 5 times a power of ten
  Ns minor_step_ns = 1;  ///< a whole divisor of `step_ns`
  std::vector<Ns> at;    ///< multiples of `step_ns` in the window
};

/// Ticks at round instants, at least `min_spacing_px` apart.
Ticks ticks(const TimeWindow& window, double min_spacing_px);

/// Intervals of one row of a lane, ordered by start.
struct Row {
  Packed<Ns> start_ns;
  Packed<Ns> end_ns;
  Packed<uint32_t> item;  ///< what the interval is; its owner defines the number
  Packed<uint8_t> kind;   ///< its sort, as its owner numbers them
  Packed<Ns> max_end_ns;  ///< per interval, the latest end so far; empty if no two overlap

  /// Blocks of intervals, for pictures in which thousands share a pixel.
  struct Level {
    Packed<Ns> start_ns;        ///< of the first in the block
    Packed<Ns> busy_before_ns;  ///< sum of the durations before the block
    Packed<uint8_t> kind;       ///< of the longest in the block

    void finish();
  };
  static constexpr size_t kBlock = 8;  ///< intervals of the finest level, then blocks of the next
  std::vector<Level> levels;           ///< the finest first; whole blocks only; none if two overlap

  size_t size() const { return start_ns.size(); }
  void push(Ns start, Ns end, uint32_t what, uint8_t sort = 0);
  /// Latest end of the intervals 0 ... `index`.
  Ns reach(size_t index) const { return max_end_ns.empty() ? end_ns[index] : max_end_ns[index]; }
  /// Index of the interval with this start and item.
  std::optional<size_t> find(Ns start, uint32_t what) const;
  /// Computes what is derived from starts and ends. Call once after the last push; the row is read
  /// only after that.
  void finish();
};

/// Like std::lower_bound over [from, to), searching near `from` first: the next pixel is near.
size_t first_not_before(const Packed<Ns>& sorted, size_t from, size_t to, Ns at);

struct IndexRange {
  size_t begin = 0;
  size_t end = 0;
};

/// Intervals of `row` that may touch `range`: from the first whose reach is past its begin to the
/// last that starts before its end. Logarithmic.
IndexRange visible(const Row& row, TimeRange range);

/// One thing to draw: an interval at least a pixel wide, or a run of narrower intervals in one
/// pixel.
struct DrawItem {
  float x0 = 0, x1 = 0;
  uint32_t first = 0;  ///< index in the row
  uint32_t count = 0;  ///< 1, or the number of intervals folded into this run
  uint8_t kind = 0;    ///< of the interval; for a run, of one of the longest
  float coverage = 1;  ///< busy part of a folded run, in (0, 1]
};

/// What to draw of `row`, left to right: at most a few items per pixel. Intervals narrower than
/// `min_px` are folded into cells of that width at fixed multiples of time, so that they do not
/// flicker when panning. Costs pixels, not intervals: if many share a pixel, only their blocks are
/// read, which move the edge of a run by half a cell at most.
void fold(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out);

/// Puts intervals, ordered by start, into the fewest rows in which none overlap. Those that do not
/// fit into `max_rows` go to the last row. Returns the row of each.
std::vector<uint16_t> pack_rows(std::span<const Ns> start_ns, std::span<const Ns> end_ns,
                                size_t max_rows);

/// Union of intervals ordered by start: time covered by at least one of them.
Ns covered_ns(std::span<const Ns> start_ns, std::span<const Ns> end_ns);

}  // namespace streamscope::viewer
