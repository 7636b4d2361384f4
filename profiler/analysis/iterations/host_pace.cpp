// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_pace.h"

#include <algorithm>
#include <vector>

#include "issued_work.h"
#include "steady_calls.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kFewest = 50;     // of which a median says something
constexpr size_t kMost = 1 << 18;  // more do not improve it
constexpr double kMuch = 1.15;     // more than runs on one machine differ

Ns median_of_many(std::vector<Ns> durations) {
  return durations.size() < kFewest ? 0 : median(std::move(durations));
}

}  // namespace

HostPace host_pace(Analyses& analyses, const Iterations& iterations,
                   const std::vector<Id>& threads) {
  const Trace& trace = analyses.trace();
  std::vector<Ns> launches, between;
  each_steady_call(trace, iterations, [&](Id call) {
    const Ns end = trace.api_call.end_ns[call];
    if (trace.api_call.kind[call] == static_cast<trace::Small>(CallKind::kLaunch) &&
        end != kUnknownNs && launches.size() < kMost)
      launches.push_back(end - trace.api_call.start_ns[call]);
  });
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  for (const Id thread : threads) {
    analyses.host_time().each_pause(thread, 1, [&](Ns start, Ns end) {
      if (start >= from && end < to && end - start < kLeastPauseNs && between.size() < kMost)
        between.push_back(end - start);
    });
  }
  return {.launch_ns = median_of_many(std::move(launches)),
          .between_ns = median_of_many(std::move(between))};
}

double slowdown(const HostPace& base, const HostPace& now) {
  if (!base.is_known() || !now.is_known()) return 1;
  const auto factor = [](Ns before, Ns after) {
    return static_cast<double>(after) / static_cast<double>(before);
  };
  const auto [less, more] =
      std::minmax({factor(base.launch_ns, now.launch_ns), factor(base.between_ns, now.between_ns)});
  if (less > kMuch) return less;
  return more < 1 / kMuch ? more : 1;
}

}  // namespace streamscope::analysis
