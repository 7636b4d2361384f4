// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "analysis/delay/critical_path.h"
#include "analysis/units.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

using EdgeKey = std::tuple<std::string, std::string, trace::Small>;

// The ops of a trace that are compared: all, or those of its newest repetitions. The columns have
// the names that WorkGroups reads.
struct ComparedOps {
  ComparedOps(Analyses& analyses, const Repetitions* steady) {
    const Trace& trace = analyses.trace();
    index_of.assign(trace.op.size(), kNoId);
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (steady != nullptr) {
        const Ns issued = analyses.order().issue(op).start_ns;
        const Ns at = issued == kUnknownNs ? trace.op.start_ns[op] : issued;
        if (at < steady->from_ns || at >= steady->to_ns) continue;
      }
      index_of[op] = static_cast<Id>(ids.size());
      ids.push_back(op);
      kind.push_back(trace.op.kind[op]);
      name_id.push_back(trace.op.name_id[op]);
      detail.push_back(trace.op.detail[op]);
      stream_id.push_back(trace.op.stream_id[op]);
      start_ns.push_back(trace.op.start_ns[op]);
      end_ns.push_back(trace.op.end_ns[op]);
    }
  }
  size_t size() const { return ids.size(); }
  bool has(Id op) const { return op < index_of.size() && index_of[op] != kNoId; }
  Id id_of(Id index) const { return index == kNoId ? kNoId : ids[index]; }

  std::vector<Id> index_of, ids;
  std::vector<trace::Small> kind, detail;
  std::vector<Id> name_id, stream_id;
  std::vector<Ns> start_ns, end_ns;
};

// The counts of a trace that are compared.
struct ComparedCounts {
  ComparedCounts(Analyses& analyses, const Repetitions* steady)
      : ops(analyses, steady), work(analyses.trace(), ops) {
    std::map<std::tuple<uint32_t, uint32_t, trace::Small>, uint64_t> by_group;
    const auto group = [&](Id op) { return work.of(ops.index_of[op]); };
    for (const trace::Edge& edge : analyses.edges().rows()) {
      if (ops.has(edge.from_op_id) && ops.has(edge.to_op_id))
        ++by_group[{group(edge.from_op_id), group(edge.to_op_id), edge.kind}];
    }
    const auto text = [&](uint32_t index) {
      return work.all()[index].label + " on " + work.all()[index].stream;
    };
    for (const auto& [key, count] : by_group)
      edges[{text(std::get<0>(key)), text(std::get<1>(key)), std::get<2>(key)}] += count;
    for (const WaitPart& part : analyses.waits()) {
      if (ops.has(part.op)) trace::add_to(waits[part.cause], part.duration_ns);
    }
    const auto& path = analyses.path();
    if (!path.empty()) path_ns = path.back().end_ns - path.front().start_ns;
  }

  ComparedOps ops;
  WorkGroups work;
  std::map<EdgeKey, uint64_t> edges;
  std::map<WaitCause, Ns> waits;
  Ns path_ns = 0;
};

std::vector<EdgeChange> compare_edges(const ComparedCounts& base, const ComparedCounts& now) {
  std::vector<EdgeChange> changes;
  for_both(base.edges, now.edges, [&](const EdgeKey& key, uint64_t before, uint64_t after) {
    if (before == after) return;
    changes.push_back({std::get<0>(key), std::get<1>(key),
                       static_cast<trace::EdgeKind>(std::get<2>(key)), before, after});
  });
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const EdgeChange& change) {
    return std::abs(static_cast<int64_t>(change.new_count - change.base_count));
  });
  return changes;
}

std::string cause_of(const TraceDiff& diff) {
  if (diff.slowdown() <= 0) return "";
  std::string cause;
  Ns most = 0;
  for (const WorkChange& change : diff.work) {
    if (change.cost_ns() <= most) continue;
    most = change.cost_ns();
    cause = fmt::format(
        "{} on {} takes {} longer{}", change.label, change.stream,
        format_duration(change.cost_ns()),
        change.new_count > change.base_count
            ? fmt::format(": it runs {} times instead of {}", change.new_count, change.base_count)
            : "");
  }
  for (const auto& [kind, times] : diff.waits) {
    const Ns growth = times.second - times.first;
    if (growth <= most) continue;
    most = growth;
    cause = fmt::format("waiting for {} takes {} longer", to_string(kind), format_duration(growth));
    // A new edge may be the reason.
    for (const EdgeChange& change : diff.edges) {
      if (change.new_count <= change.base_count) continue;
      cause += fmt::format("; new dependency: {} waits for {}", change.to, change.from);
      break;
    }
  }
  return cause;
}

}  // namespace

Ns makespan_ns(const Trace& trace) {
  Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_timed(trace, op)) continue;
    first = std::min(first, trace.op.start_ns[op]);
    last = std::max(last, trace.op.end_ns[op]);
  }
  return last < first ? 0 : last - first;
}

TraceDiff diff(Analyses& base, Analyses& now, const std::string& range) {
  const std::optional<SteadyPart> steady = steady_part(base, now, range);
  const ComparedCounts before(base, steady ? &steady->base : nullptr),
      after(now, steady ? &steady->now : nullptr);
  TraceDiff result{.base_ns = makespan_ns(base.trace()),
                   .new_ns = makespan_ns(now.trace()),
                   .base_path_ns = before.path_ns,
                   .new_path_ns = after.path_ns,
                   .steady = steady,
                   .iterations = compare_iterations(base, now),
                   .work = compare_work(before.work, after.work),
                   .edges = compare_edges(before, after)};
  std::erase_if(result.work, [](const WorkChange& change) { return !change.is_change(); });
  for (WorkChange& change : result.work) {
    change.base_longest = before.ops.id_of(change.base_longest);
    change.new_longest = after.ops.id_of(change.new_longest);
  }
  for_both(before.waits, after.waits, [&](WaitCause cause, Ns was, Ns is) {
    result.waits[cause] = {was, is};
  });
  result.likely_cause = cause_of(result);
  return result;
}

}  // namespace streamscope::analysis
