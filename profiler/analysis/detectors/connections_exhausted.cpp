// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// connections-exhausted (SS216): streams feed a device through a few hardware queues (8 by
//   default). A queue is blocked if its head waits for an event or for the kernel before it. With
//   connections - 1 or more streams blocked, other streams stall although nothing orders them (seen
//   on an H200 with 1 to 32 queues). If a blocked stream needs a stalled one, that is a deadlock.
//   Evidence: calls, times; the queue of each op if the device reports it, which makes the finding
//   certain. Found only if ops stalled for 20 µs or more while the device was not full. Known false
//   alarm without queue numbers: a driver that was slow for another reason at that moment.
#include <fmt/format.h>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "stalls.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

void find_exhausted_connections(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  std::map<Findings::Key, Change> repairs;
  std::map<Findings::Key, Ns> stalled;
  for (const Stall& stall : find_stalls(analyses)) {
    if (!stall.exhausted()) continue;
    const Findings::Key key{trace.device_of_stream(trace.op.stream_id[stall.op])};
    repairs[key].prompt_op.add(stall.op);
    trace::add_to(stalled[key], stall.lasted_ns);
    findings.add(key, trace.op.start_ns[stall.op], [&] {
      Finding finding;
      finding.first_op = stall.behind;
      finding.second_op = stall.op;
      finding.confidence = stall.same_channel ? Confidence::kCertain : Confidence::kSuspected;
      finding.title =
          fmt::format("{} are blocked with work behind them: all {} hardware queues are in use",
                      format_count(stall.blocked_streams, "stream"), stall.connections);
      finding.text = fmt::format(
          "{} was ready {} before it started: nothing ordered it and the device had free capacity. "
          "It started only after {}, which went through the same queues. ",
          op_on_stream(trace, stall.op), format_duration(stall.lasted_ns),
          op_on_stream(trace, stall.behind));
      return finding;
    });
  }
  set_gains(analyses, findings, repairs);
  for (const auto& [key, time] : stalled) {
    if (Finding* finding = findings.find(key)) {
      finding->text += fmt::format(
          "Such stalls sum to {}. Raise CUDA_DEVICE_MAX_CONNECTIONS (up to 32), or keep fewer "
          "streams blocked at a time.",
          format_duration(time));
    }
  }
}

}  // namespace streamscope::analysis
