// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace streamscope::job {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// What one collective or message says about a clock at one time of it, against the first rank's.
struct Constraint {
  Ns at_ns;
  double lower, upper;  ///< infinite: says nothing
  double offset;        ///< from the ends; NaN: says nothing
};

class ClockAligner {
 public:
  ClockAligner(const Steps& steps, const Matching& matching)
      : steps_(steps), matching_(matching), spread_(matching.group_count()) {}

  std::vector<RankClock> align() {
    if (steps_.ranks.empty()) return {};
    number_clocks();
    clocks_[0].result.knots = {{}};
    std::vector<uint32_t> aligned{0};
    for (size_t i = 0; i < aligned.size(); ++i) {
      for (uint32_t clock : reached_from(aligned[i])) {
        if (clocks_[clock].result.known() || !clocks_[clock].result.refused.empty()) continue;
        if (set_knots(clocks_[clock])) aligned.push_back(clock);
      }
    }
    std::vector<RankClock> result;
    for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) {
      result.push_back(clocks_[clock_of_[rank]].result);
      RankClock& clock = result.back();
      if (!clock.known() && clock.refused.empty()) clock.refused = reason(rank);
    }
    return result;
  }

 private:
  struct Clock {
    std::vector<uint32_t> ranks;  ///< rows
    std::vector<Constraint> constraints;
    uint32_t last_group = kNone;  ///< the last that gave a constraint
    RankClock result;
  };

  void number_clocks() {
    std::unordered_map<std::string, uint32_t> by_host;
    for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) {
      const std::string& host = steps_.ranks[rank].identity.host;
      auto clock = static_cast<uint32_t>(clocks_.size());
      if (!host.empty()) clock = by_host.try_emplace(host, clock).first->second;
      if (clock == clocks_.size()) clocks_.emplace_back();
      clocks_[clock].ranks.push_back(rank);
      clock_of_.push_back(clock);
    }
  }

  Clock& clock_of(uint32_t step) { return clocks_[clock_of_[steps_.rank_of(step)]]; }

  /// Lets a clock that is known constrain others; those that it reached.
  std::vector<uint32_t> reached_from(uint32_t clock) {
    std::vector<uint32_t> reached;
    for (uint32_t rank : clocks_[clock].ranks) {
      const RankRow& row = steps_.ranks[rank];
      for (uint32_t i = 0; i < row.row_count; ++i) {
        const IterationRow& iteration = steps_.iterations[row.first_row + i];
        const uint32_t end = iteration.first_step + iteration.step_count;
        for (uint32_t step = iteration.first_step; step < end; ++step) {
          if (!steps_.ran(step)) continue;
          if (is_message(steps_.kind[step])) {
            spread_message(step, reached);
          } else if (needs_all_ranks(steps_.kind[step]) && !spread_[steps_.group[step]]) {
            spread_[steps_.group[step]] = true;  // once bounds every clock in it on both sides
            spread_collective(steps_.group[step], reached);
          }
        }
      }
    }
    std::ranges::sort(reached);
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    return reached;
  }

  /// Nobody ends before all have started.
  void spread_collective(uint32_t group, std::vector<uint32_t>& reached) {
    double latest_start = -kUnbounded, earliest_end = kUnbounded, ends = 0;
    size_t count = 0;
    for (uint32_t step : matching_.of(group)) {
      const RankClock& clock = clock_of(step).result;
      if (!clock.known() || !steps_.ran(step)) continue;
      const auto start = static_cast<double>(steps_.start_ns[step]);
      const auto end = static_cast<double>(steps_.end_ns[step]);
      const ClockKnot knot = clock.at(steps_.end_ns[step]);
      latest_start = std::max(latest_start, start - clock.at(steps_.start_ns[step]).upper_ns);
      earliest_end = std::min(earliest_end, end - knot.lower_ns);
      ends += end - knot.offset_ns;
      ++count;
    }
    const double mean_end = ends / static_cast<double>(count);
    for (uint32_t step : matching_.of(group)) {
      Clock& clock = clock_of(step);
      if (clock.result.known() || !steps_.ran(step) || clock.last_group == group) continue;
      clock.last_group = group;
      const auto end = static_cast<double>(steps_.end_ns[step]);
      clock.constraints.push_back(
          {steps_.end_ns[step], -kUnbounded, end - latest_start, end - mean_end});
      clock.constraints.push_back({steps_.start_ns[step],
                                   static_cast<double>(steps_.start_ns[step]) - earliest_end,
                                   kUnbounded, std::nan("")});
      reached.push_back(clock_of_[steps_.rank_of(step)]);
    }
  }

  /// A receive does not end before the send has started.
  void spread_message(uint32_t known, std::vector<uint32_t>& reached) {
    const RankClock& clock = clock_of(known).result;
    for (uint32_t step : matching_.of(steps_.group[known])) {
      Clock& other = clock_of(step);
      if (other.result.known() || !steps_.ran(step)) continue;
      Constraint constraint{steps_.end_ns[step], -kUnbounded, kUnbounded, std::nan("")};
      if (steps_.kind[known] == CollectiveKind::kSend) {
        const Ns start = steps_.start_ns[known];
        constraint.upper =
            static_cast<double>(steps_.end_ns[step] - start) + clock.at(start).upper_ns;
      } else {
        constraint.at_ns = steps_.start_ns[step];
        const Ns end = steps_.end_ns[known];
        constraint.lower =
            static_cast<double>(steps_.start_ns[step] - end) + clock.at(end).lower_ns;
      }
      other.constraints.push_back(constraint);
      reached.push_back(clock_of_[steps_.rank_of(step)]);
    }
  }

  /// False if the clock is not bounded on both sides, as far as others are known by now.
  static bool set_knots(Clock& clock) {
    std::vector<Constraint>& all = clock.constraints;
    std::ranges::sort(all, {}, &Constraint::at_ns);
    // A bound holds at other times too, wider by what the clock may drift until then.
    for (size_t i = 1; i < all.size(); ++i) widen(all[i - 1], all[i]);
    for (size_t i = all.size() - 1; i > 0; --i) widen(all[i], all[i - 1]);
    if (all.front().lower == -kUnbounded || all.front().upper == kUnbounded) return false;
    for (const Constraint& constraint : all) {
      if (constraint.lower > constraint.upper) {
        clock.result.refused =
            "its collectives contradict each other, as if its clock was set during the run";
        return false;
      }
    }
    const std::vector<ClockKnot> points = estimates_of(all);
    for (const Constraint& constraint : {all.front(), all.back()}) {
      clock.result.knots.push_back(knot_at(constraint, points));
    }
    for (const ClockKnot& point : points) {
      const auto nearest = std::ranges::lower_bound(all, point.at_ns, {}, &Constraint::at_ns);
      clock.result.knots.push_back(knot_at(*nearest, points));
    }
    std::ranges::sort(clock.result.knots, {}, &ClockKnot::at_ns);
    all = {};
    return true;
  }

  static void widen(const Constraint& from, Constraint& to) {
    const double drift = kMostDrift * std::abs(static_cast<double>(to.at_ns - from.at_ns));
    to.lower = std::max(to.lower, from.lower - drift);
    to.upper = std::min(to.upper, from.upper + drift);
  }

  /// Medians of the ends in stretches of time: several, so that one late end does not count, and
  /// few, so that drift shows. Without ends the middles of the intervals.
  static std::vector<ClockKnot> estimates_of(const std::vector<Constraint>& all) {
    constexpr size_t kLeast = 3, kMost = 8;
    std::vector<ClockKnot> points;
    std::vector<std::pair<Ns, double>> ends;
    for (const Constraint& constraint : all) {
      if (!std::isnan(constraint.offset)) ends.emplace_back(constraint.at_ns, constraint.offset);
    }
    const size_t stretches = std::clamp<size_t>(ends.size() / kLeast, 1, kMost);
    for (size_t i = 0; i < stretches && !ends.empty(); ++i) {
      const auto from = ends.begin() + static_cast<std::ptrdiff_t>(i * ends.size() / stretches);
      const auto to = ends.begin() + static_cast<std::ptrdiff_t>((i + 1) * ends.size() / stretches);
      ClockKnot point{(from + (to - from) / 2)->first, 0, 0, 0};
      std::vector<double> offsets;
      for (auto end = from; end != to; ++end) offsets.push_back(end->second);
      const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
      std::ranges::nth_element(offsets, middle);
      point.offset_ns = *middle;
      points.push_back(point);
    }
    return points;
  }

  static ClockKnot knot_at(const Constraint& bounds, const std::vector<ClockKnot>& points) {
    ClockKnot knot{bounds.at_ns, (bounds.lower + bounds.upper) / 2, bounds.lower, bounds.upper};
    if (!points.empty()) {
      // On the line through the two nearest points, also beyond the first and last.
      size_t next = 1;
      while (next + 1 < points.size() && points[next].at_ns < knot.at_ns) ++next;
      knot.offset_ns = points[next - 1].offset_ns;
      if (next < points.size() && points[next].at_ns > points[next - 1].at_ns) {
        knot.offset_ns += (points[next].offset_ns - points[next - 1].offset_ns) *
                          static_cast<double>(knot.at_ns - points[next - 1].at_ns) /
                          static_cast<double>(points[next].at_ns - points[next - 1].at_ns);
      }
    }
    knot.offset_ns = std::clamp(knot.offset_ns, knot.lower_ns, knot.upper_ns);
    return knot;
  }

  std::string reason(uint32_t rank) const {
    const std::vector<Constraint>& constraints = clocks_[clock_of_[rank]].constraints;
    const int32_t first = steps_.ranks.front().identity.rank;
    if (constraints.empty()) {
      return fmt::format("no collective or message joins it with rank {}", first);
    }
    return fmt::format("messages bound it from {} only",
                       constraints.front().lower == -kUnbounded ? "above" : "below");
  }

  const Steps& steps_;
  const Matching& matching_;
  std::vector<bool> spread_;  // by group
  std::vector<Clock> clocks_;
  std::vector<uint32_t> clock_of_;  // by rank row
};

}  // namespace

ClockKnot RankClock::at(Ns own_ns) const {
  const auto next = std::ranges::lower_bound(knots, own_ns, {}, &ClockKnot::at_ns);
  if (next == knots.begin()) return knots.front();
  if (next == knots.end()) return knots.back();
  const ClockKnot& before = *(next - 1);
  const double part =
      static_cast<double>(own_ns - before.at_ns) / static_cast<double>(next->at_ns - before.at_ns);
  const auto between = [&](double from, double to) { return from + part * (to - from); };
  return {own_ns, between(before.offset_ns, next->offset_ns),
          between(before.lower_ns, next->lower_ns), between(before.upper_ns, next->upper_ns)};
}

std::vector<RankClock> clocks_of(const Steps& steps, const Matching& matching) {
  return ClockAligner(steps, matching).align();
}

}  // namespace streamscope::job
