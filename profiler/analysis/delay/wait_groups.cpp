// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_groups.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace streamscope::analysis {
namespace {

Id stream_of(const Trace& trace, Id op) {
  return op < trace.op.size() ? trace.op.stream_id[op] : kNoId;
}

// Of what usually differs.
struct WaitKeyHash {
  size_t operator()(const WaitKey& key) const {
    const auto& [cause, stream, work, by, because, because_stream] = key;
    auto hash = static_cast<uint64_t>(cause);
    for (const Id part : {stream, work.name_id, by, because.name_id, because_stream}) {
      hash = (hash + part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

}  // namespace

bool is_wait(const WaitPart& part) {
  switch (part.cause) {
    case WaitCause::kEvent:
    case WaitCause::kLegacyStream:
    case WaitCause::kHostSync:
    case WaitCause::kHostFunction:
    case WaitCause::kMemoryWait:
    case WaitCause::kCopyEngine:
    case WaitCause::kSmFull:
    case WaitCause::kQueueAliasing:
    case WaitCause::kCodeLoading:
    case WaitCause::kHostLock:
      return true;
    case WaitCause::kHostCall:
      return part.call_name() != kNoId;  // short calls are the normal cost of issuing work
    default:
      return false;
  }
}

Work work_of(const Trace& trace, Id op) {
  if (op >= trace.op.size()) return {};
  const trace::Small kind = trace.op.kind[op];
  return {kind, trace.op.name_id[op], kind == trace::kMemcpy ? trace.op.detail[op] : 0};
}

WaitKey key_of(const Trace& trace, const Edges& edges, const WaitPart& part) {
  const Id record = part.edge != WaitPart::kNoEdge ? edges[part.edge].event_record_id : kNoId;
  // A record may represent work of another stream, through waits of its own.
  Id by = stream_of(trace, part.because_op());
  if (record < trace.event_record.size()) by = trace.event_record.stream_id[record];
  if (part.host_sync() < trace.host_sync.size()) by = trace.host_sync.name_id[part.host_sync()];
  if (part.call_name() != kNoId) by = part.call_name();
  return {part.cause, stream_of(trace, part.op),         work_of(trace, part.op),
          by,         work_of(trace, part.because_op()), stream_of(trace, part.because_op())};
}

std::vector<WaitGroup> group_waits(const Trace& trace, const Edges& edges,
                                   const std::vector<WaitPart>& parts, IterationSlots slots) {
  std::unordered_map<WaitKey, WaitGroup, WaitKeyHash> groups;
  for (const WaitPart& part : parts) {
    if (!is_wait(part)) continue;
    const bool has_edge = part.edge != WaitPart::kNoEdge;
    WaitGroup& group = groups[key_of(trace, edges, part)];
    const Ns start = trace.op.start_ns[part.op];
    ++group.count;
    group.times.add(slots.of(start), part.duration_ns);
    const std::pair rank(slots.is_steady(start), part.duration_ns),
        most(group.steady_count > 0, group.longest.duration_ns);
    group.steady_count += rank.first;
    if (group.count > 1 && rank <= most) continue;
    group.longest = part;
    group.event_record = has_edge ? edges[part.edge].event_record_id : kNoId;
    group.event_wait = has_edge ? edges[part.edge].event_wait_id : kNoId;
  }
  std::vector<std::pair<const WaitKey, WaitGroup>*> by_cost;
  for (auto& group : groups) by_cost.push_back(&group);
  std::ranges::sort(by_cost, {}, [](const auto* group) {
    return std::tuple(-group->second.times.total_ns(), group->first);
  });
  std::vector<WaitGroup> result;
  const TimelineWaits timelines(trace);
  for (auto* group : by_cost) {
    WaitGroup& added = result.emplace_back(std::move(group->second));
    added.wanted = added.longest.cause == WaitCause::kMemoryWait
                       ? timelines.of_op(added.longest.because_op())
                       : timelines.of_wait(added.event_wait);
  }
  return result;
}

}  // namespace streamscope::analysis
