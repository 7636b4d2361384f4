// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "what_if.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace streamscope::analysis {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The changes as lookups.
struct Changed {
  explicit Changed(std::span<const Change> changes) {
    for (const Change& change : changes) {
      switch (change.kind) {
        case Change::kDropEdge:
          edges.insert(change.id);
          break;
        case Change::kDropSync:
          syncs.insert(change.id);
          break;
        case Change::kScaleOp:
          factors[change.id] = change.factor;
          break;
        case Change::kDropOp:
          factors[change.id] = 0;
          break;
        case Change::kAddStream:
          streams.emplace(change.id, kUnknownNs);
          break;
        case Change::kAddCopyEngine:
          ++copy_engines;
          break;
      }
    }
  }
  std::unordered_set<Id> edges, syncs;
  std::unordered_map<Id, double> factors;
  std::unordered_map<Id, Ns> streams;  // end of the work on the added stream
  int copy_engines = 0;
};

}  // namespace

std::optional<Change> parse_change(std::string_view text, const Trace& trace, size_t edge_count) {
  if (text == "add-copy-engine") return Change{.kind = Change::kAddCopyEngine};
  struct Form {
    std::string_view name;
    Change::Kind kind;
    size_t count;
  };
  const Form forms[] = {{"drop-edge:", Change::kDropEdge, edge_count},
                        {"drop-sync:", Change::kDropSync, trace.host_sync.size()},
                        {"scale-op:", Change::kScaleOp, trace.op.size()},
                        {"drop-op:", Change::kDropOp, trace.op.size()},
                        {"add-stream:", Change::kAddStream, trace.stream.size()}};
  for (const Form& form : forms) {
    if (!text.starts_with(form.name)) continue;
    std::string_view id = text.substr(form.name.size());
    Change change{.kind = form.kind};
    if (form.kind == Change::kScaleOp) {
      const size_t equals = id.find('=');
      if (equals == id.npos || !read_number(id.substr(equals + 1), change.factor) ||
          !(change.factor >= 0) || !std::isfinite(change.factor)) {
        return std::nullopt;
      }
      id = id.substr(0, equals);
    }
    if (!read_number(id, change.id) || change.id >= form.count) return std::nullopt;
    return change;
  }
  return std::nullopt;
}

Replay::Replay(Analyses& analyses) : analyses_(analyses), bounds_(analyses.host_bounds()) {
  const Trace& trace = analyses.trace();
  for (Id thread = 0; thread < trace.thread.size(); ++thread) {
    for (const auto& bound : bounds_.of(thread)) returns_.push_back(&bound);
  }
  std::stable_sort(returns_.begin(), returns_.end(),
                   [](const auto* a, const auto* b) { return a->end_ns < b->end_ns; });
  const auto& by_start = analyses.by_start();
  if (by_start.empty()) return;
  first_ns_ = trace.op.start_ns[by_start.front()];
  Ns last = first_ns_;
  for (Id op : by_start) {
    last = std::max(last, trace.op.end_ns[op]);
    const Issue issue = analyses.order().issue(op);
    if (issue.start_ns != kUnknownNs) first_ns_ = std::min(first_ns_, issue.start_ns);
  }
  measured_ns_ = last - first_ns_;
}

Ns Replay::with(std::span<const Change> changes) {
  const Trace& trace = analyses_.trace();
  const IssueOrder& order = analyses_.order();
  const Rivals& rivals = analyses_.rivals();
  const Edges& edges = analyses_.edges();
  WaitExplainer& explainer = analyses_.explainer();
  Changed changed(changes);

  std::vector<Ns> new_start(trace.op.size(), kUnknownNs), new_end(trace.op.size(), kUnknownNs);
  std::vector<Ns> shift(trace.host_sync.size(), 0);  // of the return of each bound sync
  std::vector<Ns> still_running(trace.thread.size(), kUnknownNs);  // what a dropped sync left
  const auto shift_at = [&](Id thread, Ns at) {
    const HostBounds::Bound* before = bounds_.last(thread, at);
    return before ? shift[before->sync] : 0;
  };
  const auto settle_sync = [&](const HostBounds::Bound& bound) {
    const Id thread = trace.host_sync.thread_id[bound.sync];
    // The thread's own last return before this call, not this one.
    const Ns entered = bound.start_ns + shift_at(thread, bound.start_ns);
    Ns ended = still_running[thread];
    const auto source = [&](Id op) {
      if (new_end[op] != kUnknownNs) ended = std::max(ended, new_end[op]);
    };
    for (Id op : edges.sync_sources(bound.sync)) source(op);
    source(bound.op);
    if (changed.syncs.contains(bound.sync)) {
      still_running[thread] = ended;
      shift[bound.sync] = entered - bound.end_ns;
      return;
    }
    still_running[thread] = kUnknownNs;
    const Ns cost = bound.end_ns - std::max(bound.start_ns, trace.op.end_ns[bound.op]);
    shift[bound.sync] = std::max(entered, ended) + cost - bound.end_ns;
  };

  Ns last = first_ns_;
  size_t next_return = 0;
  for (Id op : analyses_.by_start()) {
    const Ns start = trace.op.start_ns[op];
    while (next_return < returns_.size() && returns_[next_return]->end_ns <= start)
      settle_sync(*returns_[next_return++]);
    Ns met = kUnknownNs, new_met = kUnknownNs;
    // A condition that was met at `was` is met at `is` in the replay. Clocks of host and device
    // disagree a little, so some are met after the start.
    const auto hold = [&](Ns was, Ns is, bool dropped) {
      met = std::max(met, std::min(was, start));
      if (!dropped) new_met = std::max(new_met, is + std::min<Ns>(0, start - was));
    };
    const auto added = changed.streams.find(trace.op.stream_id[op]);
    const bool spread = added != changed.streams.end();
    for (const auto& c : explainer.conditions(op)) {
      if (c.cause == WaitCause::kLaunch) {
        const Issue issue = order.issue(op);
        hold(c.met_ns, c.met_ns + shift_at(issue.thread_id, issue.start_ns), false);
        continue;
      }
      const Id by = c.because_op;
      if (by >= trace.op.size() || new_end[by] == kUnknownNs) continue;
      if (c.cause == WaitCause::kCopyEngine) continue;  // below, for all copies
      if (c.cause == WaitCause::kQueueAliasing) {
        hold(c.met_ns, new_start[by], false);
        continue;
      }
      const bool fifo = c.edge == WaitPart::kNoEdge && by == explainer.fifo_predecessor(op);
      Ns over = new_end[by];
      if (fifo && spread) over = std::min(over, added->second);  // the stream that is free first
      hold(c.met_ns, over,
           (c.edge != WaitPart::kNoEdge && changed.edges.contains(c.edge)) ||
               (fifo && spread && added->second == kUnknownNs));
    }
    if (rivals.kind(op) == Rivals::kCopyEngine) {
      Id by = rivals.of(op);
      const Ns ended = trace.op.end_ns[by];
      for (int i = 0; i < changed.copy_engines && by != kNoId; ++i)
        by = rivals.kind(by) == Rivals::kCopyEngine ? rivals.of(by) : kNoId;
      if (ended <= start) {
        met = std::max(met, ended);
        if (by != kNoId && new_end[by] != kUnknownNs) new_met = std::max(new_met, new_end[by]);
      }
    }
    if (met == kUnknownNs) met = start;
    if (new_met == kUnknownNs) new_met = met;
    Ns duration = trace.op.end_ns[op] - start;
    if (const auto factor = changed.factors.find(op); factor != changed.factors.end())
      duration = std::llround(static_cast<double>(duration) * factor->second);
    new_start[op] = new_met + (start - met);
    new_end[op] = new_start[op] + duration;
    if (spread) {
      // Whoever waits for this stream waits for both of its halves.
      const Id before = explainer.fifo_predecessor(op);
      const Ns own = before == kNoId ? kUnknownNs : new_end[before];
      added->second = std::min(std::max(own, added->second), new_end[op]);
      new_end[op] = std::max(own, new_end[op]);
    }
    last = std::max(last, new_end[op]);
  }
  return last - first_ns_;
}

Ns Replay::gain_ns(std::span<const Change> changes) {
  return std::max<Ns>(0, measured_ns_ - with(changes));
}

}  // namespace streamscope::analysis
