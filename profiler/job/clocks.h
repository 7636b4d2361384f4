// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The clocks of all ranks against that of the first one, from collectives: those in which every
// rank needs every other end almost together, and none ends before all have started. The first
// gives the offset, the second the interval that contains it for certain. What messages between
// hosts measured (clock_offsets.h) gives both.
#pragma once

#include "steps.h"

namespace streamscope::job {

/// At a time of the rank's own clock: what that clock is ahead of the first rank's.
struct ClockKnot {
  Ns at_ns = 0;
  double offset_ns = 0;
  double lower_ns = 0;
  double upper_ns = 0;
};

struct RankClock {
  std::vector<ClockKnot> knots;  ///< by time, linear between and constant outside; one or more
                                 ///< unless refused
  std::string refused;           ///< why there is none; "" otherwise

  bool known() const { return !knots.empty(); }
  /// Interpolated. Requires known().
  ClockKnot at(Ns own_ns) const;
  /// On the first rank's clock. Requires known().
  Ns to_first(Ns own_ns) const;
};

/// How much faster one clock may run than another: what the kernel's discipline of clocks allows,
/// and more than their crystals differ.
inline constexpr double kMostDrift = 500e-6;

/// By rank row. Ranks of one host share a clock (RankSummary::clock_start_ns). Others are reached
/// through chains of communicators and messages, in which the intervals add up. O(steps * longest
/// chain).
std::vector<RankClock> clocks_of(const Steps& steps);

}  // namespace streamscope::job
