// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// independent-branches (SS310): in each iteration, work that does not depend on each other runs one
//   after the other on one stream, although the device has room for both. Evidence: calls, times of
//   a steady part, occupancy, and the memory that ops access: copies, memsets, what operations of
//   libcoord declare; then the finding is suspected. What kernel parameters show makes it possible:
//   allocations that no two branches share, unless both only read them. An op with unknown accesses
//   depends on all others. The gain comes from a replay on two streams, in which kernels wait for
//   free multiprocessors. It is the most that can be saved, because kernels that run beside each
//   other also share caches and memory bandwidth. Missed: branches that reuse one allocation for
//   different data, as those of a caching allocator do.
#include <fmt/format.h>

#include "../labels.h"
#include "../units.h"
#include "analysis/iterations/branches.h"
#include "families.h"
#include "in_iterations.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastBusy = 0.5;    // in which the stream is busy, of the steady part
constexpr double kLeastBeside = 0.1;  // of the stream's time

// The streams that are busy for most of the steady part, and for how long.
std::map<Id, Ns> busy_streams(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  std::map<Id, Ns> busy;
  for (const Id op : analyses.by_start()) {
    const Id stream = trace.op.stream_id[op];
    if (trace.op.start_ns[op] >= iterations.steady_start_ns() &&
        trace.op.start_ns[op] < iterations.steady_end_ns() &&
        trace.process_of_stream(stream) == iterations.process_id)
      trace::add_to(busy[stream], trace.op.end_ns[op] - trace.op.start_ns[op]);
  }
  const auto time = static_cast<double>(iterations.steady_end_ns() - iterations.steady_start_ns());
  std::erase_if(busy, [&](const auto& stream) {
    return static_cast<double>(stream.second) < kLeastBusy * time;
  });
  return busy;
}

}  // namespace

void find_independent_branches(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  const Iterations& iterations = model.iterations();
  const auto count = static_cast<Ns>(iterations.steady_count());
  for (const auto& [stream, busy_ns] : busy_streams(analyses, iterations)) {
    const Branches branches = find_branches(analyses, iterations, stream, model.replayed());
    if (branches.first == kNoId) continue;
    const Ns beside = branches.beside_ns / static_cast<Ns>(branches.iterations);
    if (static_cast<double>(beside) < kLeastBeside * static_cast<double>(busy_ns / count)) continue;
    Finding finding;
    if (!set_iteration_gain(model, branches.change, 0, finding)) continue;
    finding.confidence = branches.possible ? Confidence::kPossible : Confidence::kSuspected;
    finding.title = fmt::format(
        "{} of an iteration on stream {} could run beside the rest of the stream's work",
        format_duration(beside), stream_label(analyses.trace(), stream));
    finding.text = fmt::format(
        "By {}, {} ops of each iteration do not depend on it. Issue them to a stream of their own "
        "that waits for an event at the beginning, and let this one wait for an event at their "
        "end. The gain is the most to expect: kernels that run beside each other share memory "
        "bandwidth.",
        branches.possible ? "the parameters of kernels" : "the memory that they access",
        format_mean(static_cast<double>(branches.count) /
                    static_cast<double>(branches.iterations)));
    finding.first_op = branches.first;
    finding.count = branches.count;
    findings.add({stream}, iterations.steady_end_ns(), [&] { return finding; });
  }
}

}  // namespace streamscope::analysis
