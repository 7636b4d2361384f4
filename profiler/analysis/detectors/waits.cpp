// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream waits that do nothing.
//
// redundant-wait (SS201): everything that the record stands for is ordered before the stream's next
//   op without the wait: through the same stream, an earlier wait, the legacy stream or a
//   synchronization of the issuing thread. The wait costs a call (0.2 µs and more), hides the order
//   that matters and occupies a hardware queue. Evidence: calls, exact records. No false alarms
//   under the guaranteed relation; a wait may still be needed on a path that this run did not take.
//   Waits of NCCL in its own calls, by its NVTX ranges, are not reported.
// wait-on-unrecorded (SS005): CUDA treats an event that nobody recorded as done. A wait for it, a
//   synchronization or a query does nothing, so the intended order does not exist. Waits and
//   synchronizations are reported. Evidence: calls, the history of events. A program may rely on
//   this in a first iteration, such as the first round of a ring of buffers. Then the event is
//   recorded later, or, if the round did not finish, other events that the thread waits for with
//   the same function are (as in cuBLASXt). The finding says so and is only suspected. Events
//   that are shared between processes are not reported, because another process may have recorded
//   them; nor are those that NCCL waits for in its own calls, by its NVTX ranges.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../labels.h"
#include "families.h"
#include "steps.h"

namespace streamscope::analysis {
namespace {

class CallsOfNccl {
 public:
  explicit CallsOfNccl(const Trace& trace) {
    const auto& ranges = trace.range;
    for (Id range = 0; range < ranges.size(); ++range) {
      if (ranges.kind[range] != trace::kPushPop || ranges.start_ns[range] == kUnknownNs ||
          trace.text(ranges.domain_id[range]) != "NCCL")
        continue;
      const Ns end = ranges.end_ns[range] == kUnknownNs ? std::numeric_limits<Ns>::max()
                                                        : ranges.end_ns[range];
      Ns& known = by_thread_[ranges.thread_id[range]][ranges.start_ns[range]];
      known = std::max(known, end);
    }
    for (auto& [thread, spans] : by_thread_) {
      Ns end = std::numeric_limits<Ns>::min();  // of all before
      for (auto& [start, own_end] : spans) own_end = end = std::max(end, own_end);
    }
  }
  /// True if NCCL made a call of this thread at this time.
  bool contain(Id thread, Ns at) const {
    const auto spans = by_thread_.find(thread);
    if (spans == by_thread_.end()) return false;
    const auto next = spans->second.upper_bound(at);
    return next != spans->second.begin() && std::prev(next)->second >= at;
  }

 private:
  std::map<Id, std::map<Ns, Ns>> by_thread_;  // start and end; one in another has the outer end
};

}  // namespace

void find_redundant_waits(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const HappensBefore& before = analyses.before();
  const auto& waits = trace.event_wait;
  const CallsOfNccl nccl(trace);
  std::map<Findings::Key, Change> repairs;
  for (Id wait = 0; wait < waits.size(); ++wait) {
    if (!before.is_redundant_wait(wait) ||
        nccl.contain(waits.thread_id[wait], waits.start_ns[wait]))
      continue;
    const Id record = waits.record_id[wait], stream = waits.stream_id[wait];
    const Id recorded_on = trace.event_record.stream_id[record];
    const bool own = recorded_on == stream;
    const Findings::Key key{stream, recorded_on, own, waits.name_id[wait]};
    repairs[key].without_wait.add(wait);
    findings.add(key, waits.start_ns[wait], [&] {
      Finding finding;
      finding.event_wait = wait;
      finding.event_record = record;
      finding.first_op = last_op_before(analyses, recorded_on, trace.event_record.end_ns[record]);
      finding.second_op = next_op_on(analyses, stream, waits.end_ns[wait]);
      finding.title =
          own ? fmt::format("stream {} waits for its own event", stream_label(trace, stream))
              : fmt::format("stream {} waits for stream {} unnecessarily",
                            stream_label(trace, stream), stream_label(trace, recorded_on));
      bool through_host = false;
      std::string why = "All work before the record was already ordered.";
      if (own) {
        why = "A stream runs its work in order; it does not need to wait for itself.";
      } else if (finding.first_op != kNoId && finding.second_op != kNoId) {
        const auto path = before.path(finding.first_op, finding.second_op);
        through_host = std::any_of(path.begin(), path.end(),
                                   [](const Hop& hop) { return hop.kind == trace::kHostEdge; });
        if (!path.empty())
          why = fmt::format("{} comes before {} anyway, through {}.",
                            op_label(trace, finding.first_op), op_label(trace, finding.second_op),
                            describe(trace, path));
      }
      finding.text =
          why + (through_host ? " Remove the wait, unless you remove that synchronization."
                              : " Remove the wait.");
      return finding;
    });
  }
  set_gains(analyses, findings, repairs);
}

void find_waits_on_unrecorded(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  std::vector<Ns> first_recorded(trace.event.size(), kUnknownNs);
  for (Id record = 0; record < trace.event_record.size(); ++record) {
    const Id event = trace.event_record.event_id[record];
    if (event >= first_recorded.size()) continue;
    const Ns at = trace.event_record.end_ns[record];
    if (first_recorded[event] == kUnknownNs || at < first_recorded[event])
      first_recorded[event] = at;
  }
  struct Unrecorded {
    Id event, thread, name, stream;
    Ns at;
    Id wait, sync;
    bool recorded_later = false;
  };
  std::vector<Unrecorded> found;
  std::set<std::pair<Id, Id>> first_rounds;  // thread and function
  const CallsOfNccl nccl(trace);
  const auto add = [&](Unrecorded call) {
    if (is_shared_between_processes(trace, call.event) || nccl.contain(call.thread, call.at))
      return;
    call.recorded_later = call.event < first_recorded.size() &&
                          first_recorded[call.event] != kUnknownNs &&
                          first_recorded[call.event] > call.at;
    if (call.recorded_later) first_rounds.emplace(call.thread, call.name);
    found.push_back(call);
  };
  const auto& waits = trace.event_wait;
  for (Id wait = 0; wait < waits.size(); ++wait) {
    if (waits.binding[wait] != trace::kNeverRecorded) continue;
    add({waits.event_id[wait], waits.thread_id[wait], waits.name_id[wait], waits.stream_id[wait],
         waits.end_ns[wait], wait, kNoId});
  }
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (syncs.kind[sync] != trace::kEventSynchronize ||
        syncs.binding[sync] != trace::kNeverRecorded) {
      continue;
    }
    add({syncs.event_id[sync], syncs.thread_id[sync], syncs.name_id[sync], kNoId,
         syncs.end_ns[sync], kNoId, sync});
  }
  for (const Unrecorded& call : found) {
    const bool in_first_round = first_rounds.contains({call.thread, call.name});
    // One place in the program: similar calls on a stream, with any event of a pool.
    findings.add({call.stream, call.name, call.recorded_later, in_first_round}, call.at, [&] {
      const std::string what = event_label(trace, call.event);
      Finding finding;
      finding.event_wait = call.wait;
      finding.host_sync = call.sync;
      if (call.wait != kNoId) {
        finding.second_op = next_op_on(analyses, call.stream, call.at);
        finding.title = fmt::format("stream {} waits for {}, which has not been recorded",
                                    stream_label(trace, call.stream), what);
      } else {
        finding.title = fmt::format("the host waits for {}, which has not been recorded", what);
      }
      finding.text = "CUDA treats such an event as complete: the call does nothing. ";
      if (in_first_round) {
        finding.confidence = Confidence::kSuspected;
        finding.text += fmt::format(
            "{} recorded later, so this may be intended in a first iteration. Otherwise record it "
            "before waiting for it.",
            call.recorded_later ? "The event is"
                                : "Other events that the thread waits for with this function are");
      } else {
        finding.text += "Record the event before waiting for it, or remove the call.";
      }
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
