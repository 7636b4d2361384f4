// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_model.h"

#include <algorithm>

#include "analysis/usage/host_syncs.h"
#include "issued_work.h"

namespace streamscope::analysis {

IterationModel::IterationModel(Analyses& analyses, const IterationRequest& request)
    : analyses_(analyses), iterations_(find_iterations(analyses, request)) {
  if (!found()) return;
  shares_ = shares_of(analyses, iterations_);
  bare_ns_ = predicted_ns({});
  Change no_syncs;
  for (const Id sync : steady_syncs(analyses.trace(), iterations_)) no_syncs.without_sync.add(sync);
  run_ahead_ns_ = std::max<Ns>(0, bare_ns_ - predicted_ns(no_syncs));
  charge_run_ahead(shares_, run_ahead_ns_);
}

Ns IterationModel::predicted_ns(const Change& change) const {
  const std::vector<PredictedRun> runs = analyses_.replay().predict_bare(change);
  std::vector<Ns> durations;
  Ns before = kUnknownNs;
  const size_t first = iterations_.steady_from == 0 ? 0 : iterations_.steady_from - 1;
  for (size_t i = first; i < iterations_.steady_to; ++i) {
    const Id last = iterations_.all[i].last_op;
    if (last == kNoId || runs[last].end_ns == kUnknownNs) continue;
    const Ns end = std::max(before, runs[last].end_ns);
    if (before != kUnknownNs) durations.push_back(end - before);
    before = end;
  }
  return median(std::move(durations));
}

std::vector<Id> steady_syncs(const Trace& trace, const Iterations& iterations) {
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  const auto& syncs = trace.host_sync;
  std::vector<Id> found;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (is_blocking(syncs.kind[sync]) && syncs.start_ns[sync] >= from &&
        syncs.start_ns[sync] < to && syncs.end_ns[sync] != kUnknownNs &&
        trace.process_of_thread(syncs.thread_id[sync]) == iterations.process_id)
      found.push_back(sync);
  }
  return found;
}

}  // namespace streamscope::analysis
