// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "graphs.h"

#include <algorithm>

#include "issued_work.h"
#include "steady_calls.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastLaunches = 8;  // that are worth a graph
constexpr double kLeastPart = 0.25;   // of an iteration's launches, for a graph of its own

// When the host did something in the steady part that cannot be in a graph, but for
// synchronizations.
std::vector<Ns> breaks(const Trace& trace, const Iterations& iterations, const SteadySyncs& syncs) {
  std::vector<Ns> found = syncs.large_copies_ns();
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i)
    found.push_back(iterations.all[i].issued_ns);
  found.push_back(iterations.issued_to_ns());
  each_steady_call(trace, iterations, [&](Id call) {
    const trace::Small kind = trace.api_call.kind[call];
    if (kind == CallKind::kMalloc || kind == CallKind::kFree)
      found.push_back(trace.api_call.start_ns[call]);
  });
  return found;
}

// Makes graphs of what is issued between the breaks, but for ops that are not issued any more.
Graphs graphs_between(std::vector<Ns> all_breaks, const Marks& without_op, Analyses& analyses,
                      const Iterations& iterations, double launch_count) {
  const Trace& trace = analyses.trace();
  const IssuedWork work(analyses, IssuedWork::With::kTimes);
  std::ranges::sort(all_breaks);
  const std::vector<Id> threads = issuing_threads(analyses, iterations);
  const size_t least = std::max(kLeastLaunches, static_cast<size_t>(kLeastPart * launch_count));
  Graphs graphs;
  for (size_t i = 0; i + 1 < all_breaks.size(); ++i) {
    const size_t first = work.first_issued(all_breaks[i]),
                 last = work.first_issued(all_breaks[i + 1]);
    size_t launches = 0;
    Ns until = kUnknownNs;
    Id call_before = kNoId;
    for (size_t at = first; at < last; ++at) {
      const Id op = work.id(at), call = trace.op.api_call_id[op];
      if (without_op.has(op)) continue;
      launches += call != call_before && trace.op.kind[op] == trace::kKernel;
      call_before = call;
      until = std::max(until, analyses.order().issue(op).end_ns);
    }
    if (launches < least) continue;
    ++graphs.count;
    graphs.launches += launches;
    for (size_t at = first; at < last; ++at) graphs.change.graph_op.add(work.id(at));
    for (const Id thread : threads) graphs.change.cuts.add(thread, work.issued_ns(first), until);
  }
  return graphs;
}

}  // namespace

Graphs as_graphs(Analyses& analyses, const Iterations& iterations, const SteadySyncs& syncs,
                 double launch_count) {
  std::vector<Ns> all_breaks = breaks(analyses.trace(), iterations, syncs);
  for (const Id sync : syncs.all()) all_breaks.push_back(analyses.trace().host_sync.start_ns[sync]);
  return graphs_between(std::move(all_breaks), {}, analyses, iterations, launch_count);
}

Graphs as_graphs_without_syncs(Analyses& analyses, const Iterations& iterations,
                               const SteadySyncs& syncs, double launch_count) {
  Change without_syncs;
  for (const Id sync : syncs.all()) syncs.remove(sync, without_syncs);
  Graphs graphs = graphs_between(breaks(analyses.trace(), iterations, syncs),
                                 without_syncs.without_op, analyses, iterations, launch_count);
  graphs.change.add(without_syncs);
  return graphs;
}

}  // namespace streamscope::analysis
