// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "per_iteration.h"

#include <algorithm>

#include "analysis/iterations/issued_work.h"
#include "analysis/iterations/iteration_series.h"
#include "labels.h"
#include "trace/ns_math.h"

namespace streamscope::viewer {

std::string spread_text(const PerIteration& each) {
  const Ns spread = distance_ns(each.low_ns, each.high_ns) / 2;
  return spread > 0 ? "\u00b1\u00a0" + format_duration(spread) : "";
}

bool IterationSums::add(const analysis::Iterations& iterations, Ns at, Ns duration_ns) {
  if (!iterations.found()) return false;
  const auto end_of = [](const analysis::Iteration& each) { return each.end_ns; };
  const auto found = std::ranges::upper_bound(iterations.all, at, {}, end_of);
  const auto index = static_cast<size_t>(found - iterations.all.begin());
  if (index < iterations.steady_from || index >= iterations.steady_to || at < found->start_ns)
    return false;
  parts_.emplace_back(static_cast<uint32_t>(index), duration_ns);
  return true;
}

PerIteration IterationSums::over(const analysis::Iterations& iterations) const {
  const size_t count = iterations.found() ? iterations.steady_count() : 0;
  if (count == 0) return {};
  std::vector<Ns> sums(count);
  std::vector<uint64_t> counts(count);
  for (const auto& [iteration, duration_ns] : parts_) {
    const size_t index = iteration - iterations.steady_from;
    trace::add_to(sums[index], duration_ns);
    ++counts[index];
  }
  const Ns most = std::ranges::max(sums);
  const analysis::Quartiles usual = analysis::quartiles_of(std::move(sums));
  return {.low_ns = usual.low_ns,
          .median_ns = usual.median_ns,
          .high_ns = usual.high_ns,
          .most_ns = most,
          .count = analysis::median(std::move(counts))};
}

}  // namespace streamscope::viewer
