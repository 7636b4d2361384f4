// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/waiting.h"

#include <algorithm>

namespace streamscope::job {
namespace {

/// In the order of steps, which is that of memory.
std::vector<Wait> waits_of(const Steps& steps, const Peers& peers) {
  std::vector<Wait> waits(steps.group_count);
  std::vector<uint32_t> counts(steps.group_count);
  std::vector<Ns> all_ns(steps.group_count);  // waiting that work hides included
  for (uint32_t step = 0; step < steps.count(); ++step) {
    if (!steps.ran(step)) continue;
    Wait& wait = waits[steps.group[step]];
    const Ns duration = steps.end_ns[step] - steps.start_ns[step];
    wait.own_ns = peers.own_ns[steps.group[step]];
    if (wait.late == kNone && duration == wait.own_ns) wait.late = step;
    all_ns[steps.group[step]] += duration - wait.own_ns;
    ++counts[steps.group[step]];
  }
  for (uint32_t group = 0; group < steps.group_count; ++group) {
    Wait& wait = waits[group];
    if (counts[group] > 1) wait.late_ns = all_ns[group] / (counts[group] - 1);
  }
  for (const IterationRow& row : steps.iterations) {
    for_each_exposed(steps, row, [&](uint32_t step) {
      Wait& wait = waits[steps.group[step]];
      wait.total_ns += waited_ns(steps, wait, step);
    });
  }
  return waits;
}

class Blame {
 public:
  Blame(const Steps& steps, const Peers& peers, Waiting& waiting)
      : steps_(steps), peers_(peers), waiting_(waiting) {}

  /// Follows the delay of the late rank back to the ranks whose own work was longer than usual.
  void follow(const Wait& wait) {
    constexpr int kLongest = 100;   // a chain over more collectives explains nothing
    constexpr double kRest = 0.05;  // of the delay, that is not worth following
    const double per_ns = static_cast<double>(wait.total_ns) / static_cast<double>(wait.late_ns);
    double rest = static_cast<double>(wait.late_ns);
    const double least = kRest * rest;
    uint32_t step = wait.late;
    for (int length = 0; length < kLongest && rest > least; ++length) {
      const double own = std::min(rest, static_cast<double>(excess_ns(steps_, peers_, step)));
      waiting_.caused_ns[steps_.row[step]] += own * per_ns;
      rest -= own;
      step = steps_.after[step];  // also across the end of an iteration
      if (step == kNone) break;
      const Wait& earlier = waiting_.waits[steps_.group[step]];
      // Not kept waiting there, or only for the smaller part: what came before it?
      const auto waited = static_cast<double>(waited_ns(steps_, earlier, step));
      if (earlier.late == step || waited < rest / 2) continue;
      rest = pass(rest, waited, per_ns);
      step = earlier.late;
      if (step == kNone) break;
    }
    waiting_.unexplained_ns += std::max(rest, 0.0) * per_ns;
  }

 private:
  /// A rank is late by no more than it was kept waiting.
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

Waiting waiting_of(const Steps& steps, const Peers& peers) {
  Waiting result;
  result.caused_ns.resize(steps.iterations.size());
  result.waits = waits_of(steps, peers);
  for (const Wait& wait : result.waits) result.total_ns += static_cast<double>(wait.total_ns);
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
