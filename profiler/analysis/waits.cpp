// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "waits.h"

#include <algorithm>

#include "host_syncs.h"
#include "large_vector.h"

namespace streamscope::analysis {
namespace {

// Less than this after the last condition is plain hand-over, whoever else was busy.
constexpr Ns kShortestRivalryNs = 3'000;

WaitCause cause_of(Rivals::Kind kind) {
  switch (kind) {
    case Rivals::kCopyEngine:
      return WaitCause::kCopyEngine;
    case Rivals::kSmFull:
      return WaitCause::kSmFull;
    case Rivals::kQueueAliasing:
      return WaitCause::kQueueAliasing;
    case Rivals::kHostFunction:
      return WaitCause::kHostFunction;
    case Rivals::kIdleDevice:
    case Rivals::kNone:
      break;
  }
  return WaitCause::kUnknown;
}

// When the profiler held threads up.
class OverheadIndex {
 public:
  explicit OverheadIndex(const Trace& trace) : threads_(trace.thread.size()) {
    for (Id row = 0; row < trace.overhead.size(); ++row) {
      const Id thread = trace.overhead.thread_id[row];
      // Loading a kernel's code late is the driver's doing, and happens without a profiler too.
      if (thread >= threads_.size() ||
          trace.text(trace.overhead.name_id[row]) == "lazy function loading") {
        continue;
      }
      threads_[thread].emplace_back(trace.overhead.start_ns[row], trace.overhead.end_ns[row]);
    }
    for (auto& spans : threads_) {
      std::sort(spans.begin(), spans.end());
      size_t kept = 0;
      for (const auto& span : spans) {  // overlapping ones become one
        if (kept > 0 && span.first <= spans[kept - 1].second) {
          spans[kept - 1].second = std::max(spans[kept - 1].second, span.second);
        } else {
          spans[kept++] = span;
        }
      }
      spans.resize(kept);
    }
  }
  Ns within(Id thread, Ns from, Ns to) const {
    if (thread >= threads_.size()) return 0;
    const auto& spans = threads_[thread];
    auto span = std::upper_bound(spans.begin(), spans.end(), from,
                                 [](Ns at, const auto& s) { return at < s.second; });
    Ns total = 0;
    for (; span != spans.end() && span->first < to; ++span)
      total += std::min(span->second, to) - std::max(span->first, from);
    return total;
  }

 private:
  std::vector<std::vector<std::pair<Ns, Ns>>> threads_;
};

}  // namespace

struct WaitExplainer::Hold {
  explicit Hold(const Trace& trace) : syncs(trace), overhead(trace) {}
  SyncIndex syncs;
  OverheadIndex overhead;
};

WaitExplainer::WaitExplainer(const IssueOrder& order, const Timeline& timeline, const Edges& edges,
                             const Rivals& rivals)
    : trace_(order.trace()),
      order_(order),
      timeline_(timeline),
      edges_(edges),
      rivals_(rivals),
      graph_nodes_(trace_),
      hold_(std::make_unique<Hold>(trace_)),
      predecessor_(large_vector(trace_.op.size(), kNoId)) {
  // Per stream: of the work so far what ended last.
  std::vector<Id> last(timeline.stream_count(), kNoId);
  timeline.each_in_order(trace_, [&](Id stream, Id op) {
    if (!is_timed(trace_, op)) return;
    Id& before = last[stream];
    predecessor_[op] = before;
    if (trace_.op.kind[op] == trace::kMemoryWait) return;
    if (before == kNoId || trace_.op.end_ns[op] >= trace_.op.end_ns[before]) before = op;
  });
}

WaitExplainer::~WaitExplainer() = default;

// Where the gap before an op begins; kUnknownNs if there is none. Memory waits have none: they are
// no work, but a part of the gap of what follows them.
Ns WaitExplainer::gap_from(Id op, const Issue& issue) const {
  if (!is_timed(trace_, op) || trace_.op.kind[op] == trace::kMemoryWait ||
      trace_.op.stream_id[op] >= timeline_.stream_count()) {
    return kUnknownNs;
  }
  const Id before = predecessor_[op];
  const Ns from = before != kNoId ? trace_.op.end_ns[before] : issue.start_ns;
  return from < trace_.op.start_ns[op] ? from : kUnknownNs;
}

const std::vector<WaitExplainer::Condition>& WaitExplainer::conditions(Id op) {
  conditions_.clear();
  const Id before = predecessor_[op];
  if (before != kNoId) {
    const bool function = trace_.op.kind[before] == trace::kHostFunction;
    conditions_.emplace_back(trace_.op.end_ns[before],
                             function ? WaitCause::kHostFunction : WaitCause::kFifo,
                             WaitPart::kNoEdge, before);
  }
  // The call may return after the op has started; it is over as a reason then.
  const Issue issue = order_.issue(op);
  if (issue.end_ns != kUnknownNs) conditions_.emplace_back(issue.end_ns, WaitCause::kLaunch);
  const auto incoming = edges_.incoming(op);
  for (size_t i = 0; i < incoming.size(); ++i) {
    const trace::Edge& edge = incoming[i];
    const Ns ended = trace_.op.end_ns[edge.from_op_id];
    WaitCause cause;
    if (edge.kind == trace::kEventEdge) {
      cause = WaitCause::kEvent;
    } else if (edge.kind == trace::kLegacyEdge) {
      cause = WaitCause::kLegacyStream;
    } else if (edge.kind == trace::kGraphEdgeKind) {
      cause = WaitCause::kGraph;
    } else {
      continue;  // what the host waited for shows in the launch
    }
    if (ended == kUnknownNs) continue;
    const Id index = static_cast<Id>(edges_.first_incoming(op) + i);
    conditions_.emplace_back(ended, cause, index, edge.from_op_id);
  }
  // Memory waits and host functions since the last work on the stream. Of recorded ones only the
  // simulator knows times; another that is not timed held the op until it started.
  for (Id at = timeline_.predecessor(op); at != kNoId && at != before;
       at = timeline_.predecessor(at)) {
    const bool memory = trace_.op.kind[at] == trace::kMemoryWait;
    if (!memory && (trace_.op.kind[at] != trace::kHostFunction || is_timed(trace_, at))) {
      if (is_timed(trace_, at)) break;
      continue;
    }
    Condition held{is_timed(trace_, at) ? trace_.op.end_ns[at] : trace_.op.start_ns[op],
                   memory ? WaitCause::kMemoryWait : WaitCause::kHostFunction, WaitPart::kNoEdge,
                   at};
    for (size_t i = 0; memory && i < edges_.incoming(at).size(); ++i) {
      if (edges_.incoming(at)[i].kind != trace::kMemoryEdge) continue;
      held.edge = static_cast<Id>(edges_.first_incoming(at) + i);  // names the write
    }
    conditions_.push_back(held);
  }
  if (behind_host_node(op))
    conditions_.push_back({trace_.op.start_ns[op], WaitCause::kHostFunction});
  // A handful, nearly in order.
  for (size_t i = 1; i < conditions_.size(); ++i) {
    for (size_t j = i; j > 0 && conditions_[j].met_ns < conditions_[j - 1].met_ns; --j)
      std::swap(conditions_[j], conditions_[j - 1]);
  }
  const Ns start = trace_.op.start_ns[op];
  const Ns gone = rivals_.gone_ns(trace_, op);
  const Ns ready = conditions_.empty() ? kUnknownNs : conditions_.back().met_ns;
  if (gone != kUnknownNs && gone > ready && gone <= start && start - ready > kShortestRivalryNs &&
      start - gone <= kHandOverNs) {
    conditions_.emplace_back(gone, cause_of(rivals_.kind(op)), WaitPart::kNoEdge, rivals_.of(op));
  }
  return conditions_;
}

// Host nodes of graphs have no op: they show as the time that they take.
bool WaitExplainer::behind_host_node(Id op) const {
  if (graph_nodes_.empty()) return false;
  constexpr trace::Small kHostNode = 3;
  const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
  const auto node_of = [&](Id id) {
    return id == kNoId || trace_.op.graph_node[id] == trace::kNoInt
               ? kNoId
               : graph_nodes_.node(process, trace_.op.graph_node[id]);
  };
  if (const Id node = node_of(op); node != kNoId) {
    for (Id earlier : graph_nodes_.before(node)) {
      if (trace_.graph_node.kind[earlier] == kHostNode) return true;
    }
  }
  const Id before = predecessor_[op];
  if (before == kNoId || trace_.op.api_call_id[before] == trace_.op.api_call_id[op]) return false;
  const Id last = node_of(before);
  if (last == kNoId) return false;
  for (Id later : graph_nodes_.after(last)) {
    if (trace_.graph_node.kind[later] == kHostNode) return true;
  }
  return false;
}

bool WaitExplainer::woke_device(Id op, Ns ready_ns) const {
  if (rivals_.kind(op) != Rivals::kIdleDevice) return false;
  const Id last = rivals_.of(op);
  return last == kNoId || trace_.op.end_ns[last] <= ready_ns + kHandOverNs;
}

void WaitExplainer::explain(Id op, std::vector<WaitPart>& parts) {
  const Issue issue = order_.issue(op);
  const Ns from = gap_from(op, issue);
  if (from == kUnknownNs) return;
  const Ns start = trace_.op.start_ns[op];
  Ns at = from;
  Condition last{from, WaitCause::kFifo};
  bool first = true;
  for (const Condition& condition : conditions(op)) {
    const Ns until = std::min(condition.met_ns, start);
    if (until <= at) {
      // Over when the gap begins: the work before it on the stream hands over.
      if (first && condition.because_op == predecessor_[op]) last = condition;
      continue;
    }
    charge(op, condition, issue, at, until, parts);
    at = until;
    last = condition;
    first = false;
  }
  if (at >= start) return;
  const bool function =
      last.cause == WaitCause::kHostFunction || trace_.op.kind[op] == trace::kHostFunction;
  if (function && last.cause == WaitCause::kFifo) last.cause = WaitCause::kHostFunction;
  const Ns limit = function ? kHostFunctionHandOverNs
                   : last.cause == WaitCause::kLaunch && woke_device(op, at) ? kWakeUpNs
                                                                             : kHandOverNs;
  const Ns hand_over = std::min(start, at + limit);
  if (last.cause == WaitCause::kFifo) last.because_op = kNoId;
  charge(op, last, issue, at, hand_over, parts);
  if (hand_over < start) charge(op, {start, WaitCause::kUnknown}, issue, hand_over, start, parts);
}

void WaitExplainer::charge(Id op, const Condition& condition, const Issue& issue, Ns from, Ns to,
                           std::vector<WaitPart>& parts) {
  Ns duration = to - from;
  if (condition.cause == WaitCause::kLaunch) {
    const Ns until = std::min(to, issue.start_ns);
    const SyncIndex::Blocked blocked = hold_->syncs.blocked(issue.thread_id, from, until);
    if (blocked.duration_ns > 0) {
      parts.push_back(
          {op, WaitCause::kHostSync, blocked.duration_ns, WaitPart::kNoEdge, kNoId, blocked.last});
      duration -= blocked.duration_ns;
    }
    const Ns overhead = std::min(duration, hold_->overhead.within(issue.thread_id, from, to));
    if (overhead > 0) {
      parts.push_back({op, WaitCause::kProfiler, overhead});
      duration -= overhead;
    }
  }
  if (duration <= 0) return;
  WaitPart* same = parts.empty() ? nullptr : &parts.back();
  if (same && same->op == op && same->cause == condition.cause && same->edge == condition.edge &&
      same->because_op == condition.because_op) {
    same->duration_ns += duration;
  } else {
    parts.emplace_back(op, condition.cause, duration, condition.edge, condition.because_op);
  }
}

std::string_view to_string(WaitCause cause) {
  switch (cause) {
    case WaitCause::kLaunch:
      return "launch";
    case WaitCause::kEvent:
      return "event";
    case WaitCause::kFifo:
      return "same-stream";
    case WaitCause::kLegacyStream:
      return "legacy";
    case WaitCause::kMemoryWait:
      return "memory-wait";
    case WaitCause::kHostFunction:
      return "host-function";
    case WaitCause::kCopyEngine:
      return "copy-engine";
    case WaitCause::kSmFull:
      return "device-full";
    case WaitCause::kQueueAliasing:
      return "queue";
    case WaitCause::kProfiler:
      return "profiler";
    case WaitCause::kHostSync:
      return "host";
    case WaitCause::kGraph:
      return "graph";
    case WaitCause::kUnknown:
      break;
  }
  return "unknown";
}

std::vector<WaitPart> explain_waits(WaitExplainer& explainer, const Trace& trace) {
  std::vector<WaitPart> parts;
  reserve_large(parts, 2 * trace.op.size());  // a gap has mostly one part or two
  for (Id op = 0; op < trace.op.size(); ++op) explainer.explain(op, parts);
  return parts;
}

std::vector<WaitPart> explain_waits(const Trace& trace, const Timeline& timeline,
                                    const Edges& edges) {
  const IssueOrder order(trace);
  const Rivals rivals(order, ops_by_start(trace));
  WaitExplainer explainer(order, timeline, edges, rivals);
  return explain_waits(explainer, trace);
}

}  // namespace streamscope::analysis
