// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Events and streams that do not stand for what the program assumes.
//
// record-overwritten (SS006): a thread records one event on several streams in a row and then waits
//   for it. The wait covers the last record only, so the work of the other streams is not waited
//   for and later work runs too early. Evidence: calls, exact records, the order by vector clocks.
//   Found if the thread did not wait or synchronize between the records, nothing waits for or
//   queries the earlier one, and its work is not ordered in another way before the work after the
//   wait. Ignored: events with timing, which are recorded for their times, and libcoord's own
//   records. If only the latest record is meant to count, record the event on one stream only.
// racy-binding (SS008): one thread records an event while another one waits for it or synchronizes
//   with it, in calls that overlap. Which record is meant is a matter of chance and changes from
//   run to run (on an H200, for up to all such waits). Evidence: entry and return of the calls. No
//   false alarms: the calls did overlap; a lock held around both calls would have kept them apart.
// destroyed-in-use (SS009): a stream or an event is used after it was destroyed, or one thread
//   destroys it while a call of another thread uses it. The handle may belong to another object by
//   then. Evidence: calls and the lifetimes of handles. Objects from before the recording are
//   ignored. Destroying a stream or an event with pending work is allowed.
#include <fmt/format.h>

#include <utility>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "steps.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

// Which records are used, and the waits bound to each record.
struct RecordUses {
  std::vector<bool> used;
  std::vector<std::vector<Id>> waits;  // per record
};

RecordUses uses_of_records(const Trace& trace) {
  const size_t count = trace.event_record.size();
  RecordUses uses{std::vector<bool>(count), std::vector<std::vector<Id>>(count)};
  for (Id wait = 0; wait < trace.event_wait.size(); ++wait) {
    const Id record = trace.event_wait.record_id[wait];
    if (record < count) uses.waits[record].push_back(wait);
  }
  for (const trace::Column<Id>* records : {&trace.event_wait.record_id, &trace.host_sync.record_id,
                                           &trace.event_wait_candidate.event_record_id}) {
    for (const Id record : *records) {
      if (record < count) uses.used[record] = true;
    }
  }
  return uses;
}

}  // namespace

void find_overwritten_records(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const auto& records = trace.event_record;
  const RecordUses uses = uses_of_records(trace);
  const HappensBefore& before = analyses.before();

  // A burst: records by one thread without a wait or a synchronization of that thread in between.
  std::vector<uint64_t> burst_of_thread(trace.thread.size(), 0), burst(records.size(), 0);
  std::vector<Id> last_of_event(trace.event.size(), kNoId);
  for (const Issued item : analyses.order().items()) {
    const Id id = item.id();
    if (item.kind() == Issued::kWait || item.kind() == Issued::kSync) {
      const Id thread = item.kind() == Issued::kWait ? trace.event_wait.thread_id[id]
                                                     : trace.host_sync.thread_id[id];
      if (thread < burst_of_thread.size()) ++burst_of_thread[thread];
    }
    if (item.kind() != Issued::kRecord) continue;
    const Id event = records.event_id[id], thread = records.thread_id[id];
    if (event >= last_of_event.size() || thread >= burst_of_thread.size()) continue;
    burst[id] = burst_of_thread[thread];
    const Id earlier = std::exchange(last_of_event[event], id);
    if (earlier == kNoId || uses.used[earlier] || uses.waits[id].empty() ||
        records.thread_id[earlier] != thread || burst[earlier] != burst[id] ||
        records.stream_id[earlier] == records.stream_id[id] || records.operation_id[id] != kNoId ||
        takes_time_stamp(trace, id)) {
      continue;
    }
    const Id lost_stream = records.stream_id[earlier];
    const Id lost = last_op_before(analyses, lost_stream, records.end_ns[earlier]);
    for (const Id wait : uses.waits[id]) {
      const Id stream = trace.event_wait.stream_id[wait];
      const Id next = next_op_on(analyses, stream, trace.event_wait.end_ns[wait]);
      if (stream == lost_stream || lost == kNoId || next == kNoId || before.ordered(lost, next))
        continue;
      findings.add({lost_stream, records.stream_id[id], stream, records.name_id[id]},
                   records.start_ns[id], [&] {
                     Finding finding;
                     finding.first_op = lost;
                     finding.second_op = next;
                     finding.event_record = earlier;
                     finding.event_wait = wait;
                     finding.start_ns = records.start_ns[id];
                     finding.title = fmt::format(
                         "{} is recorded on stream {} and again on stream {} before "
                         "stream {} waits for it",
                         event_label(trace, event), stream_label(trace, lost_stream),
                         stream_label(trace, records.stream_id[id]), stream_label(trace, stream));
                     finding.text = fmt::format(
                         "The wait binds only to the last record: nothing orders {} before {}. Use "
                         "one event per stream and wait for all of them.",
                         op_on_stream(trace, lost), op_on_stream(trace, next));
                     return finding;
                   });
    }
  }
}

void find_racy_bindings(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const auto& records = trace.event_record;
  std::vector<Id> candidate(trace.event_wait.size(), kNoId);  // preferably by another thread
  for (Id row = 0; row < trace.event_wait_candidate.size(); ++row) {
    const Id wait = trace.event_wait_candidate.event_wait_id[row],
             record = trace.event_wait_candidate.event_record_id[row];
    if (wait >= candidate.size() || record >= records.size()) continue;
    if (candidate[wait] == kNoId || records.thread_id[record] != trace.event_wait.thread_id[wait]) {
      candidate[wait] = record;
    }
  }
  const auto found = [&](Id event, Id thread, Id record, Id wait, Id sync, Ns at, Id name) {
    const Id other = record == kNoId ? kNoId : records.thread_id[record];
    findings.add(
        {event < trace.event.size() ? trace.event.name_id[event] : kNoId, name, thread, other}, at,
        [&] {
          Finding finding;
          finding.event_record = record;
          finding.event_wait = wait;
          finding.host_sync = sync;
          finding.start_ns = at;
          finding.title = fmt::format("{} for {} while another thread records it",
                                      printable(trace.text(name)), event_label(trace, event));
          finding.text =
              "The calls overlap, so it is up to chance whether this means the previous record or "
              "the new one. Synchronize the two threads so that the record comes first, or use one "
              "event per record.";
          return finding;
        });
  };
  const auto& waits = trace.event_wait;
  for (Id wait = 0; wait < waits.size(); ++wait) {
    if (waits.binding[wait] != trace::kAmbiguous) continue;
    found(waits.event_id[wait], waits.thread_id[wait], candidate[wait], wait, kNoId,
          waits.start_ns[wait], waits.name_id[wait]);
  }
  // A query that is repeated until it succeeds, as usual, reaches the newest record anyway.
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (syncs.binding[sync] != trace::kAmbiguous || syncs.kind[sync] != trace::kEventSynchronize)
      continue;
    found(syncs.event_id[sync], syncs.thread_id[sync], kNoId, kNoId, sync, syncs.start_ns[sync],
          syncs.name_id[sync]);
  }
}

namespace {

// Finds calls that use a stream or an event while another call destroys it, or after that.
class UsesAfterDestruction {
 public:
  UsesAfterDestruction(Analyses& analyses, Findings& findings)
      : analyses_(analyses), trace_(analyses.trace()), findings_(findings) {
    const auto& calls = trace_.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      if (calls.kind[call] == CallKind::kEventDestroy ||
          calls.kind[call] == CallKind::kStreamDestroy)
        destroyers_[{trace_.process_of_thread(calls.thread_id[call]), calls.end_ns[call]}] = call;
    }
  }

  void run() {
    const auto& calls = trace_.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      if (calls.kind[call] != CallKind::kStreamDestroy)
        look_at_stream(use_of(calls, call, &Use::call), calls.stream_id[call]);
    }
    look_at_all(trace_.event_record, &Use::record);
    look_at_all(trace_.event_wait, &Use::wait);
    look_at_all(trace_.host_sync, &Use::sync);
  }

 private:
  struct Use {
    Id thread, name;
    Ns start_ns, end_ns;
    Id record = kNoId, wait = kNoId, sync = kNoId, call = kNoId;

    Ns known_end() const { return end_ns == kUnknownNs ? start_ns : end_ns; }
  };

  template <class Rows>
  static Use use_of(const Rows& rows, Id row, Id Use::*what) {
    Use use{.thread = rows.thread_id[row],
            .name = rows.name_id[row],
            .start_ns = rows.start_ns[row],
            .end_ns = rows.end_ns[row]};
    use.*what = row;
    return use;
  }
  template <class Rows>
  void look_at_all(const Rows& rows, Id Use::*what) {
    for (Id row = 0; row < rows.size(); ++row) {
      const Use use = use_of(rows, row, what);
      look_at_stream(use, rows.stream_id[row]);
      const Id event = rows.event_id[row];
      if (event < trace_.event.size())
        look_at(use, false, event, trace_.event.created_ns[event],
                trace_.event.destroyed_ns[event]);
    }
  }
  void look_at_stream(const Use& use, Id stream) {
    if (stream < trace_.stream.size())
      look_at(use, true, stream, trace_.stream.created_ns[stream],
              trace_.stream.destroyed_ns[stream]);
  }

  void look_at(const Use& use, bool of_stream, Id object, Ns created, Ns destroyed) {
    if (created == kUnknownNs || destroyed == kUnknownNs || use.start_ns == kUnknownNs) return;
    const bool after = use.start_ns >= destroyed;
    if (!after && use.known_end() <= destroyed && !overlaps_destruction(use, destroyed)) return;
    findings_.add({of_stream, use.name, use.thread, after}, use.start_ns,
                  [&] { return describe(use, of_stream, object, destroyed); });
  }

  // For a use that returned before the destroying call did: whether the two overlapped. The
  // destroying call returned at the end of the object's life.
  bool overlaps_destruction(const Use& use, Ns destroyed) const {
    const auto& calls = trace_.api_call;
    const auto found = destroyers_.find({trace_.process_of_thread(use.thread), destroyed});
    return found != destroyers_.end() && calls.thread_id[found->second] != use.thread &&
           calls.start_ns[found->second] < use.known_end();
  }

  Finding describe(const Use& use, bool of_stream, Id object, Ns destroyed) const {
    Finding finding;
    finding.event_record = use.record;
    finding.event_wait = use.wait;
    finding.host_sync = use.sync;
    finding.start_ns = use.start_ns;
    finding.end_ns = use.known_end();
    if (use.call != kNoId) finding.place = analyses_.places().of_call(use.call);
    const std::string what =
        of_stream ? "stream " + stream_label(trace_, object) : event_label(trace_, object);
    const bool after = use.start_ns >= destroyed;
    finding.title = after ? fmt::format("{} uses {} after its destruction",
                                        printable(trace_.text(use.name)), what)
                          : fmt::format("{} is destroyed while {} of another thread uses it", what,
                                        printable(trace_.text(use.name)));
    finding.text = fmt::format(
        "{} The handle may belong to another object by then. Destroy it after the last call that "
        "uses it has returned.",
        after ? fmt::format("It was destroyed {} earlier.",
                            format_duration(trace::between(destroyed, use.start_ns)))
              : "The two calls overlap.");
    return finding;
  }

  Analyses& analyses_;
  const Trace& trace_;
  Findings& findings_;
  std::map<std::pair<Id, Ns>, Id> destroyers_;  // process and instant -> call
};

}  // namespace

void find_uses_after_destruction(Analyses& analyses, Findings& findings) {
  UsesAfterDestruction(analyses, findings).run();
}

}  // namespace streamscope::analysis
