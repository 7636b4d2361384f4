// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace streamscope::analysis {
namespace {

// Puts the ops of one stream into FIFO order. A stream runs its ops one after another, so the start
// times are the truth; an op without times takes the place that the order of the calls gives it.
void order_stream(const Trace& trace, std::span<Id> ops) {
  const auto timed = [&](Id op) { return is_timed(trace, op); };
  const auto untimed = std::all_of(ops.begin(), ops.end(), timed)
                           ? ops.end()
                           : std::stable_partition(ops.begin(), ops.end(), timed);
  const auto by_start = [&](Id a, Id b) {
    return std::tie(trace.op.start_ns[a], trace.op.end_ns[a], a) <
           std::tie(trace.op.start_ns[b], trace.op.end_ns[b], b);
  };
  if (!std::is_sorted(ops.begin(), untimed, by_start)) std::sort(ops.begin(), untimed, by_start);
  if (untimed == ops.end()) return;

  struct Placed {
    Ns issued_ns;
    Id op;
  };
  std::vector<Placed> timed_ops, untimed_ops;
  Ns newest = kUnknownNs;  // calls overlap between threads; a place never moves backwards
  for (auto op = ops.begin(); op != untimed; ++op) {
    newest = std::max(newest, issue_of(trace, *op).end_ns);
    timed_ops.push_back({newest, *op});
  }
  for (auto op = untimed; op != ops.end(); ++op) {
    untimed_ops.push_back({issue_of(trace, *op).end_ns, *op});
  }
  const auto earlier = [](const Placed& a, const Placed& b) { return a.issued_ns < b.issued_ns; };
  std::stable_sort(untimed_ops.begin(), untimed_ops.end(), earlier);
  std::vector<Placed> merged;
  merged.reserve(ops.size());
  std::merge(timed_ops.begin(), timed_ops.end(), untimed_ops.begin(), untimed_ops.end(),
             std::back_inserter(merged), earlier);
  std::transform(merged.begin(), merged.end(), ops.begin(), [](const Placed& p) { return p.op; });
}

StreamActivity measure(const Trace& trace, std::span<const Id> ops) {
  StreamActivity result;
  result.op_count = ops.size();
  for (Id op : ops) {
    switch (trace.op.kind[op]) {
      case trace::kKernel:
        ++result.kernel_count;
        break;
      case trace::kMemcpy:
        ++result.copy_count;
        if (trace.op.bytes[op] != trace::kNoInt) result.copied_bytes += trace.op.bytes[op];
        break;
      case trace::kMemset:
        ++result.memset_count;
        break;
      default:
        break;
    }
    if (!is_timed(trace, op)) {
      ++result.untimed_count;
      continue;
    }
    if (trace.op.kind[op] == trace::kMemoryWait) continue;  // waits; the stream is idle meanwhile
    const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
    if (result.first_start_ns == kUnknownNs) result.first_start_ns = result.last_end_ns = start;
    // Ops of one stream overlap only inside a graph or under programmatic launch: count such time
    // once.
    const Ns from = std::max(start, result.last_end_ns);
    result.busy_ns += std::max<Ns>(0, end - from);
    result.last_end_ns = std::max(result.last_end_ns, end);
  }
  return result;
}

}  // namespace

Issue issue_of(const Trace& trace, Id op) {
  const Id call = trace.op.api_call_id[op];
  if (call >= trace.api_call.size()) return {};
  return {trace.api_call.start_ns[call], trace.api_call.end_ns[call],
          trace.api_call.thread_id[call]};
}

bool is_timed(const Trace& trace, Id op) {
  return trace.op.start_ns[op] != kUnknownNs && trace.op.end_ns[op] != kUnknownNs &&
         trace.op.start_ns[op] <= trace.op.end_ns[op];
}

bool takes_time_stamp(const Trace& trace, Id record) {
  constexpr trace::Small kDisableTiming = 2;
  const Id event = trace.event_record.event_id[record];
  if (event >= trace.event.size()) return false;
  const trace::Small flags = trace.event.flags[event];
  return flags != trace::kNoSmall && (flags & kDisableTiming) == 0;
}

Timeline::Timeline(const Trace& trace)
    : first_(trace.stream.size() + 1, 0), predecessor_(trace.op.size(), kNoId) {
  const size_t streams = trace.stream.size();
  for (Id stream : trace.op.stream_id) {
    if (stream < streams) ++first_[stream + 1];
  }
  for (size_t stream = 0; stream < streams; ++stream) first_[stream + 1] += first_[stream];
  ops_.resize(first_[streams]);
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    if (stream < streams) ops_[next[stream]++] = op;
  }

  activity_.reserve(streams);
  for (Id stream = 0; stream < streams; ++stream) {
    const std::span<Id> lane(ops_.data() + first_[stream], first_[stream + 1] - first_[stream]);
    order_stream(trace, lane);
    for (size_t i = 1; i < lane.size(); ++i) predecessor_[lane[i]] = lane[i - 1];
    const StreamActivity& activity = activity_.emplace_back(measure(trace, lane));
    if (activity.first_start_ns == kUnknownNs) continue;
    first_start_ns_ = first_start_ns_ == kUnknownNs
                          ? activity.first_start_ns
                          : std::min(first_start_ns_, activity.first_start_ns);
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
