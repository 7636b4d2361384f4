// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_model.h"

#include <algorithm>

#include "graphs.h"
#include "issued_work.h"

namespace streamscope::analysis {

IterationModel::IterationModel(Analyses& analyses, const IterationRequest& request)
    : analyses_(analyses), iterations_(find_iterations(analyses, request)) {
  if (!found()) return;
  syncs_ = SteadySyncs(analyses, iterations_);
  shares_ = shares_of(analyses, iterations_, syncs_);
  bare_ns_ = predicted_ns({});
  if (!syncs_.all().empty()) {
    Change unblocked;
    for (const Id sync : syncs_.all()) syncs_.unblock(sync, unblocked);
    run_ahead_ns_ = std::max<Ns>(0, bare_ns_ - predicted_ns(unblocked));
    charge_run_ahead(shares_, run_ahead_ns_);
  }
  bound_ = find_bound();
}

TimeShare IterationModel::find_bound() const {
  const TimeShare largest = shares_.largest();
  if (largest != TimeShare::kLaunching) return largest;
  const Ns launching = shares_.total[static_cast<size_t>(TimeShare::kLaunching)] /
                       static_cast<Ns>(iterations_.steady_count());
  constexpr Ns kMuch = 3;  // a third
  if (run_ahead_ns_ * kMuch < launching) return largest;
  const Change graphs = as_graphs(analyses_, iterations_, syncs_, shares_.launch_count).change;
  return bare_ns_ - predicted_ns(graphs) < run_ahead_ns_ ? TimeShare::kSynchronizing : largest;
}

Ns IterationModel::predicted_ns(const Change& change) const {
  std::vector<Id> last_ops;
  const size_t first = iterations_.steady_from == 0 ? 0 : iterations_.steady_from - 1;
  const size_t last = std::min(iterations_.steady_to, first + kMostReplayed + 1);
  for (size_t i = first; i < last; ++i) {
    if (iterations_.all[i].last_op != kNoId) last_ops.push_back(iterations_.all[i].last_op);
  }
  std::vector<Ns> durations;
  Ns before = kUnknownNs;
  for (const Ns end : analyses_.replay().predict_ends(change, last_ops)) {
    if (end == kUnknownNs) continue;
    if (before != kUnknownNs) durations.push_back(std::max<Ns>(0, end - before));
    before = std::max(before, end);
  }
  return median(std::move(durations));
}

}  // namespace streamscope::analysis
