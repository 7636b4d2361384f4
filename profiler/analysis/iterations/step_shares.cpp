// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "step_shares.h"

#include "analysis/stream_owners.h"
#include "analysis/usage/collectives.h"

namespace streamscope::analysis {

StepShares::StepShares(Analyses& analyses, Ns long_pause_ns, Id process)
    : analyses_(analyses),
      trace_(analyses.trace()),
      pauses_(analyses.host_pauses()),
      long_pause_ns_(long_pause_ns) {
  const StreamOwners owners(trace_);
  const bool have_syncs = analyses.order().has_copy_syncs();
  for (const Id op : analyses.by_start()) {
    if (owners.of_op(op) != process) continue;
    work_.add(trace_.op.start_ns[op], trace_.op.end_ns[op]);
    if (have_syncs && is_large_synchronous_copy(analyses.order(), op))
      copying_syncs_.add(analyses.order().copy_sync(op));
  }
}

bool StepShares::works_between(Ns from, Ns to) const { return work_.is_busy(from, to); }

TimeShare StepShares::share_of(HostState state) {
  switch (state) {
    case HostState::kProfiler:
      return TimeShare::kRecorder;
    case HostState::kCodeLoading:
      return TimeShare::kCodeLoading;
    case HostState::kLock:
      return TimeShare::kLock;
    case HostState::kMemory:
      return TimeShare::kMemory;
    case HostState::kCopy:
      return TimeShare::kCopies;
    case HostState::kRead:
    case HostState::kSync:
      return TimeShare::kSynchronizing;
    default:
      return TimeShare::kLaunching;
  }
}

TimeShare StepShares::share_of_sync(Id host_sync) const {
  return copying_syncs_.has(host_sync) ? TimeShare::kCopies : TimeShare::kSynchronizing;
}

Ns StepShares::copying_from(Id thread, Id op, Ns otherwise) const {
  if (op == kNoId || !is_large_synchronous_copy(analyses_.order(), op)) return otherwise;
  const Issue issue = analyses_.order().issue(op);
  return issue.thread_id == thread ? issue.start_ns : otherwise;
}

TimeShare StepShares::share_of_gap(WaitCause cause) {
  switch (cause) {
    case WaitCause::kHostFunction:
    case WaitCause::kMemoryWait:
      return TimeShare::kOtherWork;
    case WaitCause::kUnknown:
      return TimeShare::kUnknown;
    default:
      return TimeShare::kLatency;
  }
}

TimeShare StepShares::share_of_op(const Trace& trace, Id op) {
  switch (trace.op.kind[op]) {
    case trace::kMemcpy:
    case trace::kMemset:
      return TimeShare::kCopies;
    case trace::kHostFunction:
    case trace::kMemoryWait:
    case trace::kMemoryWrite:
      return TimeShare::kOtherWork;
    default:
      return is_collective(trace, op) ? TimeShare::kCollectives : TimeShare::kKernels;
  }
}

}  // namespace streamscope::analysis
