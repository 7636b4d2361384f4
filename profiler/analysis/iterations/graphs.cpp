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
std::vector<Ns> breaks(const Trace& trace, const IterationModel& model) {
  const Iterations& iterations = model.iterations();
  std::vector<Ns> found = model.syncs().large_copies_ns();
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
                      const IterationShares& shares) {
  const Trace& trace = analyses.trace();
  const IssuedWork work(analyses, IssuedWork::With::kTimes);
  std::ranges::sort(all_breaks);
  const size_t least =
      std::max(kLeastLaunches, static_cast<size_t>(kLeastPart * shares.launch_count));
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
    for (const Id thread : shares.threads)
      graphs.change.cuts.add(thread, work.issued_ns(first), until);
  }
  return graphs;
}

}  // namespace

Graphs as_graphs(Analyses& analyses, const IterationModel& model) {
  const Trace& trace = analyses.trace();
  std::vector<Ns> all_breaks = breaks(trace, model);
  for (const Id sync : model.syncs().all()) all_breaks.push_back(trace.host_sync.start_ns[sync]);
  return graphs_between(std::move(all_breaks), {}, analyses, model.shares());
}

Graphs as_graphs_without_syncs(Analyses& analyses, const IterationModel& model) {
  Change without_syncs;
  for (const Id sync : model.syncs().all()) model.syncs().remove(sync, without_syncs);
  Graphs graphs = graphs_between(breaks(analyses.trace(), model), without_syncs.without_op,
                                 analyses, model.shares());
  graphs.change.add(without_syncs);
  return graphs;
}

}  // namespace streamscope::analysis
