// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/waiting.h"

#include <algorithm>

namespace streamscope::job {
namespace {

/// In the order of steps, which is that of memory.
std::vector<Wait> waits_of(const Steps& steps, size_t group_count) {
  std::vector<Wait> waits(group_count);
  std::vector<uint32_t> counts(group_count);
  const auto duration_of = [&](uint32_t step) { return steps.end_ns[step] - steps.start_ns[step]; };
  for (uint32_t step = 0; step < steps.count(); ++step) {
    if (!steps.ran(step)) continue;
    Wait& wait = waits[steps.group[step]];
    if (wait.late == kNone || duration_of(step) < wait.own_ns) {
      wait.late = step;
      wait.own_ns = duration_of(step);
    }
    wait.total_ns += duration_of(step);
    ++counts[steps.group[step]];
  }
  for (uint32_t group = 0; group < group_count; ++group) {
    Wait& wait = waits[group];
    wait.total_ns -= counts[group] * wait.own_ns;
    if (counts[group] > 1) wait.late_ns = wait.total_ns / (counts[group] - 1);
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
      if (earlier.late == step) continue;  // not kept waiting there: what came before it?
      rest = pass(rest, static_cast<double>(waited_ns(steps_, earlier, step)), per_ns);
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

Waiting waiting_of(const Steps& steps, const Matching& matching, const Peers& peers) {
  Waiting result;
  result.caused_ns.resize(steps.iterations.size());
  result.waits = waits_of(steps, matching.group_count());
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
