// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/overlap.h"

#include <algorithm>

namespace streamscope::job {
namespace {

/// Time in which at least one of the collectives ran. How long those in a graph do is not known.
double communication_ns(const Steps& steps, const IterationRow& row) {
  std::vector<std::pair<Ns, Ns>> spans;
  for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
    if (steps.ran(step) && steps.kind[step] != CollectiveKind::kGraph)
      spans.emplace_back(steps.start_ns[step], steps.end_ns[step]);
  }
  std::ranges::sort(spans);
  Ns total = 0, until = std::numeric_limits<Ns>::min();
  for (const auto& [start, end] : spans) {
    const Ns from = std::max(start, until);
    if (end > from) total += end - from;
    until = std::max(until, end);
  }
  return static_cast<double>(total);
}

}  // namespace

Overlap overlap_in(const Steps& steps, const Waiting& waiting, const IterationRow& row) {
  Ns exposed = 0, waited = 0, waited_in_graphs = 0;
  for_each_exposed(steps, row, [&](uint32_t step) {
    const Ns waits = waited_ns(steps, waiting.waits[steps.group[step]], step);
    if (steps.kind[step] == CollectiveKind::kGraph) {
      waited_in_graphs += waits;
      return;
    }
    exposed += steps.end_ns[step] - steps.start_ns[step];
    waited += waits;
  });
  // Work may go on beside a collective of the path, and the path may not lead through one that
  // nothing runs beside.
  if (row.alone_ns != trace::kUnknownNs) exposed = row.alone_ns;
  const auto in_graphs = static_cast<double>(waited_in_graphs);
  return {.communication_ns = communication_ns(steps, row) + in_graphs,
          .exposed_ns = static_cast<double>(exposed) + in_graphs,
          .waited_ns = static_cast<double>(std::min(waited, exposed)) + in_graphs};
}

std::vector<Overlap> overlap_of(const Steps& steps, const Waiting& waiting) {
  std::vector<Overlap> result(steps.ranks.size());
  for (const IterationRow& row : steps.iterations) {
    const double count = steps.ranks[row.rank].row_count;
    const Overlap one = overlap_in(steps, waiting, row);
    Overlap& mean = result[row.rank];
    mean.communication_ns += one.communication_ns / count;
    mean.exposed_ns += one.exposed_ns / count;
    mean.waited_ns += one.waited_ns / count;
  }
  return result;
}

}  // namespace streamscope::job
