// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a TraceModel lays out its lanes: process -> device -> stream, then libcoord's operations and
// tasks, pools, then host threads.

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/labels.h"
#include "intervals.h"
#include "labels.h"
#include "trace/ns_math.h"
#include "trace_model.h"

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

// Many edges may share a record or a wait; it is added once.
void add_instants(Row& row, std::vector<Interval>& instants) {
  std::ranges::sort(instants, {}, [](const Interval& each) {
    return std::pair(each.range.begin_ns, pack(each.item));
  });
  for (size_t i = 0; i < instants.size(); ++i) {
    if (i == 0 || instants[i].item != instants[i - 1].item ||
        instants[i].range != instants[i - 1].range)
      row.push(instants[i].range.begin_ns, instants[i].range.end_ns, pack(instants[i].item));
  }
  row.finish();
}

// Ids of rows, grouped by the value of a column.
std::vector<std::vector<Id>> group_by(const trace::Column<Id>& column, size_t groups) {
  std::vector<std::vector<Id>> result(groups);
  for (Id id = 0; id < column.size(); ++id) {
    if (const Id group = column[id]; group < groups) result[group].push_back(id);
  }
  return result;
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

Lane stream_lane(const TraceModel& model, Id id, int parent) {
  const trace::Trace& trace = model.trace();
  const auto& stream = trace.stream;
  Lane lane{.kind = LaneKind::kStream, .depth = 2, .parent = parent, .object = id};
  lane.title = model.stream_name(id);
  if (stream.kind[id] != kNoSmall && stream.kind[id] != trace::kLegacyStream) {
    append_detail(lane.detail,
                  std::string(trace::to_string(static_cast<trace::StreamKind>(stream.kind[id]))));
  }
  if (stream.priority[id] != kNoSmall && stream.priority[id] != 0)
    append_detail(lane.detail, "priority " + std::to_string(stream.priority[id]));
  return lane;
}

}  // namespace

size_t TraceModel::add_lane(Lane lane) {
  lane.title = analysis::printable(lane.title);
  lane.detail = analysis::printable(lane.detail);
  for (const Band& band : lane.bands) {
    item_count_ += band.row.size();
    for (const uint8_t kind : band.row.kind) present_[kind] = true;
  }
  lanes_.push_back(std::move(lane));
  return lanes_.size() - 1;
}

void TraceModel::make_lanes() {
  stream_lane_.assign(trace().stream.size(), -1);
  thread_lane_.assign(trace().thread.size(), -1);
  operations_lane_.assign(trace().process.size(), -1);
  for (Id process = 0; process < trace().process.size(); ++process) {
    Lane lane{.kind = LaneKind::kProcess, .object = process};
    const std::string_view name = trace().text(trace().process.name_id[process]);
    lane.title = name.empty() ? "process" : std::string(name);
    if (trace().process.os_pid[process] != kNoSmall)
      lane.detail = "pid " + std::to_string(trace().process.os_pid[process]);
    if (trace().process.clock[process] == trace::kVirtualClock)
      append_detail(lane.detail, "simulated time");
    if (trace().process.exit_signal[process] != kNoSmall &&
        trace().process.exit_signal[process] != 0) {
      append_detail(lane.detail,
                    "ended by signal " + std::to_string(trace().process.exit_signal[process]));
    }
    const int parent = static_cast<int>(add_lane(std::move(lane)));
    add_streams(process, parent);
    add_operations(process, parent);
    add_tasks(process, kNoId, parent);
    add_pools(process, parent);
    add_threads(process, parent);
  }
}

void TraceModel::add_streams(Id process, int parent) {
  const std::vector<std::vector<Id>> ops = group_by(trace().op.stream_id, trace().stream.size());
  for (const auto& [device, streams] : streams_of_devices(trace(), process)) {
    const size_t header_lane = add_lane(device_lane(trace(), device, parent, streams.left_out));
    const int header = static_cast<int>(header_lane);
    std::vector<Interval> all;
    bool timed = false;
    for (const Id id : streams.shown) {
      Lane lane = stream_lane(*this, id, header);
      fill_stream(lane, ops[id]);
      for (const Band& band : lane.bands) {
        for (size_t i = 0; i < band.row.size(); ++i)
          all.push_back({{band.row.start_ns[i], band.row.end_ns[i]}, {}});
      }
      timed = timed || !lane.host_times;
      stream_lane_[id] = static_cast<int>(add_lane(std::move(lane)));
    }
    add_gpu_ranges(process, device, header);
    add_copies(streams.shown, header);
    add_tasks(process, device, header);
    add_device_counters(streams.shown, header);
    if (!timed) continue;
    sort_by_start(all);
    std::vector<Ns> start, end;
    for (const Interval& interval : all) {
      start.push_back(interval.range.begin_ns);
      end.push_back(interval.range.end_ns);
    }
    lanes_[header_lane].busy_share =
        static_cast<double>(covered_ns(start, end)) / extent_.span_ns();
  }
}

void TraceModel::fill_stream(Lane& lane, std::span<const Id> ops) {
  std::vector<Interval> intervals;
  intervals.reserve(ops.size());
  size_t unknown = 0;
  for (const Id id : ops) {
    const Item item{ItemKind::kOp, id};
    if (trace().op.start_ns[id] == kUnknownNs) ++unknown;
    if (const auto range = time(item)) intervals.push_back({*range, item});
  }
  sort_by_start(intervals);
  lane.host_times = unknown > 0 && unknown == ops.size();
  add_bands(*this, lane, BandKind::kOps, intervals, kMaxOpRows);
  if (!lane.host_times) {
    std::vector<Ns> start, end;
    for (const Interval& interval : intervals) {
      start.push_back(interval.range.begin_ns);
      end.push_back(interval.range.end_ns);
    }
    lane.busy_share = static_cast<double>(covered_ns(start, end)) / extent_.span_ns();
  }
}

void TraceModel::add_waits() {
  std::vector<std::vector<Interval>> records(lanes_.size()), passed(lanes_.size());
  for (const Dependency& dependency : dependencies_) {
    if (dependency.wait == kNoId) continue;
    const Item from{ItemKind::kOp, dependency.from_op}, to{ItemKind::kOp, dependency.to_op};
    const auto begun = time(to), ended = time(from);
    if (const auto lane = lane_of(to); lane && begun) {
      passed[*lane].push_back(
          {{begun->begin_ns, begun->begin_ns}, {ItemKind::kEventWait, dependency.wait}});
    }
    if (const auto lane = lane_of(from); lane && ended && dependency.record != kNoId) {
      records[*lane].push_back(
          {{ended->end_ns, ended->end_ns}, {ItemKind::kEventRecord, dependency.record}});
    }
  }
  // The parts of a gap end where the op starts; the parts spent waiting for another op are drawn.
  std::vector<std::vector<Interval>> by_lane(lanes_.size());
  for (size_t first = 0, last = 0; first < why_late_.size(); first = last) {
    const Id op = why_late_[first].op;
    Ns gap = 0;
    for (; last < why_late_.size() && why_late_[last].op == op; ++last)
      trace::add_to(gap, why_late_[last].duration_ns);
    const auto lane = lane_of({ItemKind::kOp, op});
    if (!lane) continue;
    Ns at = trace::difference_of(trace().op.start_ns[op], gap);
    for (size_t i = first; i < last; ++i) {
      const analysis::WaitPart part = why_late_[i];
      if (part.edge < dependencies_.size()) {
        const Id wait = dependencies_[part.edge].wait;
        const Item item =
            wait != kNoId ? Item{ItemKind::kEventWait, wait} : Item{ItemKind::kOp, op};
        by_lane[*lane].push_back({{at, trace::sum_of(at, part.duration_ns)}, item});
      }
      trace::add_to(at, part.duration_ns);
    }
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    sort_by_start(by_lane[i]);
    for (const Interval& interval : by_lane[i]) {
      lane.waits.push(interval.range.begin_ns, interval.range.end_ns, pack(interval.item));
    }
    lane.waits.finish();
    has_waits_ = has_waits_ || lane.waits.size() > 0;
    if (lane.kind != LaneKind::kStream) continue;
    add_instants(lane.records, records[i]);
    add_instants(lane.passed_waits, passed[i]);
  }
}

void TraceModel::add_path() {
  std::vector<std::vector<Interval>> by_lane(lanes_.size());
  for (const analysis::PathStep& step : insights_.path) {
    if (step.kind != trace::kOpStep) continue;
    const Item item{ItemKind::kOp, step.op};
    if (const auto lane = lane_of(item))
      by_lane[*lane].push_back({{step.start_ns, step.end_ns}, item});
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    for (const Interval& interval : by_lane[i]) {
      lanes_[i].path.push(interval.range.begin_ns, interval.range.end_ns, pack(interval.item));
    }
    lanes_[i].path.finish();
  }
}

void TraceModel::add_operations(Id process, int parent) {
  std::vector<Interval> intervals;
  const auto collect = [&](ItemKind kind, const auto& owners) {
    for (Id id = 0; id < owners.size(); ++id) {
      if (owners[id] != process) continue;
      if (const auto range = time({kind, id})) intervals.push_back({*range, {kind, id}});
    }
  };
  collect(ItemKind::kOperation, trace().operation.process_id);
  collect(ItemKind::kBarrier, trace().barrier.process_id);
  if (intervals.empty()) return;
  sort_by_start(intervals);
  Lane lane{.kind = LaneKind::kOperations, .depth = 1, .parent = parent, .object = process};
  lane.title = "operations";
  lane.detail = format_count(static_cast<int64_t>(intervals.size())) + " from libcoord";
  add_bands(*this, lane, BandKind::kOperations, intervals, kMaxOperationRows);
  operations_lane_[process] = static_cast<int>(add_lane(std::move(lane)));
}

void TraceModel::add_threads(Id process, int parent) {
  const size_t threads = trace().thread.size();
  std::vector<std::vector<Interval>> calls(threads), ranges(threads);
  const auto collect = [&](ItemKind kind, const trace::Column<Id>& owners,
                           std::vector<std::vector<Interval>>& into) {
    for (Id id = 0; id < owners.size(); ++id) {
      const Id owner = owners[id];
      if (owner >= threads || trace().process_of_thread(owner) != process) continue;
      if (const auto range = time({kind, id})) into[owner].push_back({*range, {kind, id}});
    }
  };
  collect(ItemKind::kApiCall, trace().api_call.thread_id, calls);
  collect(ItemKind::kEventRecord, trace().event_record.thread_id, calls);
  collect(ItemKind::kEventWait, trace().event_wait.thread_id, calls);
  collect(ItemKind::kHostSync, trace().host_sync.thread_id, calls);
  collect(ItemKind::kRange, trace().range.thread_id, ranges);
  int group = -1;
  for (Id id = 0; id < threads; ++id) {
    if (calls[id].empty() && ranges[id].empty()) continue;
    if (group < 0) {
      group = static_cast<int>(add_lane({.kind = LaneKind::kHost,
                                         .depth = 1,
                                         .parent = parent,
                                         .object = process,
                                         .title = "Host threads"}));
    }
    Lane lane{.kind = LaneKind::kThread, .depth = 2, .parent = group, .object = id};
    lane.title = thread_name(id);
    if (!trace().text(trace().thread.name_id[id]).empty() &&
        trace().thread.os_tid[id] != kNoSmall) {
      lane.detail = "thread " + std::to_string(trace().thread.os_tid[id]);
    }
    sort_by_start(ranges[id]);
    sort_by_start(calls[id]);
    add_bands(*this, lane, BandKind::kRanges, ranges[id], kMaxRangeRows);
    add_bands(*this, lane, BandKind::kCalls, calls[id], kMaxCallRows);
    for (const auto& [range, item] : calls[id]) {
      if (item.kind == ItemKind::kEventRecord)
        lane.records.push(range.begin_ns, range.begin_ns, pack(item));
      if (item.kind == ItemKind::kEventWait)
        lane.passed_waits.push(range.begin_ns, range.begin_ns, pack(item));
    }
    lane.records.finish();
    lane.passed_waits.finish();
    thread_lane_[id] = static_cast<int>(add_lane(std::move(lane)));
  }
}

}  // namespace streamscope::viewer
