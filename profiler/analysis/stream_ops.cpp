// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "stream_ops.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "large_vector.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

bool by_start(const Trace& trace, Id a, Id b) {
  return std::tuple(trace.op.start_ns[a], trace.op.end_ns[a], a) <
         std::tuple(trace.op.start_ns[b], trace.op.end_ns[b], b);
}

// Puts the ops of one stream into FIFO order. A stream runs its ops one after another, so the start
// times decide; an op without times is placed by the order of the calls.
void order_stream(const Trace& trace, std::span<Id> ops) {
  const auto timed = [&](Id op) { return is_timed(trace, op); };
  const auto untimed = std::all_of(ops.begin(), ops.end(), timed)
                           ? ops.end()
                           : std::stable_partition(ops.begin(), ops.end(), timed);
  const auto earlier_start = [&](Id a, Id b) { return by_start(trace, a, b); };
  if (!std::is_sorted(ops.begin(), untimed, earlier_start))
    std::sort(ops.begin(), untimed, earlier_start);
  if (untimed == ops.end()) return;

  struct Placed {
    Ns issued_ns;
    Id op;
  };
  std::vector<Placed> placed;
  placed.reserve(ops.size());
  Ns newest = kUnknownNs;  // calls of different threads overlap; positions must not move backwards
  for (auto op = ops.begin(); op != untimed; ++op) {
    newest = std::max(newest, issue_of(trace, *op).end_ns);
    placed.push_back({newest, *op});
  }
  for (auto op = untimed; op != ops.end(); ++op)
    placed.push_back({issue_of(trace, *op).end_ns, *op});
  const auto middle = placed.begin() + (untimed - ops.begin());
  std::ranges::stable_sort(middle, placed.end(), {}, &Placed::issued_ns);
  std::ranges::inplace_merge(placed, middle, {}, &Placed::issued_ns);
  std::ranges::transform(placed, ops.begin(), &Placed::op);
}

// Adds an op to the activity of its stream.
void add(const Trace& trace, Id op, StreamActivity& sum) {
  const trace::Small kind = trace.op.kind[op];
  ++sum.op_count;
  sum.kernel_count += kind == trace::kKernel;
  sum.copy_count += kind == trace::kMemcpy;
  sum.memset_count += kind == trace::kMemset;
  if (kind == trace::kMemcpy && trace.op.bytes[op] != trace::kNoInt)
    trace::add_to(sum.copied_bytes, trace.op.bytes[op]);
  if (!is_timed(trace, op)) {
    ++sum.untimed_count;
    return;
  }
  if (kind == trace::kMemoryWait) return;  // the stream is idle while it waits
  const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
  if (sum.first_start_ns == kUnknownNs) sum.first_start_ns = sum.last_end_ns = start;
  // Ops of one stream overlap only inside a graph or with programmatic launch: count overlapping
  // time once.
  const Ns from = std::max(start, sum.last_end_ns);
  trace::add_to(sum.busy_ns, std::max<Ns>(0, end - from));
  sum.last_end_ns = std::max(sum.last_end_ns, end);
}

}  // namespace

static trace::Small flags_of_event(const Trace& trace, Id record) {
  const Id event = trace.event_record.event_id[record];
  return event < trace.event.size() ? trace.event.flags[event] : trace::kNoSmall;
}

bool takes_time_stamp(const Trace& trace, Id record) {
  return flags_of_event(trace, record) != trace::kNoSmall && may_take_time_stamp(trace, record);
}

bool may_take_time_stamp(const Trace& trace, Id record) {
  constexpr trace::Small kDisableTiming = 2;
  const trace::Small flags = flags_of_event(trace, record);
  return flags == trace::kNoSmall || (flags & kDisableTiming) == 0;
}

StreamOps::StreamOps(const Trace& trace)
    : first_(trace.stream.size() + 1, 0),
      as_stored_(trace.stream.size(), true),
      predecessor_(large_vector(trace.op.size(), kNoId)),
      activity_(trace.stream.size()) {
  const size_t streams = trace.stream.size();
  for (Id stream : trace.op.stream_id) {
    if (stream < streams) ++first_[stream + 1];
  }
  for (size_t stream = 0; stream < streams; ++stream) first_[stream + 1] += first_[stream];
  ops_ = large_vector(first_[streams], kNoId);
  // Most traces are already in order: then one pass over the ops is enough for all streams.
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    if (stream >= streams) continue;
    const size_t place = next[stream]++;
    ops_[place] = op;
    const Id before = place == first_[stream] ? kNoId : ops_[place - 1];
    predecessor_[op] = before;
    as_stored_[stream] = as_stored_[stream] && is_timed(trace, op) &&
                         (before == kNoId || by_start(trace, before, op));
    add(trace, op, activity_[stream]);
  }
  for (Id stream = 0; stream < streams; ++stream) {
    StreamActivity& activity = activity_[stream];
    if (!as_stored_[stream]) {
      const std::span<Id> lane(ops_.data() + first_[stream], activity.op_count);
      order_stream(trace, lane);
      activity = {};
      Id before = kNoId;
      for (Id op : lane) {
        predecessor_[op] = std::exchange(before, op);
        add(trace, op, activity);
      }
    }
    if (activity.first_start_ns == kUnknownNs) continue;
    if (first_start_ns_ == kUnknownNs || activity.first_start_ns < first_start_ns_)
      first_start_ns_ = activity.first_start_ns;
    last_end_ns_ = std::max(last_end_ns_, activity.last_end_ns);
  }
}

Ns longest_run(const Trace& trace, Id op) {
  Ns longest = 0;
  for (Id other = 0; other < trace.op.size(); ++other) {
    if (trace.op.kind[other] == trace.op.kind[op] &&
        trace.op.name_id[other] == trace.op.name_id[op] && is_timed(trace, other)) {
      longest = std::max(longest, trace.op.end_ns[other] - trace.op.start_ns[other]);
    }
  }
  return longest;
}

}  // namespace streamscope::analysis
