// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lanes of a device besides its streams: the work issued in the host's NVTX ranges, and the copies
// of each direction, which share an engine across streams.

#include <algorithm>
#include <map>

#include "intervals.h"
#include "lane_builder.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

constexpr size_t kMaxDeviceRangeRows = 8;
constexpr size_t kMaxCopyRows = 2;

std::string title_of(Category direction) {
  return direction == Category::kCopyToDevice ? "Copies to device"
         : direction == Category::kCopyToHost ? "Copies to host"
                                              : "Copies on device";
}

// A call or the start of a range, on the host.
struct Moment {
  Ns at_ns;
  bool is_range;
  Id id;
};

// Those of each thread, in order of time; a range comes before calls that start with it.
std::map<Id, std::vector<Moment>> moments_by_thread(const trace::Trace& trace, Id device) {
  std::map<Id, std::vector<Moment>> moments;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id call = trace.op.api_call_id[op];
    if (trace.op.start_ns[op] == kUnknownNs || trace.op.end_ns[op] == kUnknownNs ||
        call >= trace.api_call.size() || trace.api_call.start_ns[call] == kUnknownNs ||
        trace.device_of_stream(trace.op.stream_id[op]) != device)
      continue;
    moments[trace.api_call.thread_id[call]].push_back({trace.api_call.start_ns[call], false, op});
  }
  for (Id range = 0; range < trace.range.size(); ++range) {
    const auto of_thread = moments.find(trace.range.thread_id[range]);
    if (of_thread != moments.end() && trace.range.start_ns[range] != kUnknownNs)
      of_thread->second.push_back({trace.range.start_ns[range], true, range});
  }
  for (auto& [thread, of_thread] : moments) {
    std::ranges::stable_sort(of_thread, [](const Moment& a, const Moment& b) {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.is_range > b.is_range;
    });
  }
  return moments;
}

}  // namespace

void LaneBuilder::add_gpu_ranges(Id process, Id device, int parent) {
  const auto& op = trace_.op;
  const auto& range = trace_.range;
  if (range.empty()) return;
  std::vector<Interval> intervals;
  for (const auto& [thread, moments] : moments_by_thread(trace_, device)) {
    if (trace_.process_of_thread(thread) != process) continue;
    std::map<Id, TimeRange> work;  // of the ranges, on the device
    std::vector<Id> open;
    for (const Moment& moment : moments) {
      std::erase_if(open, [&](Id id) {
        return range.end_ns[id] != kUnknownNs && range.end_ns[id] <= moment.at_ns;
      });
      if (moment.is_range) {
        open.push_back(moment.id);
        continue;
      }
      const TimeRange ran{op.start_ns[moment.id], op.end_ns[moment.id]};
      for (const Id id : open) {
        TimeRange& all = work.try_emplace(id, ran).first->second;
        all.begin_ns = std::min(all.begin_ns, ran.begin_ns);
        all.end_ns = std::max(all.end_ns, ran.end_ns);
      }
    }
    for (const auto& [id, time] : work) intervals.push_back({time, {ItemKind::kRange, id}});
  }
  if (intervals.empty()) return;
  sort_by_start(intervals);
  Lane lane{.kind = LaneKind::kGpuRanges,
            .depth = 2,
            .parent = parent,
            .object = device,
            .title = "NVTX on the GPU",
            .detail = "work issued in each range"};
  add_bands(from_.items, lane, BandKind::kGpuRanges, intervals, kMaxDeviceRangeRows);
  add(std::move(lane));
}

void LaneBuilder::add_copies(std::span<const Id> streams, int parent) {
  std::vector<char> is_here(trace_.stream.size(), 0);
  for (const Id stream : streams) is_here[stream] = 1;
  std::map<Category, std::vector<Interval>> copies;
  for (Id id = 0; id < trace_.op.size(); ++id) {
    if (trace_.op.kind[id] != trace::kMemcpy || trace_.op.start_ns[id] == kUnknownNs) continue;
    const Id stream = trace_.op.stream_id[id];
    const Item item{ItemKind::kOp, id};
    const auto range = from_.items.time(item);
    if (range && stream < is_here.size() && is_here[stream])
      copies[from_.items.category(item)].push_back({*range, item});
  }
  for (auto& [direction, intervals] : copies) {
    sort_by_start(intervals);
    Lane lane{.kind = LaneKind::kCopies,
              .depth = 2,
              .parent = parent,
              .object = static_cast<Id>(direction),
              .title = title_of(direction),
              .detail = "all streams",
              .busy_share = busy_share(intervals, from_.extent)};
    add_bands(from_.items, lane, BandKind::kCopies, intervals, kMaxCopyRows);
    add(std::move(lane));
  }
}

}  // namespace streamscope::viewer
