// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "waits.h"

#include <algorithm>
#include <functional>
#include <map>

namespace streamscope::viewer {

using analysis::WaitPart;

std::vector<SteadyWaits> steady_waits(const trace::Trace& trace, const analysis::Edges& edges,
                                      const std::vector<WaitPart>& parts,
                                      const analysis::Iterations& iterations) {
  if (!iterations.found()) return {};
  std::vector<WaitPart> steady;
  std::map<analysis::WaitKey, IterationSums> sums;
  for (const WaitPart& part : parts) {
    if (analysis::is_wait(part) && sums[analysis::key_of(trace, edges, part)].add(
                                       iterations, trace.op.start_ns[part.op], part.duration_ns))
      steady.push_back(part);
  }
  std::vector<SteadyWaits> result;
  for (analysis::WaitGroup& group : analysis::group_waits(trace, edges, steady)) {
    const PerIteration each = sums[analysis::key_of(trace, edges, group.longest)].over(iterations);
    if (each.median_ns > 0) result.push_back({std::move(group), each});
  }
  std::ranges::stable_sort(result, std::greater{},
                           [](const SteadyWaits& waits) { return waits.each.median_ns; });
  return result;
}

void Waits::push(const WaitPart& part) {
  op_.push(part.op);
  cause_.push(static_cast<trace::Small>(part.cause));
  duration_ns_.push(part.duration_ns);
  edge_.push(part.edge);
  because_.push(part.because);
}

void Waits::finish() {
  for (auto* column : {&op_, &edge_, &because_}) column->finish();
  cause_.finish();
  duration_ns_.finish();
}

WaitPart Waits::operator[](size_t index) const {
  return {.duration_ns = duration_ns_[index],
          .op = op_[index],
          .cause = static_cast<streamscope::WaitCause>(cause_[index]),
          .edge = edge_[index],
          .because = because_[index]};
}

std::vector<WaitPart> Waits::of(trace::Id op) const {
  std::vector<WaitPart> parts;
  const auto first = std::ranges::lower_bound(op_, op);
  for (auto i = static_cast<size_t>(first - op_.begin()); i < size() && op_[i] == op; ++i)
    parts.push_back((*this)[i]);
  return parts;
}

std::vector<WaitPart> Waits::longest(size_t count, std::optional<TimeRange> range) const {
  std::vector<std::pair<Ns, size_t>> waits;
  for (size_t i = 0; i < size(); ++i) {
    const WaitPart part = (*this)[i];
    if (!analysis::is_wait(part) || part.duration_ns <= 0) continue;
    const Ns start = trace_.op.start_ns[part.op];
    if (!range || (start >= range->begin_ns && start < range->end_ns))
      waits.emplace_back(-part.duration_ns, i);
  }
  count = std::min(count, waits.size());
  std::ranges::partial_sort(waits, waits.begin() + static_cast<ptrdiff_t>(count));
  std::vector<WaitPart> result;
  for (size_t i = 0; i < count; ++i) result.push_back((*this)[waits[i].second]);
  return result;
}

}  // namespace streamscope::viewer
