// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "overlap.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace streamscope::analysis {
namespace {

// One device; receives its ops ordered by start.
class Sweep {
 public:
  Sweep(Id device, const IterationSlots& slots) : slots_(slots) { found_.device_id = device; }

  void start(Ns start_ns, Ns end_ns, trace::Small kind) {
    end_until(start_ns);
    if (!has_ops()) begin(start_ns);
    pass_to(start_ns);
    running_.push({end_ns, kind});
    count(kind, 1);
  }
  bool has_ops() const { return found_.first_start_ns != kUnknownNs; }
  DeviceOverlap finish() {
    end_until(std::numeric_limits<Ns>::max());
    finish_slot();
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
    copies_ += is_memory_operation(kind) ? by : 0;
  }
  void begin(Ns start_ns) {
    found_.first_start_ns = at_ns_ = start_ns;
    slot_ = slots_.of(start_ns);
  }
  // Nothing starts or ends before `next_ns`.
  void pass_to(Ns next_ns) {
    if (next_ns <= at_ns_) return;
    if (in_slot_.size() <= running_.size()) in_slot_.resize(running_.size() + 1);
    Ns& time =
        in_slot_[running_.size()][(kernels_ > 0 ? kKernels : 0) | (copies_ > 0 ? kCopies : 0)];
    slots_.cut(at_ns_, next_ns, [&](uint32_t slot, Ns part) {
      if (slot != slot_) finish_slot();
      slot_ = slot;
      time += part;
    });
    at_ns_ = next_ns;
  }
  void finish_slot() {
    found_.concurrency.resize(in_slot_.size());
    for (size_t i = 0; i < in_slot_.size(); ++i) {
      for (const Ns time : in_slot_[i]) found_.concurrency[i].add(slot_, time);
      found_.kernels.add(slot_, in_slot_[i][kKernels]);
      found_.kernels.add(slot_, in_slot_[i][kKernels | kCopies]);
      found_.copies.add(slot_, in_slot_[i][kCopies]);
      found_.copies.add(slot_, in_slot_[i][kKernels | kCopies]);
      found_.both.add(slot_, in_slot_[i][kKernels | kCopies]);
      in_slot_[i] = {};
    }
  }

  IterationSlots slots_;
  DeviceOverlap found_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  int64_t kernels_ = 0, copies_ = 0;
  uint32_t slot_ = 0;
  // Times in the slot, by how many ops run and whether kernels and copies are among them.
  static constexpr size_t kKernels = 1, kCopies = 2;
  std::vector<std::array<Ns, 4>> in_slot_ = std::vector<std::array<Ns, 4>>(1);
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
