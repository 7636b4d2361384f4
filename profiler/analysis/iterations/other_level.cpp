// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "other_level.h"

#include <algorithm>

#include "steady_range.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastOfAll = 5;  // 1/5
constexpr double kOther = 1.15;    // times the median, or less by as much

}  // namespace

std::optional<OtherLevel> find_other_level(Analyses& analyses, const IterationModel& model,
                                           const HostPace& pace) {
  const Iterations& iterations = model.iterations();
  std::vector<Ns> later;
  for (size_t i = iterations.steady_to; i < iterations.known_to; ++i)
    later.push_back(iterations.all[i].duration_ns());
  if (later.empty()) return std::nullopt;
  const auto [from, to] = steady_range(later);
  if (to - from < std::max(kFewestIterations, iterations.all.size() / kLeastOfAll))
    return std::nullopt;
  Iterations others = iterations;
  others.steady_from = iterations.steady_to + from;
  others.steady_to = iterations.steady_to + to;
  measure_steady(others);
  const double change =
      static_cast<double>(others.median_ns) / static_cast<double>(iterations.median_ns);
  if (change < kOther && change > 1 / kOther) return std::nullopt;
  return OtherLevel{
      .from = others.steady_from,
      .to = others.steady_to,
      .median_ns = others.median_ns,
      .host_slowdown = slowdown(pace, host_pace(analyses, others, model.shares().threads))};
}

}  // namespace streamscope::analysis
