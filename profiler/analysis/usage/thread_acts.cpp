// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "thread_acts.h"

#include <algorithm>

#include "../left_out.h"
#include "analysis/stream_ops.h"
#include "host_syncs.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

void Acts::sort() {
  for (auto& acts : at_) {
    if (!std::ranges::is_sorted(acts)) std::ranges::sort(acts);
  }
}

std::pair<Ns, Id> Acts::next(Id thread, Ns from) const {
  if (thread >= at_.size()) return {kUnknownNs, kNoId};
  const auto& acts = at_[thread];
  const auto found = std::ranges::lower_bound(acts, std::pair(from, Id{0}));
  return found == acts.end() ? std::pair(kUnknownNs, kNoId) : *found;
}

ThreadActs::ThreadActs(const IssueOrder& order)
    : trace(order.trace()), issues(trace.thread.size()), timings(issues), blocks(issues) {
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    if (trace.api_call.kind[call] == CallKind::kEventElapsedTime)
      timings.add(trace.api_call.thread_id[call], trace.api_call.start_ns[call]);
  }
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Issue issue = order.issue(op);
    issues.add(issue.thread_id, issue.start_ns, op);
  }
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (is_blocking_sync(trace, sync))
      blocks.add(syncs.thread_id[sync], syncs.start_ns[sync], sync);
  }
  for (Acts* acts : {&issues, &timings, &blocks}) acts->sort();
}

bool ThreadActs::may_measure_after(Id sync) const {
  const auto& syncs = trace.host_sync;
  if (syncs.kind[sync] == trace::kEventSynchronize && lacks_elapsed_times(trace) &&
      (syncs.record_id[sync] == kNoId || may_take_time_stamp(trace, syncs.record_id[sync])))
    return true;
  const Id thread = syncs.thread_id[sync];
  const Ns end = syncs.end_ns[sync];
  const Ns timing = timings.next(thread, end).first, block = blocks.next(thread, end).first;
  return timing != kUnknownNs && (block == kUnknownNs || timing < block);
}

bool ThreadActs::issues_after(Id thread, Ns end) const {
  const Ns issue = issues.next(thread, end).first, block = blocks.next(thread, end).first;
  return issue != kUnknownNs && (block == kUnknownNs || issue <= block);
}

}  // namespace streamscope::analysis
