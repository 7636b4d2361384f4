// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// copy-not-overlapped (SS306): in each iteration copies between host and device are on the critical
//   path, and less than half of what could run at the same time as kernels does: the next batch is
//   copied only when it is needed. Evidence: calls, records, times. Copies from or to pageable
//   memory are left to pageable-copy, values that the host waits for to sync-in-iteration. The gain
//   comes from a replay in which these copies take no time; an iteration takes at least as long as
//   all its copies of one direction.
#include <fmt/format.h>

#include "../busy_times.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::analysis {
namespace {

bool is_pinned_copy(const Trace& trace, Id op) {
  if (trace.op.kind[op] != trace::kMemcpy) return false;
  const trace::Small kinds = trace.op.memory_kinds[op];
  if (trace.op.detail[op] == CopyKind::kHostToDevice)
    return kinds == trace::kNoSmall || source_of(kinds) != MemoryKind::kPageable;
  if (trace.op.detail[op] == CopyKind::kDeviceToHost)
    return kinds == trace::kNoSmall || destination_of(kinds) != MemoryKind::kPageable;
  return false;
}

// When any kernel ran.
BusyTimes kernel_times(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  BusyTimes times;
  for (const Id op : analyses.by_start()) {
    if (trace.op.kind[op] == trace::kKernel) times.add(trace.op.start_ns[op], trace.op.end_ns[op]);
  }
  return times;
}

// Copies of values that the host waits for in the steady part.
Marks value_reads(const SteadySyncs& syncs) {
  Marks ops;
  for (const Id sync : syncs.all()) {
    if (const Id op = syncs.read_by(sync); op != kNoId) ops.add(op);
  }
  return ops;
}

}  // namespace

void find_copies_not_overlapped(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kCopies) < 0.01) return;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  struct Group {
    Id first = kNoId;
    Ns total_ns = 0, hidden_ns = 0, last_ns = kUnknownNs;
    trace::Int bytes = 0;
    size_t count = 0;
    Change change;
  };
  const BusyTimes kernels = kernel_times(analyses);
  const Marks reads = value_reads(model.syncs());
  const Ns kernel_ns = kernels.busy_ns(iterations.steady_start_ns(), iterations.steady_end_ns());
  std::map<std::pair<trace::Small, Id>, Group> groups;  // by direction and stream
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_timed(trace, op) || trace.op.start_ns[op] < iterations.steady_start_ns() ||
        trace.op.end_ns[op] > iterations.steady_end_ns() || !is_pinned_copy(trace, op) ||
        reads.has(op) || trace.process_of_stream(trace.op.stream_id[op]) != iterations.process_id) {
      continue;
    }
    Group& group = groups[{trace.op.detail[op], trace.op.stream_id[op]}];
    if (group.count++ == 0) group.first = op;
    const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
    trace::add_to(group.total_ns, end - start);
    trace::add_to(group.hidden_ns, kernels.busy_ns(start, end));
    if (trace.op.bytes[op] != trace::kNoInt) trace::add_to(group.bytes, trace.op.bytes[op]);
    group.last_ns = trace.op.start_ns[op];
    group.change.length_ns[op] = 0;
  }
  for (const auto& [key, group] : groups) {
    if (group.count * 2 < iterations.steady_count() ||
        group.hidden_ns * 2 > std::min(group.total_ns, kernel_ns)) {
      continue;
    }
    const auto count = static_cast<Ns>(iterations.steady_count());
    Finding finding;
    if (!set_iteration_gain(model, group.change, group.total_ns / count, finding)) continue;
    const bool to_device = key.first == CopyKind::kHostToDevice;
    finding.first_op = group.first;
    finding.title = fmt::format("copies {}{} in each iteration delay it",
                                to_device ? "to the device" : "to the host",
                                group.bytes > 0 ? " of " + format_bytes(group.bytes / count) : "");
    finding.text = fmt::format(
        "They take {} on stream {}. Copy into a second buffer on a stream of its own while the "
        "kernels {}, and order both with events.",
        format_duration(group.total_ns / count), stream_label(trace, key.second),
        to_device ? "work on the first" : "fill the first");
    finding.count = group.count;
    findings.add({static_cast<uint64_t>(key.first), key.second}, group.last_ns,
                 [&] { return finding; });
  }
}

}  // namespace streamscope::analysis
