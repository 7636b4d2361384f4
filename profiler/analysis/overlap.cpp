// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "overlap.h"
#include "trace/ns_math.h"

#include <algorithm>

namespace streamscope::analysis {
namespace {

struct BusyChange {
  Ns at_ns;
  int8_t kernels, copies, ops;  // by how much the numbers of running ones change
};

}  // namespace

std::vector<DeviceOverlap> overlap(const Trace& trace) {
  std::vector<std::vector<BusyChange>> changes(trace.device.size() +
                                               1);  // the last: device unknown
  std::vector<size_t> device_of(trace.stream.size() + 1, trace.device.size());
  for (Id stream = 0; stream < trace.stream.size(); ++stream) {
    device_of[stream] = std::min<size_t>(trace.device_of_stream(stream), trace.device.size());
  }
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_timed(trace, op)) continue;
    const Id stream = std::min<Id>(trace.op.stream_id[op], static_cast<Id>(trace.stream.size()));
    const trace::Small kind = trace.op.kind[op];
    const int8_t kernel = kind == trace::kKernel;
    const int8_t copy = kind == trace::kMemcpy || kind == trace::kMemset;
    auto& list = changes[device_of[stream]];
    list.push_back({trace.op.start_ns[op], kernel, copy, 1});
    list.push_back(
        {trace.op.end_ns[op], static_cast<int8_t>(-kernel), static_cast<int8_t>(-copy), -1});
  }

  std::vector<DeviceOverlap> result;
  for (Id device = 0; device < changes.size(); ++device) {
    auto& list = changes[device];
    if (list.empty()) continue;
    std::sort(list.begin(), list.end(),
              [](const BusyChange& a, const BusyChange& b) { return a.at_ns < b.at_ns; });
    DeviceOverlap& found = result.emplace_back();
    if (device < trace.device.size()) found.device_id = device;
    found.first_start_ns = list.front().at_ns;
    found.last_end_ns = list.back().at_ns;
    int64_t kernels = 0, copies = 0, ops = 0;
    Ns at = found.first_start_ns;
    for (const BusyChange& change : list) {
      const Ns span = change.at_ns - at;
      if (span > 0) {
        if (kernels > 0) trace::add_to(found.kernel_ns, span);
        if (copies > 0) trace::add_to(found.copy_ns, span);
        if (kernels > 0 && copies > 0) trace::add_to(found.both_ns, span);
        if (found.concurrency_ns.size() <= static_cast<size_t>(ops))
          found.concurrency_ns.resize(ops + 1, 0);
        trace::add_to(found.concurrency_ns[ops], span);
        at = change.at_ns;
      }
      kernels += change.kernels;
      copies += change.copies;
      ops += change.ops;
    }
  }
  return result;
}

}  // namespace streamscope::analysis
