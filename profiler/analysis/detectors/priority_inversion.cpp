// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// priority-inversion (SS212): an op of an urgent stream waits, through an event, for an op of a
//   less urgent stream, and that op was delayed by contention for the device because of its low
//   priority. Evidence: priorities of streams, records, times. The gain assumes that the op waited
//   for starts as soon as nothing orders it. Known false alarm: a device so full that a higher
//   priority would not have helped.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "stalls.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

void find_priority_inversions(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const Replay& replay = analyses.replay();
  struct Inversion {
    Change change;
    Ns delay_ns = 0, last_ns = kUnknownNs;
    Id urgent = kNoId, blocker = kNoId;
    Ns longest_ns = 0;
    std::set<Id> blockers;
  };
  std::map<Findings::Key, Inversion> inversions;
  for (const WaitPart& part : analyses.waits()) {
    if (part.cause != WaitCause::kEvent || part.because_op() >= trace.op.size()) continue;
    const Id urgent = trace.op.stream_id[part.op], other = trace.op.stream_id[part.because_op()];
    if (urgent >= trace.stream.size() || other >= trace.stream.size()) continue;
    const trace::Small mine = trace.stream.priority[urgent], theirs = trace.stream.priority[other];
    // CUDA's numbers: lower is more urgent.
    if (mine == trace::kNoSmall || theirs == trace::kNoSmall || mine >= theirs) continue;
    const Readiness& ready = replay.readiness(part.because_op());
    if (ready.ordered_ns == kUnknownNs || trace.op.kind[part.because_op()] != trace::kKernel)
      continue;
    const Ns delay =
        std::min(part.duration_ns, trace.op.start_ns[part.because_op()] - ready.ordered_ns);
    if (delay < kStallNs) continue;
    Inversion& inversion = inversions[{urgent, other}];
    inversion.change.prompt_op.add(part.because_op());
    inversion.blockers.insert(part.because_op());
    trace::add_to(inversion.delay_ns, delay);
    inversion.last_ns = std::max(inversion.last_ns, trace.op.start_ns[part.op]);
    if (delay > inversion.longest_ns) {
      inversion.longest_ns = delay;
      inversion.urgent = part.op;
      inversion.blocker = part.because_op();
    }
  }
  for (const auto& [key, inversion] : inversions) {
    const Ns gain = replay.gain_ns(inversion.change);
    if (!is_worth_a_line(analyses, gain)) continue;
    findings.add(key, inversion.last_ns, [&, &key = key, &inversion = inversion] {
      const Id urgent = static_cast<Id>(key[0]), other = static_cast<Id>(key[1]);
      Finding finding;
      finding.first_op = inversion.blocker;
      finding.second_op = inversion.urgent;
      finding.title =
          fmt::format("high-priority stream {} (priority {}) waits for stream {} (priority {})",
                      stream_label(trace, urgent), trace.stream.priority[urgent],
                      stream_label(trace, other), trace.stream.priority[other]);
      finding.text = fmt::format(
          "{} waits for {}, which was ready but waited {} behind other work; such delays sum to "
          "{}. Put what high-priority work needs on a stream of the same priority.",
          op_on_stream(trace, inversion.urgent), op_on_stream(trace, inversion.blocker),
          format_duration(inversion.longest_ns), format_duration(inversion.delay_ns));
      finding.count = inversion.blockers.size();
      finding.gain_ns = gain;
      finding.repair = std::make_shared<const Change>(inversion.change);
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
