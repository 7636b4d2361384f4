// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "waits.h"

#include <algorithm>

#include "host_syncs.h"

namespace streamscope::analysis {
namespace {

// What an op had to wait for, and when that was no longer so.
struct Condition {
  Ns met_ns;
  WaitCause cause;
  size_t edge = WaitPart::kNoEdge;
  Id because_op = kNoId;
};

class Splitter {
 public:
  Splitter(const Trace& trace, const Edges& edges) : trace_(trace), edges_(edges), syncs_(trace) {}

  // Appends the parts of the gap [from, start of op). `blocker`: what ran on the stream in the gap,
  // we do not know from when to when; kNoId if nothing.
  void split(Id op, Ns from, Id blocker, std::vector<WaitPart>& parts) {
    const Ns start = trace_.op.start_ns[op];
    const Issue issue = issue_of(trace_, op);
    conditions_.clear();
    // The call may return after the op has started; it is over as a reason then.
    if (issue.end_ns != kUnknownNs) conditions_.push_back({issue.end_ns, WaitCause::kLaunch});
    const auto incoming = edges_.incoming(op);
    for (size_t i = 0; i < incoming.size(); ++i) {
      const trace::Edge& edge = incoming[i];
      const Ns ended = trace_.op.end_ns[edge.from_op_id];
      if (ended == kUnknownNs) continue;
      const size_t index = edges_.first_incoming(op) + i;
      if (edge.kind == trace::kEventEdge) {
        conditions_.push_back({ended, WaitCause::kEvent, index, edge.from_op_id});
      } else if (edge.kind == trace::kLegacyEdge) {
        conditions_.push_back({ended, WaitCause::kLegacyStream, index, edge.from_op_id});
      }
    }
    std::sort(conditions_.begin(), conditions_.end(),
              [](const Condition& a, const Condition& b) { return a.met_ns < b.met_ns; });

    Ns at = from;
    Condition last{from, WaitCause::kFifo};
    for (const Condition& condition : conditions_) {
      const Ns until = std::min(condition.met_ns, start);
      if (until <= at) continue;
      charge(op, condition, issue, at, until, parts);
      at = until;
      last = condition;
    }
    if (at >= start) return;
    if (blocker != kNoId) {
      const bool function = trace_.op.kind[blocker] == trace::kHostFunction;
      const WaitCause cause = function ? WaitCause::kHostFunction : WaitCause::kMemoryWait;
      charge(op, {start, cause, WaitPart::kNoEdge, blocker}, issue, at, start, parts);
      return;
    }
    const Ns hand_over = std::min(start, at + kHandOverNs);
    charge(op, last, issue, at, hand_over, parts);
    if (hand_over < start) charge(op, {start, WaitCause::kUnknown}, issue, hand_over, start, parts);
  }

 private:
  void charge(Id op, const Condition& condition, const Issue& issue, Ns from, Ns to,
              std::vector<WaitPart>& parts) {
    Ns duration = to - from;
    if (condition.cause == WaitCause::kLaunch) {
      const SyncIndex::Blocked blocked =
          syncs_.blocked(issue.thread_id, from, std::min(to, issue.start_ns));
      if (blocked.duration_ns > 0) {
        parts.push_back({op, WaitCause::kHostSync, blocked.duration_ns, WaitPart::kNoEdge, kNoId,
                         blocked.last});
        duration -= blocked.duration_ns;
      }
    }
    if (duration <= 0) return;
    WaitPart* same = parts.empty() ? nullptr : &parts.back();
    if (same && same->op == op && same->cause == condition.cause && same->edge == condition.edge) {
      same->duration_ns += duration;
    } else {
      parts.push_back({op, condition.cause, duration, condition.edge, condition.because_op, kNoId});
    }
  }

  const Trace& trace_;
  const Edges& edges_;
  SyncIndex syncs_;
  std::vector<Condition> conditions_;
};

}  // namespace

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
    case WaitCause::kHostSync:
      return "host";
    case WaitCause::kMemoryWait:
      return "memory-wait";
    case WaitCause::kHostFunction:
      return "host-function";
    case WaitCause::kUnknown:
      break;
  }
  return "unknown";
}

std::vector<WaitPart> explain_waits(const Trace& trace, const Timeline& timeline,
                                    const Edges& edges) {
  // Where the gap before each op begins, kUnknownNs where there is none, and what is in it.
  struct Gap {
    Ns from = kUnknownNs;
    Id blocker = kNoId;
  };
  std::vector<Gap> gaps(trace.op.size());
  for (Id stream = 0; stream < timeline.stream_count(); ++stream) {
    Ns busy_until = kUnknownNs;
    Id blocker = kNoId;
    for (Id op : timeline.ops(stream)) {
      if (!is_timed(trace, op)) {
        const trace::Small kind = trace.op.kind[op];
        if (kind == trace::kHostFunction || kind == trace::kMemoryWait) blocker = op;
        continue;
      }
      const Ns from = busy_until != kUnknownNs ? busy_until : issue_of(trace, op).start_ns;
      if (from != kUnknownNs && from < trace.op.start_ns[op]) gaps[op] = {from, blocker};
      busy_until = std::max(busy_until, trace.op.end_ns[op]);
      blocker = kNoId;
    }
  }
  Splitter splitter(trace, edges);
  std::vector<WaitPart> parts;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (gaps[op].from != kUnknownNs) splitter.split(op, gaps[op].from, gaps[op].blocker, parts);
  }
  return parts;
}

}  // namespace streamscope::analysis
