// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <tuple>

#include "analysis/analyses.h"
#include "analysis/call_sites.h"
#include "analysis/derive.h"
#include "analysis/large_vector.h"
#include "analysis/units.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

constexpr size_t kLeastOfALoop = 100;  // ops; less work is not expected to repeat

using analysis::FindingSeverity;
using analysis::WaitPart;
using trace::kUnknownNs;
using trace::Trace;

// CUDA does not report when host functions and memory waits ran; the simulator does.
bool has_times(const Trace& trace, Id op) {
  const trace::Small kind = trace.op.kind[op];
  if (kind == trace::kKernel || is_memory_operation(kind)) return true;
  const Id device = trace.device_of_stream(trace.op.stream_id[op]);
  return device < trace.device.size() && trace.device.simulated[device] == 1;
}

template <class Group, class Cost>
void sort_by(std::vector<Group>& groups, Cost cost) {
  std::ranges::stable_sort(groups, std::greater{}, cost);
}

// The parts of the gap before each op, sorted by op id.
class PartsOfOps {
 public:
  PartsOfOps(const Trace& trace, const std::vector<WaitPart>& parts) : parts_(parts) {
    first_.reserve(trace.op.size() / kOpsEach + 1);
    size_t part = 0;
    for (size_t op = 0; op < trace.op.size(); op += kOpsEach) {
      while (part < parts.size() && parts[part].op < op) ++part;
      first_.push_back(part);
    }
  }
  void add_to(Gaps& gaps, Id op) const {
    size_t part = first_[op / kOpsEach];
    while (part < parts_.size() && parts_[part].op < op) ++part;
    for (; part < parts_.size() && parts_[part].op == op; ++part) gaps.add(parts_[part]);
  }

 private:
  static constexpr size_t kOpsEach = 8;
  const std::vector<WaitPart>& parts_;
  std::vector<size_t> first_;  // for every eighth op: its first part, or the next one
};

// Groups ops by kind and name.
class OpGroups {
 public:
  void add(const Trace& trace, Id op, const PartsOfOps& parts) {
    OpGroup& group = groups_[analysis::work_of(trace, op)];
    if (group.example == kNoId) group.example = op;
    ++group.count;
    parts.add_to(group.gaps, op);
    if (!analysis::is_timed(trace, op)) return;
    const Ns duration = trace.op.end_ns[op] - trace.op.start_ns[op];
    ++group.timed_count;
    trace::add_to(group.total_ns, duration);
    if (duration > group.longest_ns) {
      group.longest_ns = duration;
      group.example = op;
    }
  }
  std::vector<OpGroup> by_cost() const {
    std::vector<OpGroup> result;
    result.reserve(groups_.size());
    for (const auto& [key, group] : groups_) result.push_back(group);
    sort_by(result, &OpGroup::total_ns);
    return result;
  }

 private:
  std::map<analysis::Work, OpGroup> groups_;
};

// Merges stacks that differ only in outer frames or inside CUDA: to a reader they are one place.
std::vector<analysis::SyncGroup> merge_by_call_site(const std::vector<analysis::SyncGroup>& groups,
                                                    const Summary& summary) {
  std::map<std::tuple<trace::HostSyncKind, Id, Id, Id, std::string>, analysis::SyncGroup> merged;
  for (const analysis::SyncGroup& group : groups) {
    const auto [place, is_new] =
        merged.try_emplace({group.kind, group.process_id, group.name_id, group.stream_id,
                            summary.call_site(group.stack_id)},
                           group);
    if (!is_new) place->second.add(group);
  }
  std::vector<analysis::SyncGroup> result;
  result.reserve(merged.size());
  for (const auto& [key, group] : merged) result.push_back(group);
  return result;
}

// Work counts for a range if, when the work is issued,
//   - the range is open on the issuing thread; or
//   - the issuing thread never opens a range of this name, and exactly one thread of the process
//     has one open. So the work of a backward pass, which another thread issues for the one that
//     waits in `step`, counts for `step`.
class RangeGroups {
 public:
  RangeGroups(const Trace& trace, const PartsOfOps& parts) : trace_(trace), parts_(parts) {
    const auto& ranges = trace.range;
    std::vector<std::vector<Act>> acts(trace.process.size());
    std::vector<std::vector<Work>> work(trace.process.size());
    group_of_.resize(ranges.size());
    for (Id range = 0; range < ranges.size(); ++range) {
      const Id thread = ranges.thread_id[range], process = trace.process_of_thread(thread);
      if (process >= acts.size() || ranges.start_ns[range] == kUnknownNs) continue;
      Group& group = groups_[{ranges.domain_id[range], ranges.name_id[range]}];
      group.range.domain_id = ranges.domain_id[range];
      group.range.name_id = ranges.name_id[range];
      group.threads.insert(thread);
      group_of_[range] = &group;
      const Ns start = ranges.start_ns[range], end = ranges.end_ns[range];
      acts[process].push_back({start, Act::kStart, range});
      if (end != kUnknownNs) acts[process].push_back({std::max(start + 1, end), Act::kEnd, range});
    }
    if (ranges.empty()) return;
    for (auto& of_process : work)
      analysis::reserve_large(of_process, trace.op.size() / work.size() + 1);
    for (Id op = 0; op < trace.op.size(); ++op) {
      const analysis::Issue issue = analysis::issue_of(trace, op);
      const Id process = trace.process_of_thread(issue.thread_id);
      if (process < work.size() && issue.start_ns != kUnknownNs)
        work[process].push_back({issue.start_ns, op});
    }
    for (Id process = 0; process < acts.size(); ++process) walk(acts[process], work[process]);
  }

  std::vector<RangeGroup> by_cost() {
    std::vector<RangeGroup> result;
    for (auto& [key, group] : groups_) {
      group.range.ops = group.ops.by_cost();
      result.push_back(std::move(group.range));
    }
    sort_by(result, &RangeGroup::host_ns);
    return result;
  }

 private:
  struct Act {
    Ns at_ns;
    enum Kind { kEnd, kStart } kind;  // at the same instant: end before start
    Id id;
  };
  struct Work {
    Ns at_ns;
    Id op;
  };
  struct Group {
    RangeGroup range;
    OpGroups ops;
    std::set<Id> threads;       // threads that ever open such a range
    std::map<Id, size_t> open;  // open ranges by thread, in the current process
  };

  void walk(std::vector<Act>& acts, std::vector<Work>& work) {
    std::ranges::stable_sort(acts, {},
                             [](const Act& act) { return std::pair(act.at_ns, act.kind); });
    if (!std::ranges::is_sorted(work, {}, &Work::at_ns))
      std::ranges::stable_sort(work, {}, &Work::at_ns);
    std::vector<Group*> open;  // groups with an open range
    size_t next = 0;
    const auto charge_until = [&](Ns until, bool inclusive) {
      for (; next < work.size() &&
             (work[next].at_ns < until || (inclusive && work[next].at_ns == until));
           ++next) {
        if (open.empty()) continue;
        const Id op = work[next].op, thread = analysis::issue_of(trace_, op).thread_id;
        for (Group* group : open) charge(*group, op, thread);
      }
    };
    for (const Act& act : acts) {
      charge_until(act.at_ns, act.kind == Act::kStart);
      Group& group = *group_of_[act.id];
      const Id thread = trace_.range.thread_id[act.id];
      if (act.kind == Act::kStart) {
        if (group.open.empty()) open.push_back(&group);
        ++group.open[thread];
        count(group.range, act.id);
      } else if (const auto ranges = group.open.find(thread); --ranges->second == 0) {
        group.open.erase(ranges);
        if (group.open.empty()) std::erase(open, &group);
      }
    }
    charge_until(std::numeric_limits<Ns>::max(), true);
    for (Group* group : open) group->open.clear();
  }
  void count(RangeGroup& group, Id range) const {
    ++group.count;
    if (trace_.range.end_ns[range] != kUnknownNs)
      trace::add_to(group.host_ns, std::max<Ns>(0, trace::between(trace_.range.start_ns[range],
                                                                  trace_.range.end_ns[range])));
  }
  void charge(Group& group, Id op, Id thread) {
    const bool own = group.open.contains(thread);
    if (!own && (group.open.size() > 1 || group.threads.contains(thread))) return;
    RangeGroup& range = group.range;
    group.ops.add(trace_, op, parts_);
    ++range.op_count;
    range.foreign_count += !own;
    parts_.add_to(range.gaps, op);
    if (analysis::is_timed(trace_, op))
      trace::add_to(range.device_ns, trace_.op.end_ns[op] - trace_.op.start_ns[op]);
  }

  const Trace& trace_;
  const PartsOfOps& parts_;
  std::map<std::pair<Id, Id>, Group> groups_;  // by domain and name
  std::vector<Group*> group_of_;               // by range
};

// By their time in the steady part, then by that in the whole run; without iterations only by that.
template <class Group>
void sort_by_steady_cost(std::vector<Group>& groups, const analysis::Iterations& iterations) {
  struct Costed {
    Ns steady_ns, total_ns;
    Group group;
  };
  std::vector<Costed> costed;
  costed.reserve(groups.size());
  for (Group& group : groups) {
    const Ns total = group.times.total_ns();
    costed.push_back(
        {iterations.found() ? group.times.steady_ns(iterations) : total, total, std::move(group)});
  }
  sort_by(costed, [](const Costed& each) { return std::pair(each.steady_ns, each.total_ns); });
  groups.clear();
  for (Costed& each : costed) groups.push_back(std::move(each.group));
}

// One per stream with any activity.
std::vector<StreamSummary> summarize_streams(const Trace& trace,
                                             const analysis::StreamOps& stream_ops,
                                             std::vector<analysis::StreamSums> sums) {
  std::vector<StreamSummary> streams(trace.stream.size());
  for (Id stream : trace.event_record.stream_id) {
    if (stream < streams.size()) ++streams[stream].record_count;
  }
  for (Id wait = 0; wait < trace.event_wait.size(); ++wait) {
    const Id stream = trace.event_wait.stream_id[wait];
    if (stream >= streams.size()) continue;
    ++streams[stream].wait_count;
    streams[stream].edge_count += trace.event_wait.binding[wait] == trace::kBindingExact;
  }
  std::vector<StreamSummary> result;
  for (Id stream = 0; stream < streams.size(); ++stream) {
    StreamSummary& found = streams[stream];
    found.stream = stream;
    found.activity = stream_ops.activity(stream);
    found.sums = std::move(sums[stream]);
    for (Id op : stream_ops.ops(stream)) {
      if (found.activity.untimed_count == 0 || stream_ops.window_ns() == 0) break;
      if (analysis::is_timed(trace, op) || !has_times(trace, op)) continue;
      if (found.unfinished_count++ == 0) found.first_unfinished = op;
    }
    if (found.activity.op_count + found.record_count + found.wait_count > 0)
      result.push_back(std::move(found));
  }
  return result;
}

// The synchronizations among these that a repair changes.
std::vector<Id> repaired_syncs(const analysis::Finding& finding, std::span<const Id> syncs) {
  std::vector<Id> repaired;
  if (!finding.repair) return repaired;
  const analysis::Change& change = *finding.repair;
  std::ranges::copy_if(syncs, std::back_inserter(repaired), [&](Id sync) {
    return change.without_sync.has(sync) || change.deferred_sync.has(sync) ||
           change.narrowed_sync.contains(sync);
  });
  return repaired;
}

// True if nearly all of `syncs` are in `others`: one rule may leave out the last of a loop.
bool are_mostly_in(const std::vector<Id>& others, const std::vector<Id>& syncs) {
  std::vector<Id> both;
  std::ranges::set_intersection(others, syncs, std::back_inserter(both));
  return both.size() * 10 >= syncs.size() * 9;
}

// Marks findings whose synchronizations an earlier finding removes; of findings without a repair to
// compare, those at the place of an earlier one. To a reader they are the same.
void mark_repetitions(std::vector<Advice>& findings, std::span<const Id> steady_syncs) {
  std::vector<std::vector<Id>> removed;  // by the findings so far
  std::set<std::string> places;
  for (Advice& advice : findings) {
    const analysis::Finding& finding = advice.finding;
    if (finding.host_sync == kNoId || advice.detector->severity == FindingSeverity::kError)
      continue;
    std::vector<Id> syncs = repaired_syncs(finding, steady_syncs);
    advice.repeats =
        finding.repair
            ? !syncs.empty() &&
                  std::ranges::any_of(
                      removed, [&](const auto& before) { return are_mostly_in(before, syncs); })
            : places.contains(finding.place.call_site);
    removed.push_back(std::move(syncs));
    if (!finding.place.call_site.empty()) places.insert(finding.place.call_site);
  }
}

// What a finding is worth, where several are compared.
double weight(const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  const Ns gain = finding.iteration ? finding.iteration->gain_ns() : finding.gain_ns.value_or(0);
  return static_cast<double>(gain) * advice.detector->ease;
}

// Of the warnings that weigh nearly as much as the first one, the easiest repair comes first: the
// next recording may weigh them the other way around.
void prefer_easy(std::vector<Advice>& findings) {
  constexpr double kNearly = 0.9;
  const auto first = std::ranges::find(findings, FindingSeverity::kWarning, &Advice::severity);
  if (first == findings.end() || weight(*first) <= 0) return;
  const double least = kNearly * weight(*first);
  const auto last = std::find_if(first, findings.end(), [&](const Advice& advice) {
    return advice.severity() != first->severity() || advice.repeats || weight(advice) < least;
  });
  std::stable_sort(first, last, [](const Advice& a, const Advice& b) {
    return a.detector->ease > b.detector->ease;
  });
}

// A repair that saves less by itself is only a part of the one that needs it, whose text has it.
bool is_worth_its_own_line(const Advice& advice) {
  const auto& gain = advice.finding.iteration;
  return gain && gain->gain_ns() >= gain->before_ns / analysis::kSmallPart;
}

// Moves findings before the first one that needs their repair.
void move_needed(std::vector<Advice>& findings) {
  for (size_t i = 0; i < findings.size(); ++i) {
    const std::string_view needs = findings[i].finding.needs;
    if (needs.empty()) continue;
    const FindingSeverity severity = findings[i].severity();
    const auto from = findings.begin() + static_cast<ptrdiff_t>(i);
    const auto moved = std::stable_partition(from, findings.end(), [&](const Advice& advice) {
      return advice.detector->number == needs && !advice.is_possible() &&
             advice.severity() == severity && is_worth_its_own_line(advice);
    });
    i = static_cast<size_t>(moved - findings.begin());
  }
}

}  // namespace

void Gaps::add(const WaitPart& part) {
  trace::add_to(by_cause[part.cause], part.duration_ns);
  if (analysis::is_wait(part)) trace::add_to(waited_ns, part.duration_ns);
}

Ns Gaps::total_ns() const {
  Ns sum = 0;
  for (const auto& [cause, duration] : by_cause) trace::add_to(sum, duration);
  return sum;
}

streamscope::WaitCause Gaps::mostly() const {
  const auto most =
      std::ranges::max_element(by_cause, {}, [](const auto& part) { return part.second; });
  return most == by_cause.end() ? streamscope::WaitCause::kUnknown : most->first;
}

std::string rule_name(const analysis::Detector& detector) {
  return fmt::format("{} {}", detector.number, detector.id);
}

std::vector<Advice> by_weight(std::vector<analysis::Verdict> verdicts,
                              std::span<const Id> steady_syncs) {
  std::vector<Advice> result;
  for (analysis::Verdict& verdict : verdicts) {
    for (analysis::Finding& finding : verdict.findings)
      result.push_back({verdict.detector, std::move(finding)});
  }
  const auto rank = [](const Advice& advice) {
    return std::tuple(advice.severity(), !advice.is_possible(), !advice.repeats, weight(advice),
                      advice.finding.count);
  };
  std::ranges::stable_sort(result, std::greater{}, rank);
  mark_repetitions(result, steady_syncs);
  std::ranges::stable_sort(result, std::greater{}, rank);
  prefer_easy(result);
  move_needed(result);
  return result;
}

std::string possible_line(const std::vector<Advice>& findings) {
  struct Group {
    std::string_view id;
    uint64_t count = 0;
  };
  std::map<std::string_view, Group> by_number;
  for (const Advice& advice : findings) {
    if (!advice.is_possible()) continue;
    Group& group = by_number[advice.detector->number];
    group.id = advice.detector->id;
    ++group.count;
  }
  if (by_number.empty()) return "";
  uint64_t count = 0;
  std::string parts;
  for (const auto& [number, group] : by_number) {
    count += group.count;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", analysis::format_count(group.count),
                         group.id);
  }
  return fmt::format(
      "{} ({}), from indirect evidence such as kernel parameters; --show possible lists them.",
      analysis::format_count(count, "possible finding"), parts);
}

std::string path_sentence(const analysis::PathSums& path) {
  std::string line =
      "The chain that determined the duration of the run, from its first launch to the end of its "
      "last op: " +
      analysis::format_duration(path.total_ns()) + ", of which";
  const char* separator = " ";
  for (size_t i = 0; i < analysis::kPathShareCount; ++i) {
    const Ns time = path.shares[i].total_ns();
    if (time == 0) continue;
    line += fmt::format("{}{} {}", separator, analysis::format_percent(time, path.total_ns()),
                        names_of(static_cast<analysis::PathShare>(i)).shown);
    separator = ", ";
  }
  return line + ".";
}

Summary summarize(const Trace& trace, const analysis::IterationRequest& request) {
  Summary summary;
  summary.info = info_of(trace);
  analysis::Analyses analyses(trace, request);
  // Runs the detectors, and everything that does not need wait causes, in parallel with those.
  std::future<std::vector<analysis::Verdict>> verdicts = run_beside(
      [&] {
        summary.call_sites = analysis::call_sites(trace);
        summary.hang = analysis::wait_graph(analyses.wait_for());
        return analysis::verdicts(analyses);
      },
      analysis::worth_threads(trace));
  const analysis::StreamOps& stream_ops = analyses.stream_ops();
  const std::vector<WaitPart>& parts = analyses.waits();
  summary.window_ns = stream_ops.window_ns();

  const analysis::Iterations& iterations = analyses.iteration_model().iterations();
  analysis::IterationSums sums = analysis::iteration_sums(analyses, iterations);
  summary.streams = summarize_streams(trace, stream_ops, std::move(sums.streams));
  summary.devices = std::move(sums.devices);
  summary.path = std::move(sums.path);
  summary.waits = std::move(sums.waits);
  sort_by_steady_cost(summary.waits, iterations);
  const PartsOfOps parts_of_ops(trace, parts);
  OpGroups ops;
  for (Id op = 0; op < trace.op.size(); ++op) ops.add(trace, op, parts_of_ops);
  summary.ops = ops.by_cost();
  summary.ranges = RangeGroups(trace, parts_of_ops).by_cost();
  if (analyses.iteration_model().found())
    summary.iteration = summarize(analyses, analyses.iteration_model());
  else if (!analyses.iteration_request().off && trace.op.size() >= kLeastOfALoop)
    summary.no_iterations = no_iterations_sentence(trace, analyses.iteration_request());
  std::vector<analysis::Verdict> all = verdicts.get();
  summary.syncs = merge_by_call_site(
      analysis::host_syncs_by_cost(trace, analysis::IterationSlots::of_host(iterations)), summary);
  sort_by_steady_cost(summary.syncs, iterations);
  for (Advice& advice : by_weight(std::move(all), analyses.iteration_model().syncs().all())) {
    if (advice.is_possible()) {
      summary.possible.push_back(std::move(advice));
    } else if (advice.severity() != analysis::FindingSeverity::kNote) {
      summary.advice.push_back(std::move(advice));
    } else if (advice.is_small()) {
      summary.small.push_back(std::move(advice));
    }
  }
  return summary;
}

}  // namespace streamscope::report
