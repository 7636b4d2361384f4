// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "overlap.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// One device; receives its ops ordered by start.
class Sweep {
 public:
  Sweep(Id device, const IterationSlots& slots) : slots_(slots) { found_.device_id = device; }

  void start(Ns start_ns, Ns end_ns, trace::Small kind) {
    end_until(start_ns);
    if (found_.first_start_ns == kUnknownNs) found_.first_start_ns = at_ns_ = start_ns;
    pass_to(start_ns);
    running_.push({end_ns, kind});
    count(kind, 1);
  }
  bool has_ops() const { return found_.first_start_ns != kUnknownNs; }
  DeviceOverlap finish() {
    end_until(std::numeric_limits<Ns>::max());
    finish_slot(slot_);
    found_.last_end_ns = at_ns_;
    return std::move(found_);
  }

 private:
  struct Running {
    Ns end_ns;
    trace::Small kind;
    bool operator>(const Running& other) const { return end_ns > other.end_ns; }
  };

  void end_until(Ns until) {
    for (; !running_.empty() && running_.top().end_ns <= until; running_.pop()) {
      pass_to(running_.top().end_ns);
      count(running_.top().kind, -1);
    }
  }
  void count(trace::Small kind, int by) {
    kernels_ += kind == trace::kKernel ? by : 0;
    copies_ += kind == trace::kMemcpy || kind == trace::kMemset ? by : 0;
  }
  // Nothing starts or ends before `next_ns`.
  void pass_to(Ns next_ns) {
    const Ns span = next_ns - at_ns_;
    if (span <= 0) return;
    at_ns_ = next_ns;
    if (in_slot_.size() <= running_.size()) in_slot_.resize(running_.size() + 1, 0);
    slots_.cut(next_ns - span, next_ns, [&](uint32_t slot, Ns time) {
      if (slot != slot_) finish_slot(slot);
      if (kernels_ > 0) trace::add_to(kernels_in_slot_, time);
      if (copies_ > 0) trace::add_to(copies_in_slot_, time);
      if (kernels_ > 0 && copies_ > 0) trace::add_to(both_in_slot_, time);
      trace::add_to(in_slot_[running_.size()], time);
    });
  }
  void finish_slot(uint32_t next) {
    const uint32_t slot = std::exchange(slot_, next);
    found_.kernels.add(slot, std::exchange(kernels_in_slot_, 0));
    found_.copies.add(slot, std::exchange(copies_in_slot_, 0));
    found_.both.add(slot, std::exchange(both_in_slot_, 0));
    found_.concurrency.resize(in_slot_.size());
    for (size_t i = 0; i < in_slot_.size(); ++i)
      found_.concurrency[i].add(slot, std::exchange(in_slot_[i], 0));
  }

  IterationSlots slots_;
  DeviceOverlap found_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  int64_t kernels_ = 0, copies_ = 0;
  // Sums of a slot: most intervals lie in that of the one before.
  uint32_t slot_ = 0;
  Ns kernels_in_slot_ = 0, copies_in_slot_ = 0, both_in_slot_ = 0;
  std::vector<Ns> in_slot_ = {0};  // by how many ops run
  Ns at_ns_ = 0;
};

}  // namespace

std::vector<DeviceOverlap> overlap(const Trace& trace, std::span<const Id> by_start,
                                   const IterationSlots& slots) {
  std::vector<Sweep> devices;
  for (Id device = 0; device < trace.device.size(); ++device) devices.emplace_back(device, slots);
  devices.emplace_back(kNoId, slots);
  std::vector<size_t> device_of(trace.stream.size() + 1, trace.device.size());
  for (Id stream = 0; stream < trace.stream.size(); ++stream)
    device_of[stream] = std::min<size_t>(trace.device_of_stream(stream), trace.device.size());
  for (const Id op : by_start) {
    const size_t stream = std::min<size_t>(trace.op.stream_id[op], trace.stream.size());
    devices[device_of[stream]].start(trace.op.start_ns[op], trace.op.end_ns[op], trace.op.kind[op]);
  }
  std::vector<DeviceOverlap> result;
  for (Sweep& device : devices) {
    if (device.has_ops()) result.push_back(device.finish());
  }
  return result;
}

}  // namespace streamscope::analysis
