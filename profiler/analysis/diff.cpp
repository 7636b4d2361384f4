// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "critical_path.h"
#include "labels.h"
#include "units.h"

namespace streamscope::analysis {
namespace {

// Changes of medians below this are what clocks and caches do.
constexpr double kLeastShare = 0.02;

using WorkKey = std::pair<std::string, std::string>;  // label, stream
using EdgeKey = std::tuple<std::string, std::string, trace::Small>;

struct Sample {
  uint64_t count = 0;
  std::vector<Ns> durations;  // of timed ones
};

// A fifth of the values lies below the first and above the last.
struct Spread {
  Ns low = 0, median = 0, high = 0, total = 0;
};

Spread spread_of(std::vector<Ns> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  for (const Ns value : values) spread.total += value;
  spread.low = values[values.size() / 5];
  spread.median = values[values.size() / 2];
  spread.high = values[values.size() - 1 - values.size() / 5];
  return spread;
}

// The groups of a trace; labels are made once per kernel name, stream names once per stream.
class Groups {
 public:
  explicit Groups(Analyses& analyses) : trace_(analyses.trace()) {
    std::vector<std::string> streams;
    for (Id stream = 0; stream < trace_.stream.size(); ++stream)
      streams.push_back(lasting_stream_name(trace_, stream));
    std::map<std::tuple<trace::Small, Id, trace::Small, Id>, const WorkKey*> known;
    keys_.reserve(trace_.op.size());
    for (Id op = 0; op < trace_.op.size(); ++op) {
      const auto [entry, is_new] =
          known.try_emplace({trace_.op.kind[op], trace_.op.name_id[op], trace_.op.detail[op],
                             trace_.op.stream_id[op]},
                            nullptr);
      if (is_new) {
        const Id stream = trace_.op.stream_id[op];
        const WorkKey key{op_label(trace_, op),
                          stream < streams.size() ? streams[stream] : "unknown stream"};
        entry->second = &work.try_emplace(key).first->first;
      }
      keys_.push_back(entry->second);
      Sample& sample = work.find(*entry->second)->second;
      ++sample.count;
      if (is_timed(trace_, op))
        sample.durations.push_back(trace_.op.end_ns[op] - trace_.op.start_ns[op]);
    }
    std::map<std::tuple<const WorkKey*, const WorkKey*, trace::Small>, uint64_t> counts;
    for (const trace::Edge& edge : analyses.edges().rows())
      ++counts[{keys_[edge.from_op_id], keys_[edge.to_op_id], edge.kind}];
    const auto text = [](const WorkKey* key) { return key->first + " on " + key->second; };
    for (const auto& [key, count] : counts)
      edges[{text(std::get<0>(key)), text(std::get<1>(key)), std::get<2>(key)}] += count;
    for (const WaitPart& part : analyses.waits()) waits[part.cause] += part.duration_ns;
    const auto path = critical_path(analyses.order(), analyses.explainer(), analyses.host_bounds());
    if (!path.empty()) path_ns = path.back().end_ns - path.front().start_ns;
  }

  std::map<WorkKey, Sample> work;
  std::map<EdgeKey, uint64_t> edges;
  std::map<WaitCause, Ns> waits;
  Ns path_ns = 0;

 private:
  const Trace& trace_;
  std::vector<const WorkKey*> keys_;  // per op
};

// Keys of both, each once.
template <class Map, class Visit>
void for_both(const Map& base, const Map& now, Visit visit) {
  const typename Map::mapped_type nothing{};
  for (const auto& [key, value] : base) {
    const auto other = now.find(key);
    visit(key, value, other == now.end() ? nothing : other->second);
  }
  for (const auto& [key, value] : now) {
    if (!base.contains(key)) visit(key, nothing, value);
  }
}

std::vector<WorkChange> compare_work(const Groups& base, const Groups& now) {
  std::vector<WorkChange> changes;
  for_both(base.work, now.work, [&](const WorkKey& key, const Sample& before, const Sample& after) {
    const Spread b = spread_of(before.durations), n = spread_of(after.durations);
    WorkChange change{.label = key.first,
                      .stream = key.second,
                      .base_count = before.count,
                      .new_count = after.count,
                      .base_total_ns = b.total,
                      .new_total_ns = n.total,
                      .base_median_ns = b.median,
                      .new_median_ns = n.median};
    const bool comparable = !before.durations.empty() && !after.durations.empty();
    const auto least = static_cast<Ns>(kLeastShare * static_cast<double>(b.median));
    change.slower =
        comparable && n.median > b.high && n.low > b.median && n.median - b.median > least;
    change.faster =
        comparable && n.median < b.low && n.high < b.median && b.median - n.median > least;
    if (before.count != after.count || change.slower || change.faster) changes.push_back(change);
  });
  std::stable_sort(changes.begin(), changes.end(), [](const WorkChange& a, const WorkChange& b) {
    return std::abs(a.cost_ns()) > std::abs(b.cost_ns());
  });
  return changes;
}

std::vector<EdgeChange> compare_edges(const Groups& base, const Groups& now) {
  std::vector<EdgeChange> changes;
  for_both(base.edges, now.edges, [&](const EdgeKey& key, uint64_t before, uint64_t after) {
    if (before == after) return;
    changes.push_back({std::get<0>(key), std::get<1>(key),
                       static_cast<trace::EdgeKind>(std::get<2>(key)), before, after});
  });
  std::stable_sort(changes.begin(), changes.end(), [](const EdgeChange& a, const EdgeChange& b) {
    const auto size = [](const EdgeChange& change) {
      return std::abs(static_cast<int64_t>(change.new_count - change.base_count));
    };
    return size(a) > size(b);
  });
  return changes;
}

std::string cause_of(const TraceDiff& diff) {
  if (diff.new_ns <= diff.base_ns) return "";
  std::string cause;
  Ns most = 0;
  for (const WorkChange& change : diff.work) {
    if (change.cost_ns() <= most) continue;
    most = change.cost_ns();
    cause = fmt::format(
        "{} on {} takes {} more{}", change.label, change.stream, format_duration(change.cost_ns()),
        change.new_count > change.base_count
            ? fmt::format(": it runs {} times instead of {}", change.new_count, change.base_count)
            : "");
  }
  for (const auto& [kind, times] : diff.waits) {
    const Ns growth = times.second - times.first;
    if (growth <= most) continue;
    most = growth;
    cause = fmt::format("waiting for {} takes {} more", to_string(kind), format_duration(growth));
    // An edge that is new may be why.
    for (const EdgeChange& change : diff.edges) {
      if (change.new_count <= change.base_count) continue;
      cause += fmt::format("; new is that {} waits for {}", change.to, change.from);
      break;
    }
  }
  return cause;
}

}  // namespace

std::string lasting_stream_name(const Trace& trace, Id stream) {
  if (stream >= trace.stream.size()) return {};
  const std::string_view name = trace.text(trace.stream.name_id[stream]);
  return name.empty() ? std::string(trace::to_string(
                            static_cast<trace::StreamKind>(trace.stream.kind[stream])))
                      : printable(name);
}

Ns makespan_ns(const Trace& trace) {
  Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_timed(trace, op)) continue;
    first = std::min(first, trace.op.start_ns[op]);
    last = std::max(last, trace.op.end_ns[op]);
  }
  return last < first ? 0 : last - first;
}

TraceDiff diff(Analyses& base, Analyses& now) {
  const Groups before(base), after(now);
  TraceDiff result{.base_ns = makespan_ns(base.trace()),
                   .new_ns = makespan_ns(now.trace()),
                   .base_path_ns = before.path_ns,
                   .new_path_ns = after.path_ns,
                   .work = compare_work(before, after),
                   .edges = compare_edges(before, after)};
  for_both(before.waits, after.waits, [&](WaitCause cause, Ns was, Ns is) {
    result.waits[cause] = {was, is};
  });
  result.likely_cause = cause_of(result);
  return result;
}

}  // namespace streamscope::analysis
