// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the host called in the steady part of a run.
#pragma once

#include <vector>

#include "iterations.h"

namespace streamscope::analysis {

/// Threads of the process that issued work in the steady part, ascending.
std::vector<Id> issuing_threads(Analyses& analyses, const Iterations& iterations);

/// Calls `visit(call)` for the api_call rows of the steady part.
template <class Visit>
void each_steady_call(const Trace& trace, const Iterations& iterations, Visit visit) {
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    const Ns start = trace.api_call.start_ns[call];
    if (start >= from && start < to &&
        trace.process_of_thread(trace.api_call.thread_id[call]) == iterations.process_id)
      visit(call);
  }
}

}  // namespace streamscope::analysis
