// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_calls.h"

#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

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
