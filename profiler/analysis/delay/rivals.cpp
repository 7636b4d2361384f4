// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "rivals.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "analysis/large_vector.h"

namespace streamscope::analysis {
namespace {

// How much of a device a kernel fills: 1 and more if no block of another fits beside it.
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
      // Limits of one multiprocessor of the GPUs of today (compute capability 8.0 and 9.0).
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

// The kernels of a device that started last; older ones have ended long ago or are few.
class Running {
 public:
  struct Kernel {
    Id op;
    Ns end_ns;
    double share;
  };
  void add(Kernel kernel) { last_[next_++ % last_.size()] = kernel; }
  // Of those that ended within [from, to], the one that ended last; kNoId unless the device was
  // full until then.
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
  std::array<Kernel, 32> last_ = [] {
    std::array<Kernel, 32> none;
    none.fill({kNoId, 0, 0});
    return none;
  }();
  size_t next_ = 0;
};

}  // namespace

// The order is nearly right already, which sorts that compare do not use: ops go into short
// intervals of time first, so that a few of each are left to sort.
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
  // Per interval: its first place.
  std::vector<Id> next = large_vector<Id>((since_first(last) >> shift) + 2, 0);
  for (Id op : timed) ++next[interval(op) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Id> result = large_vector(timed.size(), kNoId);
  for (Id op : timed) result[next[interval(op)]++] = op;
  // Now the first place of the interval behind it.
  Id begin = 0;
  for (Id end : next) {
    std::sort(result.begin() + begin, result.begin() + end,
              [&](Id a, Id b) { return std::tuple(start_ns[a], a) < std::tuple(start_ns[b], b); });
    begin = end;
  }
  return result;
}

Rivals::Rivals(const IssueOrder& order, const std::vector<Id>& by_start)
    : rival_(large_vector(order.trace().op.size(), kNoId)),
      kind_(large_vector(order.trace().op.size(), kNone)) {
  const Trace& trace = order.trace();
  const auto& ops = trace.op;
  const Occupancy occupancy(trace);
  struct DeviceState {
    std::array<Id, 12> engine;  // newest copy by direction
    Running running;
    double sm_count = 0;
    bool one_engine = false;
    struct {
      Id last_ended = kNoId, idle_after = kNoId;  // before its last idle time
      Ns idle_until = kUnknownNs;
    } kernels, all;
    DeviceState() { engine.fill(kNoId); }
  };
  std::vector<DeviceState> devices(trace.device.size());
  for (Id device = 0; device < devices.size(); ++device) {
    devices[device].sm_count = std::max(0, trace.device.sm_count[device]);
    devices[device].one_engine = trace.device.copy_engines[device] == 1;
  }
  std::vector<Id> host_function(trace.context.size(), kNoId);
  // Newest op of a hardware queue. Channels are small numbers, but odd traces exist.
  constexpr trace::Small kMostChannels = 256;
  std::vector<std::array<Id, kMostChannels>> channels(trace.context.size());
  for (auto& channel : channels) channel.fill(kNoId);
  std::vector<Id> context_of(trace.stream.size(), kNoId), device_of(trace.stream.size(), kNoId);
  for (Id stream = 0; stream < trace.stream.size(); ++stream) {
    const Id context = trace.stream.context_id[stream];
    if (context < trace.context.size()) context_of[stream] = context;
    const Id device = trace.device_of_stream(stream);
    if (device < devices.size()) device_of[stream] = device;
  }
  for (Id op : by_start) {
    const Id stream = ops.stream_id[op];
    if (stream >= trace.stream.size()) continue;
    const Id context = context_of[stream], device = device_of[stream];
    const auto rival = [&](Id other, Kind kind) {
      if (other == kNoId || ops.stream_id[other] == stream) return;
      rival_[op] = other;
      kind_[op] = kind;
    };
    const trace::Small kind = ops.kind[op];
    if (device != kNoId) {
      // Work that starts just after a device was idle waited for the same reason as the first.
      constexpr Ns kIdleNs = 10'000, kTogetherNs = 50'000;
      DeviceState& state = devices[device];
      const Ns start = ops.start_ns[op];
      const auto run_on = [&](auto& units) {
        const Id last = units.last_ended;
        if (last == kNoId || start > ops.end_ns[last] + kIdleNs) {
          units.idle_after = last;
          units.idle_until = start;
        }
        if (units.idle_until != kUnknownNs && start - units.idle_until <= kTogetherNs) {
          rival_[op] = units.idle_after;
          kind_[op] = kIdleDevice;
        }
        if (last == kNoId || ops.end_ns[op] >= ops.end_ns[last]) units.last_ended = op;
      };
      run_on(state.all);
      if (kind == trace::kKernel) run_on(state.kernels);
    }
    if (kind == trace::kMemcpy && device != kNoId) {
      const trace::Small direction = std::clamp(ops.detail[op], 0, 11);
      Id& newest = devices[device].engine[devices[device].one_engine ? 0 : direction];
      rival(newest, kCopyEngine);
      // The one that keeps the engine longest stands in the way.
      if (newest == kNoId || ops.end_ns[newest] <= ops.end_ns[op]) newest = op;
    } else if (kind == trace::kHostFunction && context != kNoId) {
      rival(host_function[context], kHostFunction);
      host_function[context] = op;
    } else if (kind == trace::kKernel && device != kNoId) {
      DeviceState& state = devices[device];
      const double share = occupancy.of(op, state.sm_count);
      if (share > 0) {
        rival(state.running.that_made_room(ops.start_ns[op], share), kSmFull);
        state.running.add({op, ops.end_ns[op], share});
      }
    }
    const trace::Small channel = ops.channel[op];
    if (context == kNoId || channel < 0 || channel >= kMostChannels) continue;
    Id& newest = channels[context][static_cast<size_t>(channel)];
    // Only what was issued earlier stands before it in the queue.
    if (newest != kNoId && (kind_[op] == kNone || kind_[op] == kIdleDevice) &&
        order.issue(newest).end_ns <= order.issue(op).end_ns) {
      rival(newest, kQueueAliasing);
    }
    newest = op;
  }
}

Ns Rivals::gone_ns(const Trace& trace, Id op) const {
  if (rival_[op] == kNoId || kind_[op] == kIdleDevice) return kUnknownNs;
  return kind_[op] == kQueueAliasing ? trace.op.start_ns[rival_[op]] : trace.op.end_ns[rival_[op]];
}

}  // namespace streamscope::analysis
