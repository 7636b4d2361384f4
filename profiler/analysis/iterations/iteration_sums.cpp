// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_sums.h"

#include <algorithm>
#include <future>

#include "iterations.h"
#include "vocabulary/threads.h"

namespace streamscope::analysis {
namespace {

// The ops of each stream: when it was busy, and how many of which kind there were.
void add_ops(Analyses& analyses, IterationSlots slots, std::vector<StreamSums>& streams) {
  const Trace& trace = analyses.trace();
  std::vector<Ns> busy_until(streams.size(), kUnknownNs);
  analyses.stream_ops().each_in_order(trace, [&](Id stream, Id op) {
    StreamSums& sums = streams[stream];
    const trace::Small kind = trace.op.kind[op];
    const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
    if (slots.count() == 1 || (is_timed(start, end) && slots.is_steady(start))) {
      ++(kind == trace::kKernel   ? sums.steady.kernels
         : kind == trace::kMemcpy ? sums.steady.copies
                                  : sums.steady.others);
    }
    if (!is_timed(start, end) || kind == trace::kMemoryWait) return;
    slots.cut(std::max(start, busy_until[stream]), end,
              [&](uint32_t slot, Ns time) { sums.busy.add(slot, time); });
    busy_until[stream] = std::max(busy_until[stream], end);
  });
}

// The gaps between the ops of each stream. The parts of one are neighbors and end at its op.
void add_waits(Analyses& analyses, IterationSlots slots, std::vector<StreamSums>& streams) {
  const Trace& trace = analyses.trace();
  const std::vector<WaitPart>& parts = analyses.waits();
  for (size_t first = 0; first < parts.size();) {
    const Id op = parts[first].op, stream = trace.op.stream_id[op];
    size_t end = first;
    Ns at = trace.op.start_ns[op];
    for (; end < parts.size() && parts[end].op == op; ++end) at -= parts[end].duration_ns;
    // The gap before the first op of a stream is not idle time: the stream had not started.
    const bool has_started =
        trace.op.start_ns[op] > analyses.stream_ops().activity(stream).first_start_ns;
    for (; first < end; ++first) {
      const Ns from = at;
      at += parts[first].duration_ns;
      if (!has_started) continue;
      IterationSeries& series = streams[stream].waiting[static_cast<size_t>(parts[first].cause)];
      slots.cut(from, at, [&](uint32_t slot, Ns time) { series.add(slot, time); });
    }
  }
}

// Records and waits, in the iteration in which the host issued them.
void add_events(const Trace& trace, IterationSlots slots, std::vector<StreamSums>& streams) {
  const auto is_counted = [&](Ns at) { return slots.count() == 1 || slots.is_steady(at); };
  for (Id record = 0; record < trace.event_record.size(); ++record) {
    const Id stream = trace.event_record.stream_id[record];
    if (stream < streams.size() && is_counted(trace.event_record.start_ns[record]))
      ++streams[stream].steady.records;
  }
  for (Id wait = 0; wait < trace.event_wait.size(); ++wait) {
    const Id stream = trace.event_wait.stream_id[wait];
    if (stream < streams.size() && is_counted(trace.event_wait.start_ns[wait]))
      ++streams[stream].steady.waits;
  }
}

PathShare share_of(const Trace& trace, const PathStep& step) {
  switch (step.kind) {
    case trace::kHostSyncStep:
      return PathShare::kHostSync;
    case trace::kLaunchStep:
      return PathShare::kLaunching;
    case trace::kGapStep:
      return PathShare::kGaps;
    case trace::kOpStep:
      break;
  }
  switch (trace.op.kind[step.op]) {
    case trace::kKernel:
      return PathShare::kKernels;
    case trace::kMemcpy:
    case trace::kMemset:
      return PathShare::kCopies;
    default:
      return PathShare::kOtherOps;
  }
}

}  // namespace

const PathShareNames& names_of(PathShare share) {
  static constexpr std::array<PathShareNames, kPathShareCount> kNames = {{
      {"kernel", "kernels"},
      {"copy", "copies"},
      {"other_op", "other ops"},
      {"launch", "launching"},
      {"host_sync", "host synchronization"},
      {"gap", "gaps between ops"},
  }};
  return kNames[static_cast<size_t>(share)];
}

Ns PathSums::total_ns() const {
  Ns total = 0;
  for (const IterationSeries& series : shares) trace::add_to(total, series.total_ns());
  return total;
}

PathSums sum_path(const Trace& trace, const std::vector<PathStep>& path, IterationSlots slots) {
  PathSums sums;
  for (const PathStep& step : path) {
    IterationSeries& series = sums.shares[static_cast<size_t>(share_of(trace, step))];
    slots.cut(step.start_ns, step.end_ns, [&](uint32_t slot, Ns time) { series.add(slot, time); });
  }
  return sums;
}

IterationSums iteration_sums(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  const IterationSlots device = IterationSlots::of_device(iterations);
  IterationSums sums;
  sums.streams.resize(trace.stream.size());
  std::future<void> others = run_beside(
      [&] {
        sums.devices = overlap(trace, analyses.by_start(), device);
        sums.path = sum_path(trace, analyses.path(), device);
      },
      worth_threads(trace));
  add_ops(analyses, device, sums.streams);
  add_waits(analyses, device, sums.streams);
  add_events(trace, IterationSlots::of_host(iterations), sums.streams);
  sums.waits = group_waits(trace, analyses.edges(), analyses.waits(), device);
  others.get();
  return sums;
}

}  // namespace streamscope::analysis
