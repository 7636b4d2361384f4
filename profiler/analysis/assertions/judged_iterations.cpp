// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "judged_iterations.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/iterations/issued_work.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/iterations/marked_ranges.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "analysis/usage/host_syncs.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

JudgedIterations::JudgedIterations(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  const IterationRequest& request = analyses.iteration_request();
  if (request.off) return;
  requested_ = request.source != IterationSource::kNone;
  if (request.source == IterationSource::kRange) {
    from_ranges(trace, request.range, kNoId);
    if (!found()) {
      why_not_ =
          fmt::format("the trace has no NVTX range \"{}\" that ended", printable(request.range));
      return;
    }
  } else {
    const Iterations& iterations = analyses.iteration_model().iterations();
    if (!iterations.found()) {
      why_not_ =
          "no iterations were found; mark them with an NVTX range and add --iteration "
          "nvtx:NAME";
      return;
    }
    process_ = iterations.process_id;
    if (iterations.source == IterationSource::kRange) {
      from_ranges(trace, iterations.name, process_);
    } else {
      for (const Iteration& iteration : iterations.all) begins_.push_back(iteration.issued_ns);
      // Nothing marks where the last one ends.
      end_ns_ = begins_.back();
      begins_.pop_back();
    }
  }
  leave_out_start_up(analyses);
}

// Those of the thread that has most of them.
void JudgedIterations::from_ranges(const Trace& trace, const std::string& name, Id process) {
  for (const auto& [thread, spans] : ranges_named(trace, name, Unended::kLeftOut)) {
    const Id owner = trace.process_of_thread(thread);
    if ((process != kNoId && owner != process) || spans.size() <= begins_.size()) continue;
    begins_.clear();
    for (const auto& [start, end] : spans) begins_.push_back(start);
    end_ns_ = spans.back().second;
    process_ = owner;
  }
}

std::optional<size_t> JudgedIterations::index_of(Ns host_ns) const {
  if (host_ns == kUnknownNs || host_ns >= end_ns_) return std::nullopt;
  const auto next = std::ranges::upper_bound(begins_, host_ns);
  if (next == begins_.begin()) return std::nullopt;
  return static_cast<size_t>(next - begins_.begin()) - 1;
}

std::optional<size_t> JudgedIterations::at(Ns host_ns) const {
  const auto index = index_of(host_ns);
  return index && *index >= first_ ? index : std::nullopt;
}

std::string JudgedIterations::label(size_t iteration) const {
  return fmt::format("iteration {} (of {})", format_count(iteration + 1),
                     format_count(begins_.size()));
}

void JudgedIterations::leave_out_start_up(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  std::vector<uint64_t> ops(begins_.size()), syncs(ops), allocations(ops);
  const auto count = [&](std::vector<uint64_t>& counts, Id process, Ns at) {
    if (process != process_) return;
    if (const auto index = index_of(at)) ++counts[*index];
  };
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    count(ops, trace.process_of_stream(stream), analyses.order().issue(op).start_ns);
  }
  const auto& host_syncs = trace.host_sync;
  for (Id sync = 0; sync < host_syncs.size(); ++sync) {
    if (blocks_host(trace, sync))
      count(syncs, trace.process_of_thread(host_syncs.thread_id[sync]), host_syncs.start_ns[sync]);
  }
  const auto& calls = trace.api_call;
  for (Id call = 0; call < calls.size(); ++call) {
    if (is_allocation(calls.kind[call]))
      count(allocations, trace.process_of_thread(calls.thread_id[call]), calls.start_ns[call]);
  }
  const uint64_t usual_ops = median(ops), usual_syncs = median(syncs),
                 usual_allocations = median(allocations);
  const auto is_usual = [&](size_t i) {
    const uint64_t off = std::max(ops[i], usual_ops) - std::min(ops[i], usual_ops);
    return off * 10 <= usual_ops && syncs[i] <= usual_syncs && allocations[i] <= usual_allocations;
  };
  while (first_ < begins_.size() / 2 && !is_usual(first_)) ++first_;
}

}  // namespace streamscope::analysis
