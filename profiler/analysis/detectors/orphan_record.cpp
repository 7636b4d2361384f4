// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// orphan-record (SS211): an event is recorded, and no wait, synchronization, query or elapsed time
//   uses that record. It costs a call of 0.2 µs; with timing 1 µs, and 3 µs on the device. Often it
//   is left over from an intended wait. Evidence: calls, exact records. Ignored: events with a wait
//   that is not bound to an exact record, captured records, events shared between processes, those
//   with a time where a profile lacks the calls that read it (nsys), and records by which libcoord
//   learns that operations have ended. If more than half of a stream's records are waited for, the
//   others are the ends of loops and are ignored: nobody needs the last record.
#include <fmt/format.h>

#include "../labels.h"
#include "../left_out.h"
#include "families.h"
#include "steps.h"

namespace streamscope::analysis {

void find_orphan_records(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const auto& records = trace.event_record;
  std::vector<bool> used(records.size()), doubtful(trace.event.size());
  const auto use = [&](Id event, trace::Small binding, Id record) {
    if (record < used.size()) {
      used[record] = true;
    } else if (binding != trace::kNeverRecorded && event < doubtful.size()) {
      doubtful[event] = true;
    }
  };
  for (Id wait = 0; wait < trace.event_wait.size(); ++wait)
    use(trace.event_wait.event_id[wait], trace.event_wait.binding[wait],
        trace.event_wait.record_id[wait]);
  for (Id sync = 0; sync < trace.host_sync.size(); ++sync)
    use(trace.host_sync.event_id[sync], trace.host_sync.binding[sync],
        trace.host_sync.record_id[sync]);
  // A recorded elapsed time contains only one of its two events: the other may be any timed event.
  const std::vector<size_t> times_read = elapsed_times_read(trace);
  const auto group = [&](Id record) {
    return Findings::Key{records.stream_id[record], records.name_id[record]};
  };
  std::map<Findings::Key, size_t> count, waited_for;
  for (const Issued item : analyses.order().items()) {
    if (item.kind() != Issued::kRecord) continue;
    ++count[group(item.id())];
    waited_for[group(item.id())] += used[item.id()];
  }
  for (const Issued item : analyses.order().items()) {
    if (item.kind() != Issued::kRecord) continue;
    const Id record = item.id(), event = records.event_id[record];
    if (used[record] || event >= trace.event.size() || doubtful[event]) continue;
    const Id process = trace.event.process_id[event];
    if (is_shared_between_processes(trace, event)) continue;
    const bool may_be_read =
        lacks_elapsed_times(trace) || (process < times_read.size() && times_read[process] > 0);
    if (may_be_read && may_take_time_stamp(trace, record)) continue;
    if (records.operation_id[record] != kNoId) continue;
    if (2 * waited_for[group(record)] > count[group(record)]) continue;
    const Id stream = records.stream_id[record];
    findings.add(group(record), records.start_ns[record], [&] {
      Finding finding;
      finding.event_record = record;
      finding.first_op = last_op_before(analyses, stream, records.end_ns[record]);
      finding.start_ns = records.start_ns[record];
      finding.end_ns = records.end_ns[record];
      finding.title = fmt::format("{} is recorded on stream {} but never used",
                                  event_label(trace, event), stream_label(trace, stream));
      finding.text =
          "No wait, synchronization, query or elapsed time uses this record. Remove it, or add the "
          "wait it was meant for.";
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
