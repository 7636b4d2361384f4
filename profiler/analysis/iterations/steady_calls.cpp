// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_calls.h"

#include "analysis/usage/host_syncs.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

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

std::vector<Id> issuing_threads(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  std::vector<bool> issues(trace.thread.size());
  each_steady_call(trace, iterations, [&](Id call) {
    if (is_launch(trace.api_call.kind[call])) issues[trace.api_call.thread_id[call]] = true;
  });
  std::vector<Id> threads;
  for (Id thread = 0; thread < issues.size(); ++thread) {
    if (issues[thread]) threads.push_back(thread);
  }
  return threads;
}

}  // namespace streamscope::analysis
