// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "stalls.h"

#include <algorithm>
#include <map>

namespace streamscope::analysis {
namespace {

constexpr Ns kFollowsNs = 10'000;  // an op starts within this time after its blocker ended

// How many streams of a device had work behind something unfinished, over time.
class BlockedStreams {
 public:
  void add(Id stream, Ns from, Ns to) { intervals_[stream].push_back({from, to}); }
  void finish() {
    for (auto& [stream, intervals] : intervals_) {
      std::sort(intervals.begin(), intervals.end());
      Ns until = kUnknownNs;
      for (const auto& [start, end] : intervals) {
        if (until == kUnknownNs || start > until) {
          if (until != kUnknownNs) counts_.push_back({until, -1});
          counts_.push_back({start, +1});
        }
        until = std::max(until, end);
      }
      counts_.push_back({until, -1});
    }
    std::sort(counts_.begin(), counts_.end());
    int64_t count = 0;
    for (auto& [at, change] : counts_) {
      count += change;
      change = count;
    }
  }
  size_t at(Ns instant) const {
    const auto found =
        std::ranges::upper_bound(counts_, instant, {}, &std::pair<Ns, int64_t>::first);
    return found == counts_.begin() ? 0 : static_cast<size_t>(std::prev(found)->second);
  }

 private:
  std::map<Id, std::vector<std::pair<Ns, Ns>>> intervals_;
  std::vector<std::pair<Ns, int64_t>> counts_;  // changes, after finish() their sums; by time
};

// The times just before the starts of late ops. Ops that started or ended at other times, which is
// most of a large trace, are irrelevant to them.
class Moments {
 public:
  /// Call in order of `start`.
  void add(Ns start) {
    if (!moments_.empty() && start - kFollowsNs <= moments_.back().second)
      moments_.back().second = start;
    else
      moments_.push_back({start - kFollowsNs, start});
  }
  /// Fast if consecutive queries are close in time.
  bool contain(Ns instant) {
    while (next_ > 0 && moments_[next_ - 1].second >= instant) --next_;
    while (next_ < moments_.size() && moments_[next_].second < instant) ++next_;
    return next_ < moments_.size() && moments_[next_].first <= instant;
  }

 private:
  std::vector<std::pair<Ns, Ns>> moments_;  // by time, disjoint
  size_t next_ = 0;
};

struct Device {
  BlockedStreams blocked;
  Moments moments_of_starts, moments_of_ends;  // the same, queried in different orders
  std::vector<std::pair<Ns, Id>> ends;         // of the relevant ops
  std::map<trace::Small, std::vector<std::pair<Ns, Id>>> starts;  // by channel
};

// The op that another stream issued before this one and that left its hardware queue just before it
// started; kNoId if there is none, or if the queue is unknown.
Id left_channel_before(Analyses& analyses, const Device& device, Id op) {
  const Trace& trace = analyses.trace();
  const auto channel = device.starts.find(trace.op.channel[op]);
  if (channel == device.starts.end()) return kNoId;
  const Ns start = trace.op.start_ns[op], issued = analyses.order().issue(op).end_ns;
  const auto& starts = channel->second;
  auto place = std::lower_bound(starts.begin(), starts.end(), std::pair(start, Id{0}));
  while (place != starts.begin()) {
    --place;
    if (place->first < start - kFollowsNs) break;
    if (trace.op.stream_id[place->second] != trace.op.stream_id[op] &&
        analyses.order().issue(place->second).end_ns <= issued)
      return place->second;
  }
  return kNoId;
}

// The op of another stream that ended just before this one started. It must have blocked this op
// most of the time: it had started by `latest_start`.
Id ended_before(const Trace& trace, const Device& device, Id op, Ns latest_start) {
  const Ns start = trace.op.start_ns[op];
  auto place = std::upper_bound(device.ends.begin(), device.ends.end(), std::pair(start, kNoId));
  while (place != device.ends.begin()) {
    --place;
    if (place->first < start - kFollowsNs) break;
    const Id other = place->second;
    if (trace.op.stream_id[other] != trace.op.stream_id[op] &&
        trace.op.start_ns[other] <= latest_start)
      return other;
  }
  return kNoId;
}

}  // namespace

std::vector<Stall> find_stalls(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  const Replay& replay = analyses.replay();
  std::vector<Device> devices(trace.device.size());
  std::vector<Id> late;
  const auto each_op = [&](auto visit) {  // by start
    for (const Id op : analyses.by_start()) {
      if (replay.readiness(op).ready_ns == kUnknownNs) continue;
      const Id device = trace.device_of_stream(trace.op.stream_id[op]);
      if (device < devices.size()) visit(op, devices[device]);
    }
  };
  each_op([&](Id op, Device& device) {
    const Readiness& ready = replay.readiness(op);
    const Issue issue = analyses.order().issue(op);
    if (ready.ordered_ns > issue.end_ns + kFollowsNs)
      device.blocked.add(trace.op.stream_id[op], issue.end_ns, ready.ordered_ns);
    // The graph orders its nodes, and host functions run in their own thread.
    if (trace.op.kind[op] == trace::kKernel && trace.op.graph_node[op] == trace::kNoInt &&
        replay.lag_ns(op) > kStallNs) {
      late.push_back(op);
    }
  });
  std::vector<Stall> stalls;
  if (late.empty()) return stalls;
  for (Id op : late) {
    Device& device = devices[trace.device_of_stream(trace.op.stream_id[op])];
    device.moments_of_starts.add(trace.op.start_ns[op]);
    device.moments_of_ends.add(trace.op.start_ns[op]);
  }
  each_op([&](Id op, Device& device) {
    const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
    if (device.moments_of_ends.contain(end)) device.ends.push_back({end, op});
    const trace::Small channel = trace.op.channel[op];
    if (channel != trace::kNoSmall && device.moments_of_starts.contain(start))
      device.starts[channel].push_back({start, op});
  });
  for (Device& device : devices) {
    device.blocked.finish();
    std::sort(device.ends.begin(), device.ends.end());
  }
  for (Id op : late) {
    const Id device_id = trace.device_of_stream(trace.op.stream_id[op]);
    const Device& device = devices[device_id];
    const Ns ready = replay.readiness(op).ready_ns;
    Stall stall{.op = op, .lasted_ns = trace.op.start_ns[op] - ready};
    if (const trace::Small known = trace.device.max_connections[device_id]; known > 0)
      stall.connections = static_cast<size_t>(known);
    stall.blocked_streams = device.blocked.at(ready);
    stall.behind = left_channel_before(analyses, device, op);
    stall.same_channel = stall.behind != kNoId;
    if (stall.behind == kNoId)
      stall.behind = ended_before(trace, device, op, ready + stall.lasted_ns / 2);
    if (stall.behind != kNoId) stalls.push_back(stall);
  }
  return stalls;
}

}  // namespace streamscope::analysis
