// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "clock_map.h"

#include <algorithm>
#include <cassert>

namespace streamscope::record {
namespace {

// An anchor has an error of some ten nanoseconds. A line of a millisecond turns it into an error of
// the rate of 1e-5, so the lines get longer as the rate becomes known; a second limits the effect
// of a change of the rate (NTP).
constexpr int64_t kShortestLineNs = 1'000'000;
constexpr int64_t kLongestLineNs = 1'000'000'000;

}  // namespace

ClockMap::ClockMap(ring::ClockKind kind, int64_t trace_start_ns)
    : kind_(kind), trace_start_ns_(trace_start_ns) {}

trace::Ns ClockMap::on_line(const Line& line, uint64_t ticks) const {
  const auto delta = static_cast<int64_t>(ticks - line.from.ticks);
  return line.from.ns + static_cast<trace::Ns>(static_cast<double>(delta) * line.ns_per_tick);
}

std::optional<ClockMap::Knot> ClockMap::add(const ring::ClockAnchor& anchor) {
  const Knot measured = {anchor.ticks, from_monotonic(anchor.monotonic_ns), anchor.realtime_ns};
  if (lines_.empty()) {
    lines_.push_back({measured, 1.0});
    last_anchor_ = anchor;
    return measured;
  }
  const auto ticks = static_cast<double>(anchor.ticks - last_anchor_.ticks);
  const int64_t elapsed_ns = anchor.monotonic_ns - last_anchor_.monotonic_ns;
  if (anchor.ticks <= last_anchor_.ticks || elapsed_ns <= 0) return std::nullopt;
  const double rate = static_cast<double>(elapsed_ns) / ticks;
  if (lines_.size() == 1 && last_anchor_.ticks == lines_[0].from.ticks &&
      lines_[0].ns_per_tick == 1.0)
    lines_[0].ns_per_tick =
        rate;  // the first two anchors define the first rate; nothing was converted before

  const int64_t known_ns = measured.ns - lines_[0].from.ns;
  const int64_t due_ns = std::clamp(known_ns / 2, kShortestLineNs, kLongestLineNs);
  if (elapsed_ns < due_ns) return std::nullopt;
  // Continue from the current end of the old line, and be exact when the next knot is due.
  const Knot knot = {anchor.ticks, on_line(lines_.back(), anchor.ticks), anchor.realtime_ns};
  const double next_ticks = static_cast<double>(std::min(2 * due_ns, kLongestLineNs)) / rate;
  const double steer = static_cast<double>(measured.ns - knot.ns) / next_ticks;
  lines_.push_back({knot, rate + std::clamp(steer, -rate / 2, rate / 2)});
  last_anchor_ = anchor;
  return knot;
}

void ClockMap::restore(const Knot& knot) {
  double ns_per_tick = 1.0;
  if (!lines_.empty()) {
    Line& last = lines_.back();
    if (knot.ticks <= last.from.ticks) return;
    ns_per_tick = last.ns_per_tick = static_cast<double>(knot.ns - last.from.ns) /
                                     static_cast<double>(knot.ticks - last.from.ticks);
  }
  lines_.push_back({knot, ns_per_tick});
  last_anchor_ = {knot.ticks, knot.ns + trace_start_ns_, knot.realtime_ns};
}

trace::Ns ClockMap::to_ns(uint64_t ticks) const {
  if (kind_ == ring::ClockKind::kMonotonic) return from_monotonic(static_cast<int64_t>(ticks));
  assert(!lines_.empty());
  const Line* line = &lines_.back();
  while (ticks < line->from.ticks && line != lines_.data()) --line;
  return on_line(*line, ticks);
}

uint64_t ClockMap::to_ticks(trace::Ns ns) const {
  if (kind_ == ring::ClockKind::kMonotonic) return static_cast<uint64_t>(ns + trace_start_ns_);
  assert(!lines_.empty());
  const Line* line = &lines_.back();
  while (ns < line->from.ns && line != lines_.data()) --line;
  const double delta = static_cast<double>(ns - line->from.ns) / line->ns_per_tick;
  return line->from.ticks + static_cast<uint64_t>(static_cast<int64_t>(delta));
}

}  // namespace streamscope::record
