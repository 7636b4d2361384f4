// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Turns clock ticks of the rings into nanoseconds on the trace clock.
//
// The time-stamp counter runs at a nearly constant, not exactly known rate relative to
// CLOCK_MONOTONIC. The map is a chain of straight lines that is steered towards the anchors taken
// while recording. It is continuous and ascending, and what was converted once is never converted
// differently later. All processes of a machine share it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ring/ring.h"
#include "trace/model.h"

namespace streamscope::record {

/// Thread-compatible.
class ClockMap {
 public:
  /// A point where one line ends and the next begins.
  struct Knot {
    uint64_t ticks;
    trace::Ns ns;
    int64_t realtime_ns;
  };

  /// `trace_start_ns`: CLOCK_MONOTONIC at instant 0 of the trace.
  ClockMap(ring::ClockKind kind, int64_t trace_start_ns);

  /// Adds an anchor later than those before. Two are needed before the first conversion. Returns
  /// the new knot, if the line was due to be steered.
  std::optional<Knot> add(const ring::ClockAnchor& anchor);
  /// Restores a knot of an earlier writer. Knots are added by ascending ticks, before any anchor.
  void restore(const Knot& knot);

  trace::Ns to_ns(uint64_t ticks) const;
  /// The inverse, to within a tick or a nanosecond, whichever is longer.
  uint64_t to_ticks(trace::Ns ns) const;

  int64_t to_monotonic(trace::Ns ns) const { return ns + trace_start_ns_; }
  trace::Ns from_monotonic(int64_t monotonic_ns) const { return monotonic_ns - trace_start_ns_; }

 private:
  struct Line {
    Knot from;
    double ns_per_tick;
  };
  trace::Ns on_line(const Line& line, uint64_t ticks) const;

  ring::ClockKind kind_;
  int64_t trace_start_ns_;
  std::vector<Line> lines_;
  ring::ClockAnchor last_anchor_{};  // at the newest knot
};

}  // namespace streamscope::record
