// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "trace/ns_math.h"

namespace streamscope::job {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// What is known about a clock at one time of it, against the first rank's.
struct Constraint {
  enum Source { kCollective, kMeasured, kNone };
  Ns at_ns;
  double lower = -kUnbounded, upper = kUnbounded;  ///< infinite: says nothing
  double offset = std::nan("");                    ///< NaN: says nothing
  Source source = kCollective;                     ///< or a message of the program
};

class ClockAligner {
 public:
  explicit ClockAligner(const Steps& steps) : steps_(steps), known_(steps.group_count) {}

  std::vector<RankClock> align() {
    if (steps_.ranks.empty()) return {};
    number_clocks();
    clocks_[0].result.knots = {{}};
    sort_measured_of_first();
    for (const ClockOffset& offset : steps_.clock_offsets) add_measured(offset);
    if (!steps_.clock_offsets.empty()) add_times_between();
    // Those that the last round reached let their collectives and messages reach others.
    for (round_ = 1; last_reached_ > 0; ++round_) {
      for_each_step([&](uint32_t step, Clock& clock) {
        if (clock.round + 1 == round_) add_known(step, clock.result);
      });
      for_each_step([&](uint32_t step, Clock& clock) {
        if (!clock.result.known()) constrain(step, clock);
      });
      last_reached_ = 0;
      for (Clock& clock : clocks_) {
        const bool open = !clock.result.known() && clock.result.refused.empty();
        if (!open || clock.constraints.empty() || !set_knots(clock)) continue;
        clock.round = round_;
        ++last_reached_;
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
    std::vector<Constraint> constraints;
    uint32_t round = kNone - 1;  ///< in which it became known
    RankClock result;
  };
  /// Of a group, what ranks with known clocks did in it, on the first rank's clock.
  struct KnownPart {
    double latest_start = -kUnbounded, earliest_end = kUnbounded, ends = 0;
    uint32_t count = 0;        ///< of `ends`
    uint32_t round = 0;        ///< in which it bounds others; 0: not yet
    uint32_t bounded = kNone;  ///< the last clock that it bounds: once for all ranks of a host
  };

  void number_clocks() {
    for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) {
      const RankRow& row = steps_.ranks[rank];
      const std::string& host = row.identity.host;
      auto clock = static_cast<uint32_t>(clocks_.size());
      if (!host.empty() && row.on_clock_of_host)
        clock = of_host_.try_emplace(host, clock).first->second;
      if (clock == clocks_.size()) clocks_.emplace_back();
      clock_of_.push_back(clock);
    }
    clocks_[0].round = 0;
  }

  /// By messages between hosts, one of which may be the first rank's.
  void add_measured(ClockOffset offset) {
    const std::string& first = steps_.ranks.front().identity.host;
    if (offset.host == first) {
      offset = {.reference = first,
                .host = offset.reference,
                .at_ns = offset.at_ns - middle_of(offset),
                .lower_ns = -offset.upper_ns,
                .upper_ns = -offset.lower_ns};
    } else if (offset.reference != first) {
      const ClockOffset* own = nearest_of_first(offset);
      if (own == nullptr) return;
      const auto apart = static_cast<double>(reference_time(*own) - reference_time(offset));
      const Ns drift = std::llround(kMostDrift * std::abs(apart));
      offset.lower_ns -= own->upper_ns + drift;
      offset.upper_ns -= own->lower_ns - drift;
    }
    const auto clock = of_host_.find(offset.host);
    if (clock == of_host_.end() || clock->second == 0) return;
    clocks_[clock->second].constraints.push_back(
        {offset.at_ns - steps_.origin_ns, static_cast<double>(offset.lower_ns),
         static_cast<double>(offset.upper_ns), static_cast<double>(middle_of(offset)),
         Constraint::kMeasured});
  }
  /// Bounds are widest where the run begins and ends, and halfway between two measurements.
  void add_times_between() {
    for (Clock& clock : clocks_) {
      std::ranges::sort(clock.constraints, {}, &Constraint::at_ns);
      const size_t count = clock.constraints.size();
      for (size_t i = 1; i < count; ++i) {
        add_time(clock, std::midpoint(clock.constraints[i - 1].at_ns, clock.constraints[i].at_ns));
      }
    }
    for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) {
      const RankRow& row = steps_.ranks[rank];
      Clock& clock = clocks_[clock_of_[rank]];
      if (row.row_count == 0 || clock.constraints.empty()) continue;
      add_time(clock, steps_.iterations[row.first_row].start_ns);
      add_time(clock, steps_.iterations[row.first_row + row.row_count - 1].end_ns);
    }
  }
  static void add_time(Clock& clock, Ns at_ns) {
    clock.constraints.push_back({.at_ns = at_ns, .source = Constraint::kNone});
  }
  static Ns middle_of(const ClockOffset& offset) {
    return std::midpoint(offset.lower_ns, offset.upper_ns);
  }
  static Ns reference_time(const ClockOffset& offset) { return offset.at_ns - middle_of(offset); }
  static Ns time_of(const ClockOffset* offset) { return reference_time(*offset); }
  void sort_measured_of_first() {
    const std::string& first = steps_.ranks.front().identity.host;
    for (const ClockOffset& offset : steps_.clock_offsets) {
      if (offset.host == first) of_first_[offset.reference].push_back(&offset);
    }
    for (auto& [reference, offsets] : of_first_) std::ranges::sort(offsets, {}, time_of);
  }
  /// What was measured of the first rank's host against the same reference, closest in time; null
  /// if nothing.
  const ClockOffset* nearest_of_first(const ClockOffset& to) const {
    const auto found = of_first_.find(to.reference);
    if (found == of_first_.end()) return nullptr;
    const std::vector<const ClockOffset*>& offsets = found->second;
    const Ns time = reference_time(to);
    const auto after = std::ranges::lower_bound(offsets, time, {}, time_of);
    if (after == offsets.begin()) return *after;
    const ClockOffset* before = *std::prev(after);
    return after == offsets.end() || time - time_of(before) <= time_of(*after) - time ? before
                                                                                      : *after;
  }

  template <class Act>
  void for_each_step(const Act& act) {
    for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) {
      Clock& clock = clocks_[clock_of_[rank]];
      const RankRow& row = steps_.ranks[rank];
      if (row.row_count == 0) continue;
      const IterationRow& last = steps_.iterations[row.first_row + row.row_count - 1];
      const uint32_t end = last.first_step + last.step_count;
      for (uint32_t step = steps_.iterations[row.first_row].first_step; step < end; ++step) {
        const CollectiveKind kind = steps_.kind[step];
        if ((needs_all_ranks(kind) || is_message(kind)) && steps_.ran(step)) act(step, clock);
      }
    }
  }

  void add_known(uint32_t step, const RankClock& clock) {
    KnownPart& known = known_[steps_.group[step]];
    if (known.round != 0 && known.round != round_) return;  // bounded all others long ago
    known.round = round_;
    const auto start = static_cast<double>(steps_.start_ns[step]);
    const auto end = static_cast<double>(steps_.end_ns[step]);
    const CollectiveKind kind = steps_.kind[step];
    if (kind != CollectiveKind::kReceive) {
      const double upper = clock.at(steps_.start_ns[step]).upper_ns;
      known.latest_start = std::max(known.latest_start, start - upper);
    }
    if (kind == CollectiveKind::kSend) return;
    const ClockKnot knot = clock.at(steps_.end_ns[step]);
    known.earliest_end = std::min(known.earliest_end, end - knot.lower_ns);
    if (kind == CollectiveKind::kReceive) return;
    known.ends += end - knot.offset_ns;
    ++known.count;
  }

  /// Nobody ends before all have started; a receive not before the send has.
  void constrain(uint32_t step, Clock& clock) {
    KnownPart& known = known_[steps_.group[step]];
    const uint32_t number = static_cast<uint32_t>(&clock - clocks_.data());
    if (known.round != round_ || known.bounded == number) return;
    known.bounded = number;
    const Ns start_ns = steps_.start_ns[step], end_ns = steps_.end_ns[step];
    if (known.latest_start > -kUnbounded && steps_.kind[step] != CollectiveKind::kSend) {
      const auto end = static_cast<double>(end_ns);
      Constraint& bound = clock.constraints.emplace_back(Constraint{.at_ns = end_ns});
      bound.upper = end - known.latest_start;
      if (known.count > 0) bound.offset = end - known.ends / known.count;
    }
    if (known.earliest_end < kUnbounded && steps_.kind[step] != CollectiveKind::kReceive) {
      const double lower = static_cast<double>(start_ns) - known.earliest_end;
      clock.constraints.push_back({.at_ns = start_ns, .lower = lower});
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
            "what is known of it is contradictory, as if its clock was set during the run";
        return false;
      }
    }
    const std::vector<ClockKnot> points = estimates_of(all);
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || i + 1 == all.size() || all[i].source == Constraint::kNone)
        clock.result.knots.push_back(knot_at(all[i], points));
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

  /// What was measured, and medians of the ends in stretches of time: long ones, so that one late
  /// end does not count, and several, so that drift shows where it is more than the ends differ.
  static std::vector<ClockKnot> estimates_of(const std::vector<Constraint>& all) {
    constexpr size_t kLeast = 3, kMost = 8;
    // In which a clock that is 20 ppm fast gains as much as the ends of a collective differ.
    constexpr Ns kShortestNs = 100'000'000;
    std::vector<std::pair<Ns, double>> ends;
    std::vector<ClockKnot> points;
    for (const Constraint& constraint : all) {
      if (constraint.source == Constraint::kMeasured)
        points.push_back({constraint.at_ns, constraint.offset, 0, 0});
      else if (!std::isnan(constraint.offset))
        ends.emplace_back(constraint.at_ns, constraint.offset);
    }
    if (ends.empty()) return points;
    const Ns first = ends.front().first, whole = ends.back().first - first;
    const auto most = std::min(static_cast<Ns>(ends.size() / kLeast), whole / kShortestNs);
    const Ns length = whole / std::clamp<Ns>(most, 1, kMost) + 1;
    for (auto from = ends.begin(); from != ends.end();) {
      const Ns stretch = (from->first - first) / length;
      const auto to = std::find_if(from, ends.end(), [&](const auto& end) {
        return (end.first - first) / length > stretch;
      });
      ClockKnot point{(from + (to - from) / 2)->first, 0, 0, 0};
      std::vector<double> offsets;
      for (; from != to; ++from) offsets.push_back(from->second);
      const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
      std::ranges::nth_element(offsets, middle);
      point.offset_ns = *middle;
      points.push_back(point);
    }
    std::ranges::sort(points, {}, &ClockKnot::at_ns);
    const auto again = std::ranges::unique(points, {}, &ClockKnot::at_ns);
    points.erase(again.begin(), again.end());
    return points;
  }

  static ClockKnot knot_at(const Constraint& bounds, const std::vector<ClockKnot>& points) {
    ClockKnot knot{bounds.at_ns, (bounds.lower + bounds.upper) / 2, bounds.lower, bounds.upper};
    if (!points.empty()) {
      // On the line through the two nearest points, also beyond the first and last.
      size_t next = 1;
      while (next + 1 < points.size() && points[next].at_ns < knot.at_ns) ++next;
      const ClockKnot& before = points[next - 1];
      knot.offset_ns = before.offset_ns;
      if (next < points.size()) {
        const double slope = (points[next].offset_ns - before.offset_ns) /
                             static_cast<double>(points[next].at_ns - before.at_ns);
        knot.offset_ns += std::clamp(slope, -kMostDrift, kMostDrift) *
                          static_cast<double>(knot.at_ns - before.at_ns);
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
  std::vector<KnownPart> known_;  // by group
  std::vector<Clock> clocks_;
  std::vector<uint32_t> clock_of_;                     // by rank row
  std::unordered_map<std::string, uint32_t> of_host_;  // in `clocks_`
  /// What was measured of the first rank's host, by reference, in order of time.
  std::unordered_map<std::string, std::vector<const ClockOffset*>> of_first_;
  uint32_t round_ = 0;
  size_t last_reached_ = 1;
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

Ns RankClock::to_first(Ns own_ns) const {
  return trace::difference_of(own_ns, std::llround(at(own_ns).offset_ns));
}

std::vector<RankClock> clocks_of(const Steps& steps) { return ClockAligner(steps).align(); }

}  // namespace streamscope::job
