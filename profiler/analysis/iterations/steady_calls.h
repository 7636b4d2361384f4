// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the host called in the steady part of a run, and the work that it issued.
#pragma once

#include <algorithm>
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

/// Calls `visit(op)` for the timed ops of a process that were issued in [from, to), by their start;
/// they start before `until`. After Analyses::by_start().
template <class Visit>
void each_op_issued(Analyses& analyses, Id process, Ns from, Ns to, Ns until, Visit visit) {
  const Trace& trace = analyses.trace();
  const auto start_of = [&](Id op) { return trace.op.start_ns[op]; };
  const auto& ops = analyses.by_start();
  for (auto op = std::ranges::lower_bound(ops, from, {}, start_of);
       op != ops.end() && start_of(*op) < until; ++op) {
    const Ns issued = analyses.order().issue(*op).start_ns;
    if (issued >= from && issued < to &&
        trace.process_of_stream(trace.op.stream_id[*op]) == process)
      visit(*op);
  }
}

}  // namespace streamscope::analysis
