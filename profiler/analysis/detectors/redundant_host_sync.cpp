// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// redundant-host-sync (SS202): a thread synchronizes with work that it already knew to be done,
//   from an earlier synchronization of its own and with nothing issued since. The call costs 0.3 µs
//   or more and hides the synchronization that matters. Evidence: calls, exact records. Ignored:
//   synchronizations before any work, those after which the thread issues nothing, those whose
//   stream is unknown, and waits for a record whose time the program may read. No false alarms
//   under the guaranteed relation; a call may still be needed on a path that this run did not take.
#include <fmt/format.h>

#include <algorithm>

#include "../labels.h"
#include "../units.h"
#include "analysis/usage/host_syncs.h"
#include "families.h"
#include "steps.h"

namespace streamscope::analysis {
namespace {

// The latest earlier call of the thread from which it can have known.
Id sync_before(const Trace& trace, Id sync) {
  const auto& syncs = trace.host_sync;
  Id newest = kNoId;
  for (Id other = 0; other < syncs.size(); ++other) {
    if (syncs.thread_id[other] != syncs.thread_id[sync] || syncs.end_ns[other] == kUnknownNs ||
        syncs.end_ns[other] > syncs.start_ns[sync] || syncs.result[other] > 0) {
      continue;
    }
    if (newest == kNoId || syncs.end_ns[other] > syncs.end_ns[newest]) newest = other;
  }
  return newest;
}

// An imported file may not say which stream or record a call waits for.
bool is_target_known(const Trace& trace, Id sync) {
  const auto& syncs = trace.host_sync;
  switch (syncs.kind[sync]) {
    case trace::kStreamSynchronize:
      return syncs.stream_id[sync] != kNoId;
    case trace::kEventSynchronize:
      return syncs.binding[sync] == trace::kBindingExact;
    default:
      return true;
  }
}

// cudaEventElapsedTime() needs records that are complete: whoever reads a time waits for the record
// itself, although the work before it is done.
bool may_wait_to_read_a_time(Analyses& analyses, Id sync) {
  const Trace& trace = analyses.trace();
  const auto& syncs = trace.host_sync;
  const Id record = syncs.record_id[sync];
  if (syncs.kind[sync] != trace::kEventSynchronize || !may_take_time_stamp(trace, record))
    return false;
  // If the thread blocked since, the record has been complete since then.
  const ThreadActs& acts = analyses.thread_acts();
  const Ns block = acts.blocks.next(syncs.thread_id[sync], trace.event_record.end_ns[record]).first;
  return (block == kUnknownNs || block >= syncs.start_ns[sync]) && acts.may_measure_after(sync);
}

}  // namespace

void find_redundant_host_syncs(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const HappensBefore& before = analyses.before();
  const auto& syncs = trace.host_sync;
  std::vector<Ns> first_work(trace.process.size(), kUnknownNs);
  std::vector<Ns> last_issue(trace.thread.size(), kUnknownNs);  // kUnknownNs is before all times
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id process = trace.process_of_stream(trace.op.stream_id[op]);
    const Issue issue = analyses.order().issue(op);
    const Ns at = issue.start_ns;
    if (issue.thread_id < last_issue.size())
      last_issue[issue.thread_id] = std::max(last_issue[issue.thread_id], at);
    if (process >= first_work.size() || at == kUnknownNs) continue;
    if (first_work[process] == kUnknownNs || at < first_work[process]) first_work[process] = at;
  }
  std::map<Findings::Key, Change> repairs;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (!is_blocking_sync(trace, sync) || !before.is_redundant_sync(sync)) continue;
    if (!is_target_known(trace, sync) || may_wait_to_read_a_time(analyses, sync)) continue;
    const Id process = trace.process_of_thread(syncs.thread_id[sync]);
    if (process >= first_work.size() || first_work[process] == kUnknownNs ||
        first_work[process] > syncs.start_ns[sync]) {
      continue;
    }
    // A final synchronization before the end is harmless.
    if (last_issue[syncs.thread_id[sync]] < syncs.end_ns[sync]) continue;
    const Findings::Key key{syncs.thread_id[sync], syncs.name_id[sync], syncs.stack_id[sync]};
    repairs[key].without_sync.add(sync);
    findings.add(key, syncs.start_ns[sync], [&] {
      Finding finding;
      finding.host_sync = sync;
      finding.event_record = syncs.record_id[sync];
      finding.title = fmt::format("{} waits for work that the host already knew to be done",
                                  sync_name(trace, sync));
      const Id known = sync_before(trace, sync);
      finding.text = known == kNoId
                         ? "No work was issued that it could wait for. Remove the call."
                         : fmt::format(
                               "{} returned {} earlier, and no work that this call covers was "
                               "issued since. Remove the call.",
                               sync_name(trace, known),
                               format_duration(syncs.start_ns[sync] - syncs.end_ns[known]));
      return finding;
    });
  }
  set_gains(analyses, findings, repairs);
}

}  // namespace streamscope::analysis
