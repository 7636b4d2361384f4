// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// legacy-stream-barrier (SS205): work on the legacy default stream waits for all blocking streams
//   of its context and holds up all their later work, so independent streams run one after the
//   other. Evidence: calls, times. Found if ops of at least two blocking streams waited for this
//   barrier, and a replay in which the work orders no other stream is shorter. Known false alarm: a
//   program that relies on the barrier; it needs events instead, and gains less.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

struct Barrier {
  Id first = kNoId;  // op on the legacy stream
  WaitPart longest;  // wait for it
  Ns waited_ns = 0, last_ns = kUnknownNs;
  std::set<Id> streams, barriers;
};

}  // namespace

void find_legacy_stream_barriers(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const auto is_legacy_stream = [&](Id stream) {
    return stream < trace.stream.size() && trace.stream.kind[stream] == trace::kLegacyStream;
  };
  const auto is_legacy = [&](Id op) {
    return op < trace.op.size() && is_legacy_stream(trace.op.stream_id[op]);
  };
  // By context, kind and name of the barrier; records and waits on the legacy stream are also
  // barriers and have no op.
  std::map<Findings::Key, Barrier> barriers;
  for (const WaitPart& part : analyses.waits()) {
    if (part.cause != WaitCause::kLegacyStream || part.because_op() >= trace.op.size()) continue;
    const Id op = is_legacy(part.op)             ? part.op
                  : is_legacy(part.because_op()) ? part.because_op()
                                                 : kNoId;
    const Id stream = trace.op.stream_id[part.op];
    const Findings::Key key{trace.stream.context_id[stream],
                            op == kNoId ? kNoId : static_cast<uint64_t>(trace.op.kind[op]),
                            op == kNoId ? kNoId : trace.op.name_id[op]};
    Barrier& barrier = barriers[key];
    if (barrier.first == kNoId) barrier.first = op;
    for (Id side : {part.op, part.because_op()}) {
      if (!is_legacy(side)) barrier.streams.insert(trace.op.stream_id[side]);
    }
    if (op != kNoId) barrier.barriers.insert(op);
    trace::add_to(barrier.waited_ns, part.duration_ns);
    barrier.last_ns = std::max(barrier.last_ns, trace.op.start_ns[part.op]);
    if (part.duration_ns > barrier.longest.duration_ns) barrier.longest = part;
  }
  for (const auto& [key, barrier] : barriers) {
    if (barrier.streams.size() < 2) continue;
    Change change;
    for (Id op : barrier.barriers) change.no_barrier_op.add(op);
    if (barrier.first == kNoId) {
      for (Id record = 0; record < trace.event_record.size(); ++record) {
        if (is_legacy_stream(trace.event_record.stream_id[record]))
          change.no_barrier_record.add(record);
      }
      for (Id wait = 0; wait < trace.event_wait.size(); ++wait) {
        if (is_legacy_stream(trace.event_wait.stream_id[wait])) change.no_barrier_wait.add(wait);
      }
    }
    const Ns gain = analyses.replay().gain_ns(change);
    if (!is_worth_a_line(analyses, gain)) continue;
    findings.add(key, barrier.last_ns, [&, &barrier = barrier] {
      Finding finding;
      finding.first_op = barrier.longest.because_op();
      finding.second_op = barrier.longest.op;
      if (barrier.first != kNoId) finding.place = analyses.places().of_op(barrier.first);
      const std::string what = barrier.first == kNoId
                                   ? "an event record or wait on the default stream"
                                   : op_label(trace, barrier.first) + " on the default stream";
      finding.title = fmt::format("{} is a barrier for {}", what,
                                  format_count(barrier.streams.size(), "other stream"));
      finding.text = fmt::format(
          "{} had to wait for {}, though no event orders them; all such waits sum to {}. Put the "
          "work on its own stream, created with cudaStreamNonBlocking, and order it with events "
          "where needed.",
          op_on_stream(trace, finding.second_op), op_on_stream(trace, finding.first_op),
          format_duration(barrier.waited_ns));
      finding.count = std::max<uint64_t>(1, barrier.barriers.size());
      finding.gain_ns = gain;
      finding.repair = std::make_shared<const Change>(change);
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
