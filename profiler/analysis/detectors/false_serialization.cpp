// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// false-serialization (SS207): ops of two streams never run at the same time, although nothing
//   orders them, the later one was ready and the device was not full. The finding names the cause
//   if the device reports it: the hardware queue that both were given to. Otherwise the cause is
//   unknown; the finding is only possible and needs three cases. Exhausted queues are SS216. Limits
//   of occupancy and of copy engines are not the program's fault. Evidence: calls, records, times.
//   Known false alarm: limits of the device that a trace does not show.
#include <fmt/format.h>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "stalls.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kCasesNeeded = 3;  // if the cause is unknown

// True if an op of one stream ever ran at the same time as one of the other.
bool ever_overlap(const Trace& trace, const StreamOps& stream_ops, Id a, Id b) {
  const auto of_a = stream_ops.ops(a), of_b = stream_ops.ops(b);
  auto x = of_a.begin();
  auto y = of_b.begin();
  while (x != of_a.end() && y != of_b.end()) {
    const bool y_is_timed = is_timed(trace, *y);
    if (!is_timed(trace, *x) || (y_is_timed && trace.op.end_ns[*x] <= trace.op.start_ns[*y])) {
      ++x;
    } else if (!y_is_timed || trace.op.end_ns[*y] <= trace.op.start_ns[*x]) {
      ++y;
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace

void find_false_serialization(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  std::map<Findings::Key, std::vector<Stall>> pairs;
  for (const Stall& stall : find_stalls(analyses)) {
    if (stall.exhausted()) continue;
    if (analyses.before().ordered(stall.behind, stall.op)) continue;
    pairs[{trace.op.stream_id[stall.behind], trace.op.stream_id[stall.op], stall.same_channel}]
        .push_back(stall);
  }
  std::map<Findings::Key, Change> repairs;
  for (const auto& [key, stalls] : pairs) {
    const Stall& first = stalls.front();
    if (!first.same_channel && (stalls.size() < kCasesNeeded ||
                                ever_overlap(trace, analyses.stream_ops(), static_cast<Id>(key[0]),
                                             static_cast<Id>(key[1])))) {
      continue;
    }
    Ns total = 0;
    for (const Stall& stall : stalls) {
      repairs[key].prompt_op.add(stall.op);
      trace::add_to(total, stall.lasted_ns);
      findings.add(key, trace.op.start_ns[stall.op], [&, &key = key] {
        Finding finding;
        finding.first_op = stall.behind;
        finding.second_op = stall.op;
        finding.confidence = stall.same_channel ? Confidence::kCertain : Confidence::kPossible;
        finding.title =
            fmt::format("streams {} and {} run one after the other, though nothing orders them",
                        stream_label(trace, static_cast<Id>(key[0])),
                        stream_label(trace, static_cast<Id>(key[1])));
        return finding;
      });
    }
    findings.find(key)->text = fmt::format(
        "{} was ready {} before it started, and started only after {}. {} Such delays sum to {}.",
        op_on_stream(trace, first.op), format_duration(first.lasted_ns),
        op_on_stream(trace, first.behind),
        first.same_channel
            ? fmt::format("Both went through hardware queue {}: raise "
                          "CUDA_DEVICE_MAX_CONNECTIONS (up to 32), or issue runnable "
                          "work first.",
                          trace.op.channel[first.op])
            : "The trace does not show the cause.",
        format_duration(total));
  }
  set_gains(analyses, findings, repairs);
}

}  // namespace streamscope::analysis
