// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issued_work.h"

#include <utility>

#include "trace/ns_math.h"

namespace streamscope::analysis {

IssuedWork::IssuedWork(Analyses& analyses) : trace(analyses.trace()), groups(trace) {
  std::vector<std::vector<IssuedOp>> processes(trace.process.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id owner = trace.process_of_stream(trace.op.stream_id[op]);
    if (!is_timed(trace, op) || owner >= processes.size()) continue;
    const Ns start = trace.op.start_ns[op], issued = analyses.order().issue(op).start_ns;
    processes[owner].push_back({issued == kUnknownNs ? start : issued, start,
                                trace.op.end_ns[op] - start, groups.of(op), op});
  }
  Ns most = -1;
  for (Id owner = 0; owner < processes.size(); ++owner) {
    Ns sum = 0;
    for (const IssuedOp& op : processes[owner]) trace::add_to(sum, op.duration_ns);
    if (sum <= most) continue;
    most = sum;
    process = owner;
  }
  if (process >= processes.size()) return;
  ops = std::move(processes[process]);
  device_ns = most;
  // Ops of one call, such as the nodes of a graph, share one issue time and are unordered.
  std::ranges::stable_sort(ops, {},
                           [](const IssuedOp& op) { return std::pair(op.issued_ns, op.work); });
}

size_t IssuedWork::first_issued(Ns at) const {
  const auto op = std::ranges::lower_bound(ops, at, {}, &IssuedOp::issued_ns);
  return static_cast<size_t>(op - ops.begin());
}

}  // namespace streamscope::analysis
