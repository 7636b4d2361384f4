// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// launches_per_iteration, syncs_per_iteration, allocations_per_iteration: every iteration after
// start-up has a number of calls within the limit. Calls of all threads of the process count for
// the iteration in which they begin. A launch is that of a kernel or a graph; a synchronization is
// a call that blocks the host, as in no_sync.cpp; an allocation is a call that allocates or frees
// memory, stream-ordered or not.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/iterations/issued_work.h"
#include "analysis/units.h"
#include "analysis/usage/host_syncs.h"
#include "call_groups.h"
#include "kinds.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

// Calls `visit(row, iteration)` for the calls that an assertion counts.
template <class Visit>
void each_counted(const AssertionContext& context, AssertionKind kind, Visit visit) {
  const Trace& trace = context.analyses.trace();
  const JudgedIterations& iterations = context.iterations;
  const auto visit_call = [&](const auto& table, Id row) {
    const auto iteration = iterations.at(table.start_ns[row]);
    if (iteration && trace.process_of_thread(table.thread_id[row]) == iterations.process())
      visit(row, *iteration);
  };
  if (kind == AssertionKind::kSyncs) {
    for (Id sync = 0; sync < trace.host_sync.size(); ++sync) {
      if (blocks_host(trace, sync)) visit_call(trace.host_sync, sync);
    }
    return;
  }
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    const trace::Small called = trace.api_call.kind[call];
    if (kind == AssertionKind::kLaunches ? is_launch(called) : is_allocation(called))
      visit_call(trace.api_call, call);
  }
}

const char* noun_of(AssertionKind kind) {
  return kind == AssertionKind::kLaunches ? "launching call"
         : kind == AssertionKind::kSyncs  ? "blocking call"
                                          : "allocating or freeing call";
}

}  // namespace

AssertionResult evaluate_count(const AssertionContext& context, const Assertion& assertion) {
  const JudgedIterations& iterations = context.iterations;
  if (!iterations.found()) return without_iterations(context, assertion);
  std::vector<uint64_t> counts(iterations.judged_count());
  each_counted(context, assertion.kind,
               [&](Id, size_t iteration) { ++counts[iteration - iterations.first()]; });
  const auto [least, most] = std::ranges::minmax(counts);
  std::string measured = least == most
                             ? fmt::format("{} in each iteration", format_count(most))
                             : fmt::format("{} to {}, median {}", format_count(least),
                                           format_count(most), format_count(median(counts)));
  const auto outside = [&](uint64_t count) {
    return !assertion.allows(static_cast<double>(count));
  };
  const auto bad = std::ranges::find_if(counts, outside);
  if (bad == counts.end()) return holds(assertion, std::move(measured));
  const size_t first = iterations.first() + static_cast<size_t>(bad - counts.begin());
  std::string text =
      fmt::format("{} of {} are outside the limit; {} has {}",
                  format_count(static_cast<uint64_t>(std::ranges::count_if(counts, outside))),
                  format_count(counts.size(), "iteration"), iterations.label(first),
                  format_count(*bad, noun_of(assertion.kind)));
  CallRows rows{.table = assertion.kind == AssertionKind::kSyncs ? CallRows::kHostSync
                                                                 : CallRows::kApiCall};
  each_counted(context, assertion.kind, [&](Id row, size_t iteration) {
    if (iteration == first) rows.rows.push_back(row);
  });
  Location place;
  if (!rows.rows.empty()) {
    CallGroups groups = group_calls(context.analyses, rows);
    text += ": " + groups.text;
    place = std::move(groups.place);
  }
  return fails(assertion, std::move(measured), std::move(text), std::move(place));
}

}  // namespace streamscope::analysis
