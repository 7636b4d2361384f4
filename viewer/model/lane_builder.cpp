// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "lane_builder.h"

#include <algorithm>
#include <map>

#include "analysis/labels.h"
#include "intervals.h"
#include "labels.h"
#include "trace/ns_math.h"

namespace streamscope::viewer {
namespace {

using trace::kNoSmall;
using trace::kUnknownNs;

// More rows in one lane are not worth their cost; further overlapping items share the last row.
constexpr size_t kMaxOpRows = 4;
constexpr size_t kMaxOperationRows = 12;
constexpr size_t kMaxRangeRows = 16;
constexpr size_t kMaxCallRows = 4;

// A few created but unused streams are worth showing; a framework's pool of them is in the way.
constexpr size_t kUnusedShown = 4;

void append_detail(std::string& detail, const std::string& text) {
  if (!detail.empty()) detail += " \u00b7 ";
  detail += text;
}

void push_all(Row& row, const std::vector<Interval>& intervals) {
  for (const auto& [range, item] : intervals) row.push(range.begin_ns, range.end_ns, pack(item));
  row.finish();
}

// Many edges may share a record or a wait; it is added once.
void push_instants(Row& row, std::vector<Interval>& instants) {
  std::ranges::sort(instants, {}, [](const Interval& each) {
    return std::pair(each.range.begin_ns, pack(each.item));
  });
  const auto repeated = std::ranges::unique(instants, [](const Interval& a, const Interval& b) {
    return a.item == b.item && a.range == b.range;
  });
  instants.erase(repeated.begin(), repeated.end());
  push_all(row, instants);
}

struct StreamsOfDevice {
  std::vector<Id> shown;
  size_t left_out = 0;  // unused streams, if there are too many
};

// An unused default stream is not worth showing; an unused stream that the program created is.
std::map<Id, StreamsOfDevice> streams_of_devices(const trace::Trace& trace, Id process) {
  const auto& stream = trace.stream;
  std::vector<char> touched(stream.size(), 0);
  for (const trace::Column<Id>* column :
       {&trace.op.stream_id, &trace.event_record.stream_id, &trace.event_wait.stream_id}) {
    for (const Id id : *column) {
      if (id < touched.size()) touched[id] = 1;
    }
  }
  std::map<Id, StreamsOfDevice> result;
  for (Id id = 0; id < stream.size(); ++id) {
    if (trace.process_of_stream(id) != process) continue;
    if (!touched[id] &&
        (stream.kind[id] == trace::kLegacyStream || stream.kind[id] == trace::kPerThreadStream))
      continue;
    StreamsOfDevice& device = result[trace.device_of_stream(id)];
    device.shown.push_back(id);
    device.left_out += !touched[id];
  }
  for (auto& [id, device] : result) {
    if (device.left_out <= kUnusedShown) {
      device.left_out = 0;
    } else {
      std::erase_if(device.shown, [&](Id stream_id) { return !touched[stream_id]; });
    }
  }
  return result;
}

Lane device_lane(const trace::Trace& trace, Id device, int parent, size_t streams_left_out) {
  Lane lane{.kind = LaneKind::kDevice, .depth = 1, .parent = parent, .object = device};
  lane.title = "device";
  if (device < trace.device.size()) {
    const bool simulated = trace.device.simulated[device] == 1;
    const trace::Small ordinal = trace.device.ordinal[device];
    lane.title =
        "GPU " + std::to_string(ordinal == kNoSmall ? static_cast<trace::Small>(device) : ordinal);
    lane.detail = std::string(trace.text(trace.device.name_id[device]));
    if (simulated && lane.detail.find("imulated") == std::string::npos)
      append_detail(lane.detail, "simulated");
  }
  if (streams_left_out > 0)
    append_detail(lane.detail, std::to_string(streams_left_out) + " unused");
  return lane;
}

}  // namespace

size_t LaneBuilder::add(Lane lane) {
  lane.title = analysis::printable(lane.title);
  lane.detail = analysis::printable(lane.detail);
  for (const Band& band : lane.bands) {
    for (const uint8_t kind : band.row.kind) lanes_.present_[kind] = true;
  }
  lanes_.lanes_.push_back(std::move(lane));
  return lanes_.size() - 1;
}

LaneSet LaneBuilder::build() {
  for (Id process = 0; process < trace_.process.size(); ++process) add_process(process);
  add_instants();
  add_waits();
  add_path();
  return std::move(lanes_);
}

void LaneBuilder::add_process(Id process) {
  const auto& table = trace_.process;
  const std::string_view name = trace_.text(table.name_id[process]);
  Lane lane{.kind = LaneKind::kProcess,
            .object = process,
            .title = name.empty() ? "process" : std::string(name)};
  if (table.os_pid[process] != kNoSmall)
    lane.detail = "pid " + std::to_string(table.os_pid[process]);
  if (table.rank[process] != kNoSmall)
    append_detail(lane.detail, "rank " + std::to_string(table.rank[process]));
  if (table.clock[process] == trace::kVirtualClock) append_detail(lane.detail, "simulated time");
  if (const trace::Small signal = table.exit_signal[process]; signal != kNoSmall && signal != 0)
    append_detail(lane.detail, "ended by signal " + std::to_string(signal));
  const int parent = static_cast<int>(add(std::move(lane)));
  add_streams(process, parent);
  add_operations(process, parent);
  add_tasks(process, kNoId, parent);
  add_pools(process, parent);
  add_threads(process, parent);
}

void LaneBuilder::add_streams(Id process, int parent) {
  const auto& stream_id = trace_.op.stream_id;
  const Grouping ops(trace_.stream.size(), stream_id.size(),
                     [&](uint32_t op) { return stream_id[op]; });
  for (const auto& [device, streams] : streams_of_devices(trace_, process)) {
    const size_t header_lane = add(device_lane(trace_, device, parent, streams.left_out));
    const int header = static_cast<int>(header_lane);
    std::vector<Interval> all;
    bool timed = false;
    for (const Id id : streams.shown) {
      Lane lane = stream_lane(id, header, ops.of(id));
      for (const Band& band : lane.bands) {
        for (size_t i = 0; i < band.row.size(); ++i)
          all.push_back({{band.row.start_ns[i], band.row.end_ns[i]}, {}});
      }
      timed = timed || !lane.host_times;
      lanes_.of_stream_[id] = add(std::move(lane));
    }
    add_gpu_ranges(process, device, header);
    add_copies(streams.shown, header);
    add_tasks(process, device, header);
    add_device_counters(streams.shown, header);
    if (!timed) continue;
    sort_by_start(all);
    lanes_.lanes_[header_lane].busy_share = busy_share(all, from_.extent);
  }
}

Lane LaneBuilder::stream_lane(Id id, int parent, std::span<const Id> ops) const {
  const auto& stream = trace_.stream;
  Lane lane{.kind = LaneKind::kStream,
            .depth = 2,
            .parent = parent,
            .object = id,
            .title = from_.items.stream_name(id)};
  if (stream.kind[id] != kNoSmall && stream.kind[id] != trace::kLegacyStream)
    lane.detail = trace::to_string(static_cast<trace::StreamKind>(stream.kind[id]));
  if (stream.priority[id] != kNoSmall && stream.priority[id] != 0)
    append_detail(lane.detail, "priority " + std::to_string(stream.priority[id]));
  std::vector<Interval> intervals;
  intervals.reserve(ops.size());
  for (const Id op : ops) {
    const Item item{ItemKind::kOp, op};
    if (const auto range = from_.items.time(item)) intervals.push_back({*range, item});
  }
  sort_by_start(intervals);
  lane.host_times = !ops.empty() && std::ranges::all_of(ops, [&](Id op) {
    return trace_.op.start_ns[op] == kUnknownNs;
  });
  add_bands(from_.items, lane, BandKind::kOps, intervals, kMaxOpRows);
  if (!lane.host_times) lane.busy_share = busy_share(intervals, from_.extent);
  return lane;
}

// Event records and stream waits, on the streams whose work reaches them.
void LaneBuilder::add_instants() {
  std::vector<std::vector<Interval>> records(lanes_.size()), passed(lanes_.size());
  for (const Dependency& dependency : from_.edges) {
    if (dependency.wait == kNoId) continue;
    const Item from{ItemKind::kOp, dependency.from_op}, to{ItemKind::kOp, dependency.to_op};
    const auto begun = from_.items.time(to), ended = from_.items.time(from);
    if (const auto lane = lanes_.of(to); lane && begun) {
      passed[*lane].push_back(
          {{begun->begin_ns, begun->begin_ns}, {ItemKind::kEventWait, dependency.wait}});
    }
    if (const auto lane = lanes_.of(from); lane && ended && dependency.record != kNoId) {
      records[*lane].push_back(
          {{ended->end_ns, ended->end_ns}, {ItemKind::kEventRecord, dependency.record}});
    }
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].kind != LaneKind::kStream) continue;
    push_instants(lanes_.lanes_[i].records, records[i]);
    push_instants(lanes_.lanes_[i].passed_waits, passed[i]);
  }
}

void LaneBuilder::add_waits() {
  // The parts of a gap end where the op starts; the parts spent waiting for another op are drawn.
  std::vector<std::vector<Interval>> by_lane(lanes_.size());
  const Waits& waits = from_.waits;
  for (size_t first = 0, last = 0; first < waits.size(); first = last) {
    const Id op = waits[first].op;
    Ns gap = 0;
    for (; last < waits.size() && waits[last].op == op; ++last)
      trace::add_to(gap, waits[last].duration_ns);
    const auto lane = lanes_.of({ItemKind::kOp, op});
    if (!lane) continue;
    Ns at = trace::difference_of(trace_.op.start_ns[op], gap);
    for (size_t i = first; i < last; ++i) {
      const analysis::WaitPart part = waits[i];
      if (part.edge < from_.edges.size()) {
        const Id wait = from_.edges[part.edge].wait;
        const Item item =
            wait != kNoId ? Item{ItemKind::kEventWait, wait} : Item{ItemKind::kOp, op};
        by_lane[*lane].push_back({{at, trace::sum_of(at, part.duration_ns)}, item});
      }
      trace::add_to(at, part.duration_ns);
    }
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    sort_by_start(by_lane[i]);
    push_all(lanes_.lanes_[i].waits, by_lane[i]);
    lanes_.has_waits_ |= !by_lane[i].empty();
  }
}

void LaneBuilder::add_path() {
  std::vector<std::vector<Interval>> by_lane(lanes_.size());
  for (const analysis::PathStep& step : from_.insights.path) {
    if (step.kind != trace::kOpStep) continue;
    const Item item{ItemKind::kOp, step.op};
    if (const auto lane = lanes_.of(item))
      by_lane[*lane].push_back({{step.start_ns, step.end_ns}, item});
  }
  for (size_t i = 0; i < lanes_.size(); ++i) push_all(lanes_.lanes_[i].path, by_lane[i]);
}

void LaneBuilder::add_operations(Id process, int parent) {
  std::vector<Interval> intervals;
  const auto collect = [&](ItemKind kind, const auto& owners) {
    for (Id id = 0; id < owners.size(); ++id) {
      if (owners[id] != process) continue;
      if (const auto range = from_.items.time({kind, id}))
        intervals.push_back({*range, {kind, id}});
    }
  };
  collect(ItemKind::kOperation, trace_.operation.process_id);
  collect(ItemKind::kBarrier, trace_.barrier.process_id);
  if (intervals.empty()) return;
  sort_by_start(intervals);
  Lane lane{.kind = LaneKind::kOperations, .depth = 1, .parent = parent, .object = process};
  lane.title = "operations";
  lane.detail = format_count(static_cast<int64_t>(intervals.size())) + " from libcoord";
  add_bands(from_.items, lane, BandKind::kOperations, intervals, kMaxOperationRows);
  lanes_.operations_of_process_[process] = add(std::move(lane));
}

void LaneBuilder::add_threads(Id process, int parent) {
  const size_t threads = trace_.thread.size();
  std::vector<std::vector<Interval>> calls(threads), ranges(threads);
  const auto collect = [&](ItemKind kind, const trace::Column<Id>& owners,
                           std::vector<std::vector<Interval>>& into) {
    for (Id id = 0; id < owners.size(); ++id) {
      const Id owner = owners[id];
      if (owner >= threads || trace_.process_of_thread(owner) != process) continue;
      if (const auto range = from_.items.time({kind, id}))
        into[owner].push_back({*range, {kind, id}});
    }
  };
  collect(ItemKind::kApiCall, trace_.api_call.thread_id, calls);
  collect(ItemKind::kEventRecord, trace_.event_record.thread_id, calls);
  collect(ItemKind::kEventWait, trace_.event_wait.thread_id, calls);
  collect(ItemKind::kHostSync, trace_.host_sync.thread_id, calls);
  collect(ItemKind::kRange, trace_.range.thread_id, ranges);
  int group = -1;
  for (Id id = 0; id < threads; ++id) {
    if (calls[id].empty() && ranges[id].empty() && from_.items.host_frames().rows_of(id).empty())
      continue;
    if (group < 0) {
      group = static_cast<int>(add({.kind = LaneKind::kHost,
                                    .depth = 1,
                                    .parent = parent,
                                    .object = process,
                                    .title = "Host threads"}));
    }
    Lane lane{.kind = LaneKind::kThread, .depth = 2, .parent = group, .object = id};
    lane.title = from_.items.thread_name(id);
    if (!trace_.text(trace_.thread.name_id[id]).empty() && trace_.thread.os_tid[id] != kNoSmall) {
      lane.detail = "thread " + std::to_string(trace_.thread.os_tid[id]);
    }
    sort_by_start(ranges[id]);
    sort_by_start(calls[id]);
    add_bands(from_.items, lane, BandKind::kRanges, ranges[id], kMaxRangeRows);
    add_bands(from_.items, lane, BandKind::kCalls, calls[id], kMaxCallRows);
    for (const auto& [range, item] : calls[id]) {
      if (item.kind == ItemKind::kEventRecord)
        lane.records.push(range.begin_ns, range.begin_ns, pack(item));
      if (item.kind == ItemKind::kEventWait)
        lane.passed_waits.push(range.begin_ns, range.begin_ns, pack(item));
    }
    lane.records.finish();
    lane.passed_waits.finish();
    const size_t of_thread = add(std::move(lane));
    lanes_.of_thread_[id] = of_thread;
    add_samples(id, static_cast<int>(of_thread));
  }
}

void LaneBuilder::add_samples(Id thread, int parent) {
  const HostFrames& frames = from_.items.host_frames();
  const std::span<const HostFrames::RunRow> rows = frames.rows_of(thread);
  if (rows.empty()) return;
  const Lane& above = lanes_[static_cast<size_t>(parent)];
  Lane lane{.kind = LaneKind::kSamples,
            .depth = above.depth + 1,
            .parent = parent,
            .object = thread,
            .title = "Samples of " + above.title};
  size_t count = 0;
  for (const HostFrames::RunRow& row : rows) {
    Band& band =
        lane.bands.emplace_back(Band{row.is_state ? BandKind::kStates : BandKind::kFunctions, {}});
    for (Id run = row.begin; run < row.end; ++run) {
      const Item item{ItemKind::kSamples, run};
      const TimeRange time = frames.time(run);
      if (row.is_state) count += frames.samples(run).size();
      band.row.push(time.begin_ns, time.end_ns, pack(item),
                    static_cast<uint8_t>(from_.items.category(item)));
    }
    band.row.finish();
  }
  lane.detail = format_count(count, "sample");
  lanes_.samples_of_thread_[thread] = add(std::move(lane));
}

}  // namespace streamscope::viewer
