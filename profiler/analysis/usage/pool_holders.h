// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the holders of pool elements. libcoord's pools report how many elements are in use but not
// by what; this derives it from how libcoord uses them. Also finds what created streams and events.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lifetimes.h"
#include "pool_usage.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

/// What the ids of PoolUsage::holders are.
enum class HeldBy : uint8_t {
  kElement,    ///< rows of stream, event or allocation: the element itself, for a derived pool
  kOperation,  ///< rows of operation
  kStream,     ///< rows of stream
};

inline HeldBy held_by(const PoolUsage& pool) {
  if (pool.derived) return HeldBy::kElement;
  return pool.kind == trace::kStreamPool ? HeldBy::kStream : HeldBy::kOperation;
}

/// Operations of a process, alive from one of their time stamps until a later one.
inline std::shared_ptr<const Lifetimes> operations_between(const Trace& trace, Id process,
                                                           const trace::Column<Ns>& from_ns,
                                                           const trace::Column<Ns>& until_ns) {
  auto lives = std::make_shared<Lifetimes>();
  for (Id id = 0; id < trace.operation.size(); ++id) {
    if (trace.operation.process_id[id] == process && from_ns[id] != kUnknownNs)
      lives->add(from_ns[id], until_ns[id], id);
  }
  lives->finish();
  return lives;
}

/// Streams that a process created, while they have issued work that has not ended.
inline std::shared_ptr<const Lifetimes> busy_streams(const Trace& trace, Id process) {
  struct Period {
    Ns from_ns = kUnknownNs, until_ns = kUnknownNs;
  };
  std::vector<Period> periods(trace.stream.size());
  auto lives = std::make_shared<Lifetimes>();
  for (Id id = 0; id < trace.op.size(); ++id) {  // by start, so in issue order within a stream
    const Id stream = trace.op.stream_id[id];
    const Ns start = trace.op.start_ns[id], end = trace.op.end_ns[id];
    if (stream >= periods.size() || trace.stream.created_ns[stream] == kUnknownNs ||
        trace.process_of_stream(stream) != process || start == kUnknownNs)
      continue;
    const Id call = trace.op.api_call_id[id];
    const Ns issued = call < trace.api_call.size() ? trace.api_call.start_ns[call] : kUnknownNs;
    const Ns from = issued == kUnknownNs ? start : std::min(issued, start);
    Period& period = periods[stream];
    if (period.from_ns != kUnknownNs && period.until_ns != kUnknownNs && from > period.until_ns) {
      lives->add(period.from_ns, period.until_ns, stream);
      period = {};
    }
    const bool endless =
        end == kUnknownNs || (period.from_ns != kUnknownNs && period.until_ns == kUnknownNs);
    period.until_ns = endless ? kUnknownNs : std::max(period.until_ns, end);
    if (period.from_ns == kUnknownNs) period.from_ns = from;
  }
  for (Id stream = 0; stream < periods.size(); ++stream) {
    if (periods[stream].from_ns != kUnknownNs)
      lives->add(periods[stream].from_ns, periods[stream].until_ns, stream);
  }
  lives->finish();
  return lives;
}

/// Fills in the holders of libcoord's pools. An operation holds an event of its Coordinator's pool
/// from its submission until its completion is detected, and scratch memory while it is being
/// submitted; a stream is in use until the work of its lease has ended. What a program borrows
/// directly is not recorded. O(rows log rows).
inline void find_holders(const Trace& trace, std::vector<PoolUsage>& pools) {
  std::map<std::pair<Id, trace::PoolKind>, std::shared_ptr<const Lifetimes>> known;
  const auto& operation = trace.operation;
  for (PoolUsage& pool : pools) {
    if (pool.derived) continue;
    auto& lives = known[{pool.process_id, pool.kind}];
    if (!lives) {
      lives = pool.kind == trace::kStreamPool ? busy_streams(trace, pool.process_id)
              : pool.kind == trace::kEventPool
                  ? operations_between(trace, pool.process_id, operation.submitted_ns,
                                       operation.completed_ns)
                  : operations_between(trace, pool.process_id, operation.begun_ns,
                                       operation.submitted_ns);
    }
    pool.holders = lives;
  }
}

/// The api_calls that created streams and events, by row of those; kNoId if unknown.
struct Creators {
  std::vector<Id> of_stream, of_event;
};

/// O(rows log rows).
inline Creators find_creators(const Trace& trace) {
  constexpr ptrdiff_t kMostAtATime = 64;  // threads that create objects at the same time
  const auto& call = trace.api_call;
  const auto start = [&](Id id) -> Ns { return call.start_ns[id]; };
  std::vector<Id> events, streams;
  for (Id id = 0; id < call.size(); ++id) {
    const trace::Small kind = call.kind[id];
    if (kind == CallKind::kEventCreate) events.push_back(id);
    if (kind == CallKind::kStreamCreate) streams.push_back(id);
  }
  std::ranges::stable_sort(events, {}, start);
  std::ranges::stable_sort(streams, {}, start);
  // The call of the process that returned this handle at that time.
  const auto find = [&](const std::vector<Id>& calls, Id process, Ns created_ns,
                        trace::Int handle) {
    const auto end = std::ranges::upper_bound(calls, created_ns, {}, start);
    for (auto it = end; it != calls.begin() && end - it < kMostAtATime;) {
      const Id id = *--it;
      if (call.end_ns[id] != kUnknownNs && call.end_ns[id] >= created_ns &&
          trace.process_of_thread(call.thread_id[id]) == process &&
          (call.object[id] == trace::kNoInt || call.object[id] == handle))
        return id;
    }
    return kNoId;
  };
  Creators creators{std::vector<Id>(trace.stream.size(), kNoId),
                    std::vector<Id>(trace.event.size(), kNoId)};
  const auto& stream = trace.stream;
  for (Id id = 0; id < stream.size(); ++id) {
    if (stream.created_ns[id] != kUnknownNs)
      creators.of_stream[id] =
          find(streams, trace.process_of_stream(id), stream.created_ns[id], stream.handle[id]);
  }
  const auto& event = trace.event;
  for (Id id = 0; id < event.size(); ++id) {
    if (event.created_ns[id] != kUnknownNs)
      creators.of_event[id] =
          find(events, event.process_id[id], event.created_ns[id], event.handle[id]);
  }
  return creators;
}

}  // namespace streamscope::analysis
