// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/waiting.h"

#include <algorithm>

namespace streamscope::job {
namespace {

Wait wait_in(const Steps& steps, std::span<const uint32_t> members) {
  Wait wait;
  std::vector<Ns> durations;
  for (uint32_t step : members) {
    if (!steps.ran(step)) continue;
    const Ns duration = steps.end_ns[step] - steps.start_ns[step];
    durations.push_back(duration);
    if (wait.late == kNone || duration < wait.own_ns) {
      wait.late = step;
      wait.own_ns = duration;
    }
  }
  if (durations.size() < 2) return wait;
  for (Ns duration : durations) wait.total_ns += duration - wait.own_ns;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  wait.late_ns = *middle - wait.own_ns;
  return wait;
}

class Blame {
 public:
  Blame(const Steps& steps, const Peers& peers, Waiting& waiting)
      : steps_(steps), peers_(peers), waiting_(waiting) {}

  /// Follows the delay of the late rank back to the ranks whose own work was longer than usual.
  void follow(const Wait& wait) {
    constexpr int kLongest = 100;  // a chain over more collectives explains nothing
    const double per_ns = static_cast<double>(wait.total_ns) / static_cast<double>(wait.late_ns);
    double rest = static_cast<double>(wait.late_ns);
    uint32_t step = wait.late;
    for (int length = 0; length < kLongest && rest > 0; ++length) {
      const double own = std::min<double>(rest, excess_of(steps_, peers_, step).total_ns);
      waiting_.caused_ns[steps_.row[step]] += own * per_ns;
      rest -= own;
      step = before(step);
      if (step == kNone) break;
      const Wait& earlier = waiting_.waits[steps_.group[step]];
      if (earlier.late == step) continue;  // not kept waiting there: what came before it?
      rest = pass(rest, static_cast<double>(waited_ns(steps_, earlier, step)), per_ns);
      step = earlier.late;
      if (step == kNone) break;
    }
    waiting_.unexplained_ns += std::max(rest, 0.0) * per_ns;
  }

 private:
  /// What it depends on, also across the end of an iteration.
  uint32_t before(uint32_t step) const { return steps_.after[step]; }

  /// Nobody is later than he was kept waiting.
  double pass(double rest, double waited, double per_ns) {
    const double passed = std::min(rest, waited);
    waiting_.unexplained_ns += (rest - passed) * per_ns;
    return passed;
  }

  const Steps& steps_;
  const Peers& peers_;
  Waiting& waiting_;
};

}  // namespace

Waiting waiting_of(const Steps& steps, const Matching& matching, const Peers& peers) {
  Waiting result;
  result.caused_ns.resize(steps.iterations.size());
  result.waits.reserve(matching.group_count());
  for (uint32_t group = 0; group < matching.group_count(); ++group) {
    result.waits.push_back(wait_in(steps, matching.of(group)));
    result.total_ns += static_cast<double>(result.waits.back().total_ns);
  }
  Blame blame(steps, peers, result);
  for (const Wait& wait : result.waits) {
    if (wait.late_ns > 0) {
      blame.follow(wait);
    } else {
      result.unexplained_ns += static_cast<double>(wait.total_ns);
    }
  }
  return result;
}

}  // namespace streamscope::job
