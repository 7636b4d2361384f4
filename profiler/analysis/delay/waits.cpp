// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "waits.h"

#include <algorithm>

#include "analysis/large_vector.h"
#include "replay.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/graph_node_kind.h"
#include "vocabulary/threads.h"

namespace streamscope::analysis {
namespace {

// A shorter delay after the last condition is normal hand-over, not contention.
constexpr Ns kShortestContentionNs = 3'000;

WaitCause cause_of(Contention::Kind kind) {
  using enum WaitCause;  // kIdleDevice, like kNone, is no contention
  constexpr WaitCause kCauses[] = {kUnknown,       kCopyEngine,   kSmFull,
                                   kQueueAliasing, kHostFunction, kUnknown};
  return kCauses[kind];
}

WaitCause cause_of(HostState state) {
  using enum WaitCause;
  constexpr WaitCause kCauses[] = {kProfiler, kCodeLoading, kHostLock, kHostCall, kHostCall,
                                   kHostCall, kHostSync,    kHostCall, kHost};
  return kCauses[static_cast<size_t>(state)];
}

}  // namespace

WaitExplainer::WaitExplainer(const IssueOrder& order, const StreamOps& stream_ops,
                             const Edges& edges, const Contention& contention)
    : trace_(order.trace()),
      order_(order),
      stream_ops_(stream_ops),
      edges_(edges),
      contention_(contention),
      facts_(std::make_shared<Facts>(trace_, stream_ops)),
      nearby_(facts_->host_time) {}

WaitExplainer::Facts::Facts(const Trace& trace, const StreamOps& stream_ops)
    : graph_nodes(trace),
      host_time(trace),
      off_windows(analysis::off_windows(trace)),
      predecessor(large_vector(trace.op.size(), kNoId)) {
  // Per stream: the op so far that ended last.
  std::vector<Id> last(stream_ops.stream_count(), kNoId);
  stream_ops.each_in_order(trace, [&](Id stream, Id op) {
    if (!is_timed(trace, op)) return;
    Id& before = last[stream];
    predecessor[op] = before;
    if (trace.op.kind[op] == trace::kMemoryWait) return;
    if (before == kNoId || trace.op.end_ns[op] >= trace.op.end_ns[before]) before = op;
  });
}

// When the gap before an op begins; kUnknownNs if there is none. Memory waits have none: they are
// not work but part of the gap of the op behind them. Page migrations have none either: no call
// issued them, they follow a fault.
Ns WaitExplainer::gap_from(Id op, const Issue& issue) const {
  if (!is_timed(trace_, op) || trace_.op.kind[op] == trace::kMemoryWait ||
      (trace_.op.kind[op] == trace::kMemcpy && is_migration(trace_.op.detail[op])) ||
      trace_.op.stream_id[op] >= stream_ops_.stream_count()) {
    return kUnknownNs;
  }
  const Id before = facts_->predecessor[op];
  const Ns from = before != kNoId ? trace_.op.end_ns[before] : issue.start_ns;
  return from < trace_.op.start_ns[op] ? from : kUnknownNs;
}

const std::vector<WaitExplainer::Condition>& WaitExplainer::conditions(Id op) {
  conditions_.clear();
  const Issue issue = order_.issue(op);
  if (const Id before = facts_->predecessor[op]; before != kNoId) {
    conditions_.push_back({.since_ns = order_.issue(before).start_ns,
                           .met_ns = trace_.op.end_ns[before],
                           .cause = WaitCause::kStart,
                           .because_op = before});
  }
  // The call may return after the op has started; it is no cause after that. One that waits for a
  // copy has issued it long before it returns.
  if (issue.end_ns != kUnknownNs) {
    const trace::Small kind = trace_.op.kind[op];
    const bool waits =
        is_memory_operation(kind) && is_timed(trace_, op) && issue.end_ns >= trace_.op.end_ns[op];
    conditions_.push_back(
        {issue.start_ns,
         waits ? std::min(issue.end_ns, issue.start_ns + kLaunchLatencyNs) : issue.end_ns,
         WaitCause::kLaunch});
  }
  add_edges(op, issue);
  add_own_stream(op);
  // A few conditions, nearly in order.
  for (size_t i = 1; i < conditions_.size(); ++i) {
    for (size_t j = i; j > 0 && conditions_[j].met_ns < conditions_[j - 1].met_ns; --j)
      std::swap(conditions_[j], conditions_[j - 1]);
  }
  add_contender(op, issue);
  return conditions_;
}

// Ops of other streams that had to end before this op, or before an item ahead of it.
void WaitExplainer::add_edges(Id op, const Issue& issue) {
  const auto incoming = edges_.incoming(op);
  for (size_t i = 0; i < incoming.size(); ++i) {
    const trace::Edge& edge = incoming[i];
    Condition condition{.since_ns = issue.start_ns,
                        .met_ns = trace_.op.end_ns[edge.from_op_id],
                        .edge = static_cast<Id>(edges_.first_incoming(op) + i),
                        .because_op = edge.from_op_id};
    if (edge.kind == trace::kEventEdge) {
      condition.cause = WaitCause::kEvent;
      if (edge.event_wait_id < trace_.event_wait.size())
        condition.since_ns = trace_.event_wait.start_ns[edge.event_wait_id];
    } else if (edge.kind == trace::kLegacyEdge) {
      condition.cause = WaitCause::kLegacyStream;
    } else if (edge.kind == trace::kGraphEdgeKind) {
      condition.cause = WaitCause::kGraph;
    } else {
      continue;  // waits of the host are part of the launch
    }
    if (condition.met_ns != kUnknownNs) conditions_.push_back(condition);
  }
}

// What is in the stream between its last work and this op: memory waits, host functions and other
// ops without times. Only the simulator has times of memory waits; a wait without a known end is
// charged the time that nothing else explains.
void WaitExplainer::add_own_stream(Id op) {
  for (Id at = stream_ops_.predecessor(op); at != kNoId && at != facts_->predecessor[op];
       at = stream_ops_.predecessor(at)) {
    const bool timed = is_timed(trace_, at), memory = trace_.op.kind[at] == trace::kMemoryWait;
    if (timed && !memory) break;
    const Issue issue = order_.issue(at);
    add_edges(at, issue);
    if (!memory && trace_.op.kind[at] != trace::kHostFunction) continue;
    Condition held{.since_ns = issue.start_ns,
                   .met_ns = timed ? trace_.op.end_ns[at] : trace_.op.start_ns[op],
                   .cause = memory ? WaitCause::kMemoryWait : WaitCause::kHostFunction,
                   .because_op = at,
                   .open = !timed};
    for (size_t i = 0; memory && i < edges_.incoming(at).size(); ++i) {
      if (edges_.incoming(at)[i].kind != trace::kMemoryEdge) continue;
      held.edge = static_cast<Id>(edges_.first_incoming(at) + i);  // names the write
    }
    conditions_.push_back(held);
  }
  if (behind_host_node(op)) {
    conditions_.push_back({.since_ns = order_.issue(op).start_ns,
                           .met_ns = trace_.op.start_ns[op],
                           .cause = WaitCause::kHostFunction,
                           .open = true});
  }
}

// The contender for the resource that the op needed, after all conditions above were met.
void WaitExplainer::add_contender(Id op, const Issue& issue) {
  const Ns start = trace_.op.start_ns[op];
  const Ns gone = contention_.gone_ns(trace_, op);
  const Ns ready = conditions_.empty() ? kUnknownNs : conditions_.back().met_ns;
  const WaitCause cause = cause_of(contention_.kind(op));
  const Ns limit = cause == WaitCause::kCopyEngine ? kCopyStartNs : kStartLatencyNs;
  if (gone != kUnknownNs && gone > ready && gone <= start &&
      trace::difference_of(start, ready) > kShortestContentionNs && start - gone <= limit) {
    conditions_.push_back({.since_ns = issue.start_ns,
                           .met_ns = gone,
                           .cause = cause,
                           .because_op = contention_.of(op),
                           .resource = true});
  }
}

// Host nodes of graphs have no op: they appear only as the time they take.
bool WaitExplainer::behind_host_node(Id op) const {
  if (facts_->graph_nodes.empty()) return false;
  const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
  const auto node_of = [&](Id id) {
    return id == kNoId || trace_.op.graph_node[id] == trace::kNoInt
               ? kNoId
               : facts_->graph_nodes.node(process, trace_.op.graph_node[id]);
  };
  const auto any_host = [&](std::span<const Id> nodes) {
    return std::ranges::any_of(nodes,
                               [&](Id node) { return trace_.graph_node.kind[node] == kHostNode; });
  };
  const Id node = node_of(op);
  if (node != kNoId && any_host(facts_->graph_nodes.before(node))) return true;
  const Id before = facts_->predecessor[op];
  if (before == kNoId || trace_.op.api_call_id[before] == trace_.op.api_call_id[op]) return false;
  const Id last = node_of(before);
  return last != kNoId && any_host(facts_->graph_nodes.after(last));
}

bool WaitExplainer::woke_device(Id op, Ns ready_ns) const {
  if (contention_.kind(op) != Contention::kIdleDevice) return false;
  const Id last = contention_.of(op);
  return last == kNoId || trace_.op.end_ns[last] <= trace::sum_of(ready_ns, kStartLatencyNs);
}

void WaitExplainer::explain(Id op, std::vector<WaitPart>& parts) {
  const Issue issue = order_.issue(op);
  Ns at = gap_from(op, issue);
  if (at == kUnknownNs) return;
  const Ns start = trace_.op.start_ns[op];
  queue_.clear();
  const Condition *open = nullptr, *contender = nullptr;
  for (const Condition& condition : conditions(op)) {
    const bool own = condition.cause == WaitCause::kStart || condition.cause == WaitCause::kLaunch;
    if (condition.open) {
      open = &condition;
    } else if (condition.resource) {
      contender = &condition;
    } else if (!own) {
      queue_.push_back(condition);
    }
  }
  // A stream runs its items in issue order. Equal ones stay ordered by their ends.
  std::ranges::stable_sort(queue_, {}, &Condition::since_ns);
  WaitCause last = WaitCause::kStart;
  const auto host_until = [&](Ns until) {
    until = std::min(until, start);
    if (until <= at) return;
    charge_host(op, issue, at, until, parts);
    at = until;
    last = WaitCause::kLaunch;
  };
  const auto held_by = [&](const Condition& condition) {
    if (condition.met_ns <= std::max(at, condition.since_ns)) return;  // never delayed anything
    host_until(condition.since_ns);
    const Ns until = std::min(condition.met_ns, start);
    if (until <= at) return;
    charge(op, condition, at, until, parts);
    at = until;
    last = condition.cause;
  };
  for (const Condition& condition : queue_) held_by(condition);
  host_until(issue.end_ns);
  if (contender) held_by(*contender);
  if (at >= start) return;
  if (open) return charge(op, *open, at, start, parts);
  const Id before = facts_->predecessor[op];
  const bool function = trace_.op.kind[op] == trace::kHostFunction ||
                        last == WaitCause::kHostFunction ||
                        (last == WaitCause::kStart && before != kNoId &&
                         trace_.op.kind[before] == trace::kHostFunction);
  const bool copy = trace_.op.kind[op] == trace::kMemcpy ||
                    (before != kNoId && trace_.op.kind[before] == trace::kMemcpy);
  const Ns limit = woke_device(op, at) ? kWakeUpNs
                   : function          ? kHostFunctionStartNs
                   : copy              ? kCopyStartNs
                                       : kStartLatencyNs;
  const Ns latency_until = std::min(start, at + limit);
  charge(op, {.cause = WaitCause::kStart}, at, latency_until, parts);
  if (latency_until < start)
    charge(op, {.cause = WaitCause::kUnknown}, latency_until, start, parts);
}

// The stream is empty, or only the call that issues the op has begun.
void WaitExplainer::charge_host(Id op, const Issue& issue, Ns from, Ns to,
                                std::vector<WaitPart>& parts) {
  const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
  if (process < facts_->off_windows.size()) {
    const auto& windows = facts_->off_windows[process];
    auto window = std::ranges::upper_bound(windows, from, {}, &OffWindow::end_ns);
    for (; window != windows.end() && window->start_ns < to; ++window) {
      const Ns off = std::max(from, window->start_ns), on = std::min(to, window->end_ns);
      if (off > from) charge_recorded_host(op, issue, from, off, parts);
      charge(op, {.cause = WaitCause::kUnknown}, off, on, parts);
      from = std::max(from, on);
    }
  }
  if (from < to) charge_recorded_host(op, issue, from, to, parts);
}

void WaitExplainer::charge_recorded_host(Id op, const Issue& issue, Ns from, Ns to,
                                         std::vector<WaitPart>& parts) {
  const Ns called = issue.start_ns == kUnknownNs ? to : std::clamp(issue.start_ns, from, to);
  host_parts_.clear();
  split_host(issue.thread_id, from, called, host_parts_);
  facts_->host_time.split_call(issue.thread_id, called, to, host_parts_);
  Ns rest = to - from;  // time in the call without a more specific cause
  for (const HostPart& part : host_parts_) {
    rest -= part.duration_ns;
    parts.push_back({.duration_ns = part.duration_ns,
                     .op = op,
                     .cause = cause_of(part.state),
                     .because = part.state == HostState::kSync ? part.host_sync : part.call_name});
  }
  charge(op, {.cause = WaitCause::kLaunch}, to - rest, to, parts);
}

void WaitExplainer::charge(Id op, const Condition& condition, Ns from, Ns to,
                           std::vector<WaitPart>& parts) {
  if (from >= to) return;
  WaitPart* same = parts.empty() ? nullptr : &parts.back();
  if (same && same->op == op && same->cause == condition.cause && same->edge == condition.edge &&
      same->because == condition.because_op) {
    trace::add_to(same->duration_ns, to - from);
  } else {
    parts.push_back({.duration_ns = to - from,
                     .op = op,
                     .cause = condition.cause,
                     .edge = condition.edge,
                     .because = condition.because_op});
  }
}

bool is_host(WaitCause cause) {
  switch (cause) {
    case WaitCause::kLaunch:
    case WaitCause::kHostSync:
    case WaitCause::kHostCall:
    case WaitCause::kCodeLoading:
    case WaitCause::kHostLock:
    case WaitCause::kHost:
    case WaitCause::kProfiler:
      return true;
    default:
      return false;
  }
}

std::string host_label(WaitCause cause, std::string_view call) {
  const auto named = [&](std::string_view otherwise) {
    return std::string(call.empty() ? otherwise : call);
  };
  switch (cause) {
    case WaitCause::kHostSync:
      return "host blocked in " + named("a synchronization");
    case WaitCause::kHostCall:
      return "host in " + named("another CUDA call");
    case WaitCause::kCodeLoading:
      return "host loading code" + (call.empty() ? "" : " (" + std::string(call) + ")");
    case WaitCause::kHostLock:
      return "host held up by " + named("a call") + " of another thread";
    case WaitCause::kLaunch:
      return "host in the call that issues it";
    case WaitCause::kProfiler:
      return "host held up by the profiler";
    default:
      return "host outside CUDA";
  }
}

namespace {

// How many parts all ops have, by some of them, and a little more.
size_t count_parts(WaitExplainer explainer, size_t ops) {
  constexpr size_t kSampled = 4096;
  const size_t distance = std::max<size_t>(1, ops / kSampled);
  std::vector<WaitPart> parts;
  for (size_t op = 0; op < ops; op += distance) explainer.explain(static_cast<Id>(op), parts);
  const size_t counted = parts.size() * distance;
  return counted + counted / 32;
}

}  // namespace

std::vector<WaitPart> explain_waits(const WaitExplainer& explainer, const Trace& trace) {
  constexpr size_t kOpsOfAPiece = size_t{1} << 14, kMostAtOnce = 16;  // of about 2 MiB each
  const size_t ops = trace.op.size(), pieces = (ops + kOpsOfAPiece - 1) / kOpsOfAPiece;
  const size_t at_once = std::min({2 * processor_count(), kMostAtOnce, pieces});
  std::vector<WaitExplainer> explainers(at_once, explainer);
  std::vector<std::vector<WaitPart>> found(at_once), earlier(at_once);
  std::vector<WaitPart> parts;
  reserve_large(parts, count_parts(explainer, ops));
  const auto append = [&](std::vector<WaitPart>& piece) {
    const size_t needed = parts.size() + piece.size();
    if (needed > parts.capacity()) reserve_large(parts, needed + needed / 8);
    parts.insert(parts.end(), piece.begin(), piece.end());
    piece.clear();
  };
  const auto explain = [&](size_t piece, size_t i) {
    const size_t first = piece * kOpsOfAPiece, last = std::min(first + kOpsOfAPiece, ops);
    for (size_t op = first; op < last; ++op) explainers[i].explain(static_cast<Id>(op), found[i]);
  };
  // What was found is appended while the next pieces are explained.
  for (size_t piece = 0; piece < pieces + at_once; piece += at_once) {
    for_each_part(1 + at_once, [&](size_t part) {
      if (part > 0) return explain(piece + part - 1, part - 1);
      for (std::vector<WaitPart>& before : earlier) append(before);
    });
    std::swap(found, earlier);
  }
  return parts;
}

}  // namespace streamscope::analysis
