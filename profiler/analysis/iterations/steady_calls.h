// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the host called in the steady part of a run.
#pragma once

#include <vector>

#include "iterations.h"

namespace streamscope::analysis {

/// Calls `visit(call)` for the api_call rows of the steady part.
template <class Visit>
void each_steady_call(const Trace& trace, const Iterations& iterations, Visit visit) {
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  std::vector<bool> is_own;
  for (Id thread = 0; thread < trace.thread.size(); ++thread)
    is_own.push_back(trace.process_of_thread(thread) == iterations.process_id);
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    const Ns start = trace.api_call.start_ns[call];
    if (start < from || start >= to) continue;
    const Id thread = trace.api_call.thread_id[call];
    if (thread < is_own.size() && is_own[thread]) visit(call);
  }
}

}  // namespace streamscope::analysis
