// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "summary.h"

#include <algorithm>
#include <tuple>

#include "analysis/call_sites.h"

#include "analysis/analyses.h"

namespace streamscope::report {
namespace {

using analysis::WaitPart;
using trace::kUnknownNs;
using trace::Trace;

// Of host functions and memory waits CUDA does not tell when they ran; the simulator does.
bool has_times(const Trace& trace, Id op) {
  const trace::Small kind = trace.op.kind[op];
  if (kind == trace::kKernel || kind == trace::kMemcpy || kind == trace::kMemset) return true;
  const Id device = trace.device_of_stream(trace.op.stream_id[op]);
  return device < trace.device.size() && trace.device.simulated[device] == 1;
}

template <class Group>
void sort_by_cost(std::vector<Group>& groups, Ns Group::*cost) {
  std::stable_sort(groups.begin(), groups.end(),
                   [cost](const Group& a, const Group& b) { return a.*cost > b.*cost; });
}

// Takes ops of one kind and name together.
class OpGroups {
 public:
  void add(const Trace& trace, Id op, Ns waited) {
    OpGroup& group = groups_[analysis::work_of(trace, op)];
    if (group.example == kNoId) group.example = op;
    ++group.count;
    group.waited_ns += waited;
    if (!analysis::is_timed(trace, op)) return;
    const Ns duration = trace.op.end_ns[op] - trace.op.start_ns[op];
    ++group.timed_count;
    group.total_ns += duration;
    if (duration > group.longest_ns) {
      group.longest_ns = duration;
      group.example = op;
    }
  }
  std::vector<OpGroup> by_cost() const {
    std::vector<OpGroup> result;
    for (const auto& [key, group] : groups_) result.push_back(group);
    sort_by_cost(result, &OpGroup::total_ns);
    return result;
  }

 private:
  std::map<analysis::Work, OpGroup> groups_;
};

std::vector<OpGroup> group_ops(const Trace& trace, const std::vector<Ns>& waited) {
  OpGroups groups;
  for (Id op = 0; op < trace.op.size(); ++op) groups.add(trace, op, waited[op]);
  return groups.by_cost();
}

// Stacks that differ only further out, or inside CUDA, are one place to a reader.
std::vector<analysis::SyncGroup> merge_by_call_site(const std::vector<analysis::SyncGroup>& groups,
                                                    const Summary& summary) {
  std::map<std::tuple<trace::HostSyncKind, Id, Id, Id, std::string>, analysis::SyncGroup> merged;
  for (const analysis::SyncGroup& group : groups) {
    const auto [place, is_new] =
        merged.try_emplace({group.kind, group.process_id, group.name_id, group.stream_id,
                            summary.call_site(group.stack_id)},
                           group);
    if (is_new) continue;
    analysis::SyncGroup& into = place->second;
    into.count += group.count;
    into.open_count += group.open_count;
    into.total_ns += group.total_ns;
    if (group.longest_ns > into.longest_ns) {
      into.longest_ns = group.longest_ns;
      into.longest = group.longest;
    }
  }
  std::vector<analysis::SyncGroup> result;
  for (const auto& [key, group] : merged) result.push_back(group);
  sort_by_cost(result, &analysis::SyncGroup::total_ns);
  return result;
}

// Work counts for every range that was open on the issuing thread when it was issued.
std::vector<RangeGroup> group_ranges(const Trace& trace, const std::vector<Ns>& waited) {
  struct Act {
    Ns at_ns;
    int order;  // ends, then work, then starts of one instant: a range holds what lies inside it
    Id id;
  };
  std::vector<std::vector<Act>> acts(trace.thread.size());
  const auto& ranges = trace.range;
  for (Id range = 0; range < ranges.size(); ++range) {
    if (ranges.thread_id[range] >= acts.size() || ranges.start_ns[range] == kUnknownNs) continue;
    auto& of_thread = acts[ranges.thread_id[range]];
    of_thread.push_back({ranges.start_ns[range], 2, range});
    if (ranges.end_ns[range] != kUnknownNs) {
      of_thread.push_back({std::max(ranges.start_ns[range] + 1, ranges.end_ns[range]), 0, range});
    }
  }
  for (Id op = 0; !ranges.empty() && op < trace.op.size(); ++op) {
    const analysis::Issue issue = analysis::issue_of(trace, op);
    if (issue.thread_id < acts.size() && issue.start_ns != kUnknownNs &&
        !acts[issue.thread_id].empty()) {
      acts[issue.thread_id].push_back({issue.start_ns, 1, op});
    }
  }
  struct Group {
    RangeGroup range;
    OpGroups ops;
  };
  std::map<std::pair<Id, Id>, Group> groups;
  for (auto& of_thread : acts) {
    std::stable_sort(of_thread.begin(), of_thread.end(), [](const Act& a, const Act& b) {
      return std::tie(a.at_ns, a.order) < std::tie(b.at_ns, b.order);
    });
    std::vector<Id> open;
    std::vector<Group*> charged;
    for (const Act& act : of_thread) {
      if (act.order == 0) {
        std::erase(open, act.id);
        continue;
      }
      if (act.order == 2) {
        open.push_back(act.id);
        RangeGroup& group = groups[{ranges.domain_id[act.id], ranges.name_id[act.id]}].range;
        group.domain_id = ranges.domain_id[act.id];
        group.name_id = ranges.name_id[act.id];
        ++group.count;
        if (ranges.end_ns[act.id] != kUnknownNs) {
          group.host_ns += std::max<Ns>(0, ranges.end_ns[act.id] - ranges.start_ns[act.id]);
        }
        continue;
      }
      charged.clear();  // nested ranges of one name count an op once
      for (Id range : open) {
        Group* group = &groups[{ranges.domain_id[range], ranges.name_id[range]}];
        if (std::find(charged.begin(), charged.end(), group) != charged.end()) continue;
        charged.push_back(group);
        group->ops.add(trace, act.id, waited[act.id]);
        ++group->range.op_count;
        group->range.waited_ns += waited[act.id];
        if (analysis::is_timed(trace, act.id)) {
          group->range.device_ns += trace.op.end_ns[act.id] - trace.op.start_ns[act.id];
        }
      }
    }
  }
  std::vector<RangeGroup> result;
  for (auto& [key, group] : groups) {
    group.range.ops = group.ops.by_cost();
    result.push_back(std::move(group.range));
  }
  sort_by_cost(result, &RangeGroup::host_ns);
  return result;
}

PathSummary compose_path(const Trace& trace, const std::vector<analysis::PathStep>& path) {
  PathSummary result;
  for (const analysis::PathStep& step : path) {
    const Ns duration = step.end_ns - step.start_ns;
    if (step.kind == trace::kOpStep) {
      const trace::Small kind = trace.op.kind[step.op];
      (kind == trace::kKernel                             ? result.kernel_ns
       : kind == trace::kMemcpy || kind == trace::kMemset ? result.copy_ns
                                                          : result.other_ns) += duration;
    } else {
      (step.kind == trace::kHostSyncStep ? result.host_sync_ns
       : step.kind == trace::kLaunchStep ? result.launch_ns
                                         : result.gap_ns) += duration;
    }
  }
  return result;
}

std::vector<Advice> advice_of(analysis::Analyses& analyses) {
  std::vector<Advice> result = by_weight(analysis::evaluate_all(analyses));
  std::erase_if(result, [](const Advice& advice) {
    return advice.detector->severity == analysis::FindingSeverity::kNote ||
           advice.finding.confidence == analysis::Confidence::kPossible;
  });
  return result;
}

}  // namespace

std::vector<Advice> by_weight(std::vector<analysis::Verdict> verdicts) {
  std::vector<Advice> result;
  for (analysis::Verdict& verdict : verdicts) {
    for (analysis::Finding& finding : verdict.findings)
      result.push_back({verdict.detector, std::move(finding)});
  }
  const auto rank = [](const Advice& advice) {
    return std::tuple(advice.detector->severity, advice.finding.gain_ns.value_or(0),
                      advice.finding.count);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Advice& a, const Advice& b) { return rank(a) > rank(b); });
  return result;
}

Summary summarize(const Trace& trace) {
  Summary summary;
  summary.info = info_of(trace);
  analysis::Analyses analyses(trace);
  const analysis::Timeline& timeline = analyses.timeline();
  const analysis::Edges& edges = analyses.edges();
  const std::vector<WaitPart>& parts = analyses.waits();
  summary.window_ns = timeline.window_ns();

  std::vector<StreamSummary> streams(trace.stream.size());
  std::vector<Ns> waited(trace.op.size(), 0);
  for (const WaitPart& part : parts) {
    // The gap before the first op of a stream is not the stream's idle time: it had not begun.
    const Id stream = trace.op.stream_id[part.op];
    if (trace.op.start_ns[part.op] > timeline.activity(stream).first_start_ns) {
      streams[stream].waiting[part.cause] += part.duration_ns;
    }
    if (analysis::is_wait(part)) waited[part.op] += part.duration_ns;
  }
  for (Id stream : trace.event_record.stream_id) {
    if (stream < streams.size()) ++streams[stream].record_count;
  }
  for (Id wait = 0; wait < trace.event_wait.size(); ++wait) {
    const Id stream = trace.event_wait.stream_id[wait];
    if (stream >= streams.size()) continue;
    ++streams[stream].wait_count;
    streams[stream].edge_count += trace.event_wait.binding[wait] == trace::kBindingExact;
  }
  for (Id stream = 0; stream < streams.size(); ++stream) {
    StreamSummary& found = streams[stream];
    found.stream = stream;
    found.activity = timeline.activity(stream);
    for (Id op : timeline.ops(stream)) {
      if (found.activity.untimed_count == 0 || summary.window_ns == 0) break;
      if (analysis::is_timed(trace, op) || !has_times(trace, op)) continue;
      if (found.unfinished_count++ == 0) found.first_unfinished = op;
    }
    if (found.activity.op_count + found.record_count + found.wait_count > 0) {
      summary.streams.push_back(std::move(found));
    }
  }
  summary.waits = analysis::group_waits(trace, edges, parts);
  summary.devices = analysis::overlap(trace);
  summary.call_sites = analysis::call_sites(trace);
  summary.syncs = merge_by_call_site(analysis::host_syncs_by_cost(trace), summary);
  summary.ops = group_ops(trace, waited);
  summary.ranges = group_ranges(trace, waited);
  summary.path = compose_path(
      trace, critical_path(analyses.order(), analyses.explainer(), analyses.host_bounds()));
  summary.advice = advice_of(analyses);
  summary.hang = analysis::wait_graph(analyses.wait_for());
  return summary;
}

}  // namespace streamscope::report
