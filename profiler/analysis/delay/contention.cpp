// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "contention.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "analysis/large_vector.h"

namespace streamscope::analysis {
namespace {

// How much of a device a kernel fills: 1 or more if no block of another kernel fits.
class Occupancy {
 public:
  explicit Occupancy(const Trace& trace) : trace_(trace), waves_(trace.launch_shape.size()) {
    const auto& shapes = trace.launch_shape;
    for (Id shape = 0; shape < waves_.size(); ++shape) {
      const auto known = [](auto value) { return value < 0 ? 0 : static_cast<double>(value); };
      const double threads =
          std::max(1.0, known(shapes.block_x[shape]) * std::max(1.0, known(shapes.block_y[shape])) *
                            std::max(1.0, known(shapes.block_z[shape])));
      const double blocks = known(shapes.grid_x[shape]) *
                            std::max(1.0, known(shapes.grid_y[shape])) *
                            std::max(1.0, known(shapes.grid_z[shape]));
      // Limits of one multiprocessor of current GPUs (compute capability 8.0 and 9.0).
      double per_sm = std::min(32.0, std::max(1.0, 2048 / threads));
      const double registers = known(shapes.registers[shape]) * threads;
      if (registers > 0) per_sm = std::min(per_sm, std::max(1.0, 65536 / registers));
      const double shared =
          known(shapes.static_shared_bytes[shape]) + known(shapes.dynamic_shared_bytes[shape]);
      if (shared > 0) per_sm = std::min(per_sm, std::max(1.0, 228 * 1024 / shared));
      waves_[shape] = blocks / per_sm;
    }
  }
  double of(Id op, double sm_count) const {
    const Id shape = trace_.op.launch_shape_id[op];
    return shape < waves_.size() && sm_count > 0 ? waves_[shape] / sm_count : 0;
  }

 private:
  const Trace& trace_;
  std::vector<double> waves_;  // per shape: multiprocessors it fills
};

// The most recently started kernels of a device; older ones ended long ago or are few.
class Running {
 public:
  struct Kernel {
    Id op = kNoId;
    Ns end_ns = 0;
    double share = 0;
  };
  void add(Kernel kernel) { last_[next_++ % last_.size()] = kernel; }
  // The kernel that ended last shortly before `to`; kNoId unless the device was full until then.
  Id that_made_room(Ns to, double wanted) const {
    constexpr Ns kLongestHandOver = 10'000;
    const Kernel* best = nullptr;
    for (const Kernel& k : last_) {
      if (k.op != kNoId && k.end_ns <= to && k.end_ns > to - kLongestHandOver &&
          (!best || k.end_ns > best->end_ns)) {
        best = &k;
      }
    }
    if (!best) return kNoId;
    double share = 0;
    for (const Kernel& k : last_) {
      if (k.op != kNoId && k.end_ns >= best->end_ns) share += k.share;
    }
    return share + std::min(wanted, 0.05) > 1.0 ? best->op : kNoId;
  }

 private:
  std::array<Kernel, 32> last_;
  size_t next_ = 0;
};

// Visits all ops by start time and keeps the latest user of each part of a device.
class ContenderSearch {
 public:
  /// `contender` and `kind`: of every op, filled by run().
  ContenderSearch(const IssueOrder& order, std::vector<Id>& contender,
                  std::vector<Contention::Kind>& kind)
      : order_(order),
        trace_(order.trace()),
        contender_(contender),
        kind_(kind),
        occupancy_(trace_),
        devices_(trace_.device.size()),
        host_function_(trace_.context.size(), kNoId),
        channels_(trace_.context.size()),
        context_of_(trace_.stream.size(), kNoId),
        device_of_(trace_.stream.size(), kNoId) {
    for (Id device = 0; device < devices_.size(); ++device) {
      devices_[device].sm_count = std::max(0, trace_.device.sm_count[device]);
      devices_[device].one_engine = trace_.device.copy_engines[device] == 1;
    }
    for (auto& channel : channels_) channel.fill(kNoId);
    for (Id stream = 0; stream < trace_.stream.size(); ++stream) {
      const Id context = trace_.stream.context_id[stream];
      if (context < trace_.context.size()) context_of_[stream] = context;
      const Id device = trace_.device_of_stream(stream);
      if (device < devices_.size()) device_of_[stream] = device;
    }
  }

  void run(const std::vector<Id>& by_start) {
    for (Id op : by_start) {
      const Id stream = trace_.op.stream_id[op];
      if (stream >= trace_.stream.size()) continue;
      if (device_of_[stream] != kNoId) follow_idle_time(op, devices_[device_of_[stream]]);
      follow_unit(op, stream);
      follow_queue(op, stream);
    }
  }

 private:
  static constexpr trace::Small kMostChannels = 256;  // usually small, but malformed traces exist

  // When a device, or its kernels, last ran without a pause.
  struct Activity {
    Id last_ended = kNoId, idle_after = kNoId;  // idle_after: the op before the last idle time
    Ns idle_until = kUnknownNs;
  };
  struct DeviceState {
    std::array<Id, 12> engine;  // newest copy by direction
    Running running;
    double sm_count = 0;
    bool one_engine = false;
    Activity kernels, all;
    DeviceState() { engine.fill(kNoId); }
  };

  void found(Id op, Id other, Contention::Kind kind) {
    contender_[op] = other;
    kind_[op] = kind;
  }
  void found_on_other_stream(Id op, Id other, Contention::Kind kind) {
    if (other != kNoId && trace_.op.stream_id[other] != trace_.op.stream_id[op])
      found(op, other, kind);
  }

  void follow_idle_time(Id op, DeviceState& state) {
    follow_idle_time(op, state.all);
    if (trace_.op.kind[op] == trace::kKernel) follow_idle_time(op, state.kernels);
  }
  // Work that starts just after an idle period waited for the same reason as the first op.
  void follow_idle_time(Id op, Activity& activity) {
    constexpr Ns kIdleNs = 10'000, kTogetherNs = 50'000;
    const auto& end_ns = trace_.op.end_ns;
    const Ns start = trace_.op.start_ns[op];
    const Id last = activity.last_ended;
    if (last == kNoId || start > end_ns[last] + kIdleNs) {
      activity.idle_after = last;
      activity.idle_until = start;
    }
    if (activity.idle_until != kUnknownNs && start - activity.idle_until <= kTogetherNs)
      found(op, activity.idle_after, Contention::kIdleDevice);
    if (last == kNoId || end_ns[op] >= end_ns[last]) activity.last_ended = op;
  }

  // The engine, the thread or the multiprocessors that an op needs.
  void follow_unit(Id op, Id stream) {
    const auto& ops = trace_.op;
    const Id context = context_of_[stream], device = device_of_[stream];
    const trace::Small kind = ops.kind[op];
    if (kind == trace::kMemcpy && device != kNoId) {
      const trace::Small direction = std::clamp(ops.detail[op], 0, 11);
      Id& newest = devices_[device].engine[devices_[device].one_engine ? 0 : direction];
      found_on_other_stream(op, newest, Contention::kCopyEngine);
      // The copy that occupies the engine longest blocks the others.
      if (newest == kNoId || ops.end_ns[newest] <= ops.end_ns[op]) newest = op;
    } else if (kind == trace::kHostFunction && context != kNoId) {
      found_on_other_stream(op, host_function_[context], Contention::kHostFunction);
      host_function_[context] = op;
    } else if (kind == trace::kKernel && device != kNoId) {
      DeviceState& state = devices_[device];
      const double share = occupancy_.of(op, state.sm_count);
      if (share <= 0) return;
      found_on_other_stream(op, state.running.that_made_room(ops.start_ns[op], share),
                            Contention::kSmFull);
      state.running.add({op, ops.end_ns[op], share});
    }
  }

  void follow_queue(Id op, Id stream) {
    const trace::Small channel = trace_.op.channel[op];
    const Id context = context_of_[stream];
    if (context == kNoId || channel < 0 || channel >= kMostChannels) return;
    Id& newest = channels_[context][static_cast<size_t>(channel)];
    // Only work that was issued earlier is ahead of it in the queue.
    if (newest != kNoId &&
        (kind_[op] == Contention::kNone || kind_[op] == Contention::kIdleDevice) &&
        order_.issue(newest).end_ns <= order_.issue(op).end_ns)
      found_on_other_stream(op, newest, Contention::kQueueAliasing);
    newest = op;
  }

  const IssueOrder& order_;
  const Trace& trace_;
  std::vector<Id>& contender_;
  std::vector<Contention::Kind>& kind_;
  const Occupancy occupancy_;
  std::vector<DeviceState> devices_;
  std::vector<Id> host_function_;                        // newest of each context
  std::vector<std::array<Id, kMostChannels>> channels_;  // newest op of each hardware queue
  std::vector<Id> context_of_, device_of_;               // of each stream
};

}  // namespace

// The ops are nearly sorted, which comparison sorts do not exploit: distribute them over short time
// intervals first, then sort the few ops of each interval.
std::vector<Id> ops_by_start(const Trace& trace) {
  const auto& start_ns = trace.op.start_ns;
  std::vector<Id> timed;
  reserve_large(timed, trace.op.size());
  bool sorted = true;
  Ns last = kUnknownNs, first = std::numeric_limits<Ns>::max();
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_timed(trace, op)) continue;
    sorted &= start_ns[op] >= last;
    last = std::max(last, start_ns[op]);
    first = std::min(first, start_ns[op]);
    timed.push_back(op);
  }
  if (sorted) return timed;
  constexpr size_t kOpsEach = 4;
  int shift = 0;
  const auto since_first = [first](Ns at) {
    return static_cast<uint64_t>(at) - static_cast<uint64_t>(first);
  };
  while (since_first(last) >> shift > timed.size() / kOpsEach + 1) ++shift;
  const auto interval = [&](Id op) { return since_first(start_ns[op]) >> shift; };
  // The first index of each interval.
  std::vector<Id> next = large_vector<Id>((since_first(last) >> shift) + 2, 0);
  for (Id op : timed) ++next[interval(op) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Id> result = large_vector(timed.size(), kNoId);
  for (Id op : timed) result[next[interval(op)]++] = op;
  // Now the first index of the next interval.
  Id begin = 0;
  for (Id end : next) {
    std::sort(result.begin() + begin, result.begin() + end,
              [&](Id a, Id b) { return std::tuple(start_ns[a], a) < std::tuple(start_ns[b], b); });
    begin = end;
  }
  return result;
}

Contention::Contention(const IssueOrder& order, const std::vector<Id>& by_start)
    : contender_(large_vector(order.trace().op.size(), kNoId)),
      kind_(large_vector(order.trace().op.size(), kNone)) {
  ContenderSearch(order, contender_, kind_).run(by_start);
}

Ns Contention::gone_ns(const Trace& trace, Id op) const {
  if (contender_[op] == kNoId || kind_[op] == kIdleDevice) return kUnknownNs;
  return kind_[op] == kQueueAliasing ? trace.op.start_ns[contender_[op]]
                                     : trace.op.end_ns[contender_[op]];
}

}  // namespace streamscope::analysis
