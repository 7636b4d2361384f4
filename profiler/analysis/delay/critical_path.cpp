// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "critical_path.h"

#include <algorithm>
#include <limits>

#include "analysis/usage/host_syncs.h"

namespace streamscope::analysis {
namespace {

// A polling loop sees the end of the work within a few iterations.
constexpr Ns kPollNs = 20'000;

Id last_ended(const Trace& trace) {
  Id last = kNoId;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (is_timed(trace, op) && (last == kNoId || trace.op.end_ns[op] > trace.op.end_ns[last]))
      last = op;
  }
  return last;
}

// Goes backwards.
class PathFinder {
 public:
  PathFinder(const IssueOrder& order, WaitExplainer& explainer, const HostBounds& bounds,
             const HostPauses& pauses, const PathPart& part)
      : order_(order),
        trace_(order.trace()),
        explainer_(explainer),
        bounds_(bounds),
        pauses_(pauses),
        part_(part) {}

  std::vector<PathStep> run() {
    bool goes_on = true;
    if (part_.thread != kNoId) {
      until_ = part_.until_ns;
      goes_on = pass_host(part_.thread, until_, until_);
    } else {
      op_ = target_ = part_.last_op == kNoId ? last_ended(trace_) : part_.last_op;
      if (op_ == kNoId) return {};
      until_ = trace_.op.end_ns[op_];
    }
    while (goes_on && is_within()) goes_on = pass_op();
    std::ranges::reverse(path_);
    return std::move(path_);
  }

 private:
  bool is_within() const { return part_.from_ns == kUnknownNs || until_ > part_.from_ns; }

  void step(PathStep next) {
    if (next.start_ns >= until_) return;
    next.end_ns = until_;
    until_ = next.start_ns;
    path_.push_back(next);
  }
  void launch_step(Id thread, Ns from) {
    step({.kind = trace::kLaunchStep, .op = op_, .start_ns = from, .thread = thread});
  }

  // False where the path begins.
  bool pass_op() {
    if (part_.ends_of && op_ != target_ && (*part_.ends_of)[op_] &&
        trace_.op.end_ns[op_] <= until_) {
      path_.push_back({.kind = trace::kOpStep, .op = op_, .start_ns = until_, .end_ns = until_});
      return false;
    }
    const Ns start = trace_.op.start_ns[op_];
    step({.kind = trace::kOpStep, .op = op_, .start_ns = start});
    // The last condition that delayed it; conditions without times of their own are gaps.
    const WaitExplainer::Condition* binding = nullptr;
    for (const auto& condition : explainer_.conditions(op_)) {
      const bool launch = condition.cause == WaitCause::kLaunch;
      const Id by = condition.because_op;
      if (launch ||
          (by < trace_.op.size() && is_timed(trace_, by) && trace_.op.start_ns[by] < start)) {
        binding = &condition;
      }
    }
    if (!binding) return false;
    if (binding->cause == WaitCause::kLaunch) {
      const Issue issue = order_.issue(op_);
      return pass_host(issue.thread_id, issue.start_ns, start);
    }
    const Id by = binding->because_op;
    const Ns ended = binding->resource ? binding->met_ns : trace_.op.end_ns[by];
    step({.kind = trace::kGapStep, .op = op_, .start_ns = std::max(ended, trace_.op.start_ns[by])});
    op_ = by;
    return true;
  }

  // From where a thread is at an instant, on its way to what starts at `start`.
  bool pass_host(Id thread, Ns at, Ns start) {
    const HostBounds::Bound* bound = bounds_.last(thread, at);
    // Back through the threads that handed over to each other since the host last waited.
    while (const HostPause* pause = pauses_.last_handed_over(thread, at)) {
      if ((bound && bound->end_ns >= pause->handed_over_ns) || !is_within()) break;
      launch_step(thread, pause->handed_over_ns);
      thread = pause->by_thread;
      at = pause->handed_over_ns;
      bound = bounds_.last(thread, at);
    }
    if (!bound || trace_.op.start_ns[bound->op] >= start) {
      Ns began = thread < trace_.thread.size() ? bounds_.first_issue_ns(thread) : at;
      if (began == kUnknownNs) began = part_.from_ns;
      if (began != kUnknownNs) launch_step(thread, began);
      return false;
    }
    launch_step(thread, bound->end_ns);
    step({.kind = trace::kHostSyncStep,
          .host_sync = bound->sync,
          .start_ns = std::max(trace_.op.end_ns[bound->op], trace_.op.start_ns[bound->op])});
    op_ = bound->op;
    return true;
  }

  const IssueOrder& order_;
  const Trace& trace_;
  WaitExplainer& explainer_;
  const HostBounds& bounds_;
  const HostPauses& pauses_;
  const PathPart& part_;
  std::vector<PathStep> path_;
  Id op_ = kNoId, target_ = kNoId;
  Ns until_ = 0;
};

}  // namespace

HostBounds::HostBounds(const IssueOrder& order, const Edges& edges)
    : threads_(order.trace().thread.size()), first_issue_(order.trace().thread.size(), kUnknownNs) {
  const Trace& trace = order.trace();
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Issue issue = order.issue(op);
    if (issue.thread_id >= first_issue_.size() || issue.start_ns == kUnknownNs) continue;
    Ns& first = first_issue_[issue.thread_id];
    if (first == kUnknownNs || issue.start_ns < first) first = issue.start_ns;
  }
  const auto& syncs = trace.host_sync;
  std::vector<Id> copies(order.has_copy_syncs() ? syncs.size() : 0, kNoId);
  for (Id op = 0; !copies.empty() && op < trace.op.size(); ++op) {
    if (const Id sync = order.copy_sync(op); sync != kNoId) copies[sync] = op;
  }
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    const Id thread = syncs.thread_id[sync];
    if (thread >= threads_.size() || syncs.start_ns[sync] == kUnknownNs ||
        syncs.end_ns[sync] == kUnknownNs) {
      continue;
    }
    Bound bound{sync, kNoId, syncs.start_ns[sync], syncs.end_ns[sync]};
    const auto look = [&](Id op) {
      if (is_timed(trace, op) &&
          (bound.op == kNoId || trace.op.end_ns[op] > trace.op.end_ns[bound.op])) {
        bound.op = op;
      }
    };
    for (Id op : edges.sync_sources(sync)) look(op);
    if (!copies.empty() && copies[sync] != kNoId) look(copies[sync]);
    if (bound.op == kNoId) continue;
    const Ns ended = trace.op.end_ns[bound.op];
    const bool blocks =
        is_blocking(syncs.kind[sync]) || syncs.kind[sync] == trace::kSynchronousCopy;
    if (ended > bound.start_ns - (blocks ? 0 : kPollNs)) threads_[thread].push_back(bound);
  }
  for (auto& bounds : threads_) std::ranges::stable_sort(bounds, {}, &Bound::end_ns);
}

const HostBounds::Bound* HostBounds::last(Id thread, Ns until) const {
  if (thread >= threads_.size() || until == kUnknownNs) return nullptr;
  const auto& bounds = threads_[thread];
  const auto next = std::ranges::upper_bound(bounds, until, {}, &Bound::end_ns);
  return next == bounds.begin() ? nullptr : &*std::prev(next);
}

std::vector<PathStep> critical_path(const IssueOrder& order, WaitExplainer& explainer,
                                    const HostBounds& bounds, const HostPauses& pauses,
                                    const PathPart& part) {
  return PathFinder(order, explainer, bounds, pauses, part).run();
}

std::vector<Ns> slack(const IssueOrder& order, WaitExplainer& explainer, const HostBounds& bounds,
                      const Edges& edges, const std::vector<Id>& by_start) {
  const Trace& trace = order.trace();
  constexpr Ns kFree = std::numeric_limits<Ns>::max() / 2;
  std::vector<Ns> result(trace.op.size(), kUnknownNs);
  const Id last = last_ended(trace);
  if (last == kNoId) return result;
  const Ns end = trace.op.end_ns[last];
  for (Id op : by_start) result[op] = end - trace.op.end_ns[op];
  // How much later each bound synchronization could return.
  std::vector<Ns> sync_slack(trace.host_sync.size(), kFree);
  std::vector<const HostBounds::Bound*> returns;
  for (Id thread = 0; thread < trace.thread.size(); ++thread) {
    for (const auto& bound : bounds.of(thread)) returns.push_back(&bound);
  }
  std::ranges::sort(returns, {}, &HostBounds::Bound::end_ns);
  const auto lower = [](Ns& value, Ns limit) { value = std::min(value, std::max<Ns>(0, limit)); };
  const auto settle_sync = [&](const HostBounds::Bound& bound) {
    const Ns ended = trace.op.end_ns[bound.op];
    const Ns own = sync_slack[bound.sync];
    const Ns last_met = std::max(ended, bound.start_ns);
    for (Id source : edges.sync_sources(bound.sync)) {
      if (result[source] != kUnknownNs)
        lower(result[source], own + (last_met - trace.op.end_ns[source]));
    }
    lower(result[bound.op], own + (last_met - ended));
    const HostBounds::Bound* before =
        bounds.last(trace.host_sync.thread_id[bound.sync], bound.start_ns);
    if (before && before->sync != bound.sync)
      lower(sync_slack[before->sync], own + (last_met - bound.start_ns));
  };
  size_t next_return = returns.size();
  for (size_t i = by_start.size(); i-- > 0;) {
    const Id op = by_start[i];
    const Ns start = trace.op.start_ns[op];
    while (next_return > 0 && returns[next_return - 1]->end_ns >= start)
      settle_sync(*returns[--next_return]);
    const auto& conditions = explainer.conditions(op);
    Ns last_met = kUnknownNs;
    for (const auto& c : conditions) last_met = std::max(last_met, std::min(c.met_ns, start));
    for (const auto& c : conditions) {
      const Ns room = result[op] + (last_met - std::min(c.met_ns, start));
      if (c.cause == WaitCause::kLaunch) {
        const Issue issue = order.issue(op);
        if (const auto* bound = bounds.last(issue.thread_id, issue.start_ns))
          lower(sync_slack[bound->sync], room);
      } else if (c.because_op < trace.op.size() && result[c.because_op] != kUnknownNs &&
                 trace.op.start_ns[c.because_op] < start) {
        lower(result[c.because_op], room);
      }
    }
  }
  return result;
}

}  // namespace streamscope::analysis
