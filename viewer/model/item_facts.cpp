// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a TraceModel knows about one item: its time, place, kind and name.

#include <algorithm>

#include "analysis/labels.h"
#include "analysis/usage/host_syncs.h"
#include "analysis/usage/task_usage.h"
#include "labels.h"
#include "trace/function_name.h"
#include "trace_model.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

std::optional<TimeRange> range_of(Ns start_ns, Ns end_ns, Ns open_end_ns) {
  if (start_ns == kUnknownNs) return std::nullopt;
  // A call that never returned or a range that was never closed extends to the end of the trace.
  if (end_ns == kUnknownNs) end_ns = open_end_ns;
  return TimeRange{start_ns, std::max(start_ns, end_ns)};
}

}  // namespace

std::string_view to_string(Category category) {
  static constexpr std::array<std::string_view, kCategoryCount> kNames = {
      "kernel",        "copy to device",  "copy to host",  "copy on device", "memset",
      "host function", "memory wait",     "memory write",  "graph launch",   "launch call",
      "copy call",     "event record",    "stream wait",   "blocking call",  "other call",
      "NVTX range",    "coord operation", "coord barrier", "coord task"};
  return kNames[static_cast<size_t>(category)];
}

Item TraceModel::call_of(Id op) const {
  const Id call = op < trace().op.size() ? trace().op.api_call_id[op] : kNoId;
  return call < trace().api_call.size() ? Item{ItemKind::kApiCall, call} : Item{};
}

Id TraceModel::op_of(Item call) const {
  return call.kind == ItemKind::kApiCall ? op_of_call_[call.id] : kNoId;
}

Id TraceModel::operation_of(Id op) const { return operation_of_[op]; }

bool TraceModel::never_ended(Item item) const {
  const auto open = [&](const auto& table) {
    return item.id < table.size() && table.start_ns[item.id] != kUnknownNs &&
           table.end_ns[item.id] == kUnknownNs;
  };
  switch (item.kind) {
    case ItemKind::kOp:
      return open(trace().op);
    case ItemKind::kApiCall:
      return open(trace().api_call);
    case ItemKind::kHostSync:
      return open(trace().host_sync);
    case ItemKind::kRange:
      return open(trace().range);
    default:
      return false;
  }
}

std::vector<Id> TraceModel::never_ended_ops() const {
  std::vector<Id> result;
  for (Id id = 0; id < trace().op.size(); ++id) {
    if (never_ended({ItemKind::kOp, id})) result.push_back(id);
  }
  return result;
}

std::optional<TimeRange> TraceModel::time(Item item) const {
  const Id id = item.id;
  const auto of = [&](const auto& table) -> std::optional<TimeRange> {
    if (id >= table.size()) return std::nullopt;
    return range_of(table.start_ns[id], table.end_ns[id], extent_.end_ns);
  };
  switch (item.kind) {
    case ItemKind::kNone:
      break;
    case ItemKind::kOp:
      if (const auto own = of(trace().op)) return own;
      if (const Item call = call_of(id)) return time(call);
      break;
    case ItemKind::kApiCall:
      return of(trace().api_call);
    case ItemKind::kEventRecord:
      return of(trace().event_record);
    case ItemKind::kEventWait:
      return of(trace().event_wait);
    case ItemKind::kHostSync:
      return of(trace().host_sync);
    case ItemKind::kRange:
      return of(trace().range);
    case ItemKind::kOperation: {
      const auto& operation = trace().operation;
      if (id >= operation.size()) break;
      // The work itself has the most exact times; "completed" is only when the host observed it.
      if (operation_span_[id].begin_ns != kUnknownNs) return operation_span_[id];
      const Ns begun = operation.begun_ns[id] != kUnknownNs ? operation.begun_ns[id]
                                                            : operation.registered_ns[id];
      return range_of(begun, operation.completed_ns[id], extent_.end_ns);
    }
    case ItemKind::kBarrier: {
      const auto& barrier = trace().barrier;
      if (id >= barrier.size()) break;
      return range_of(barrier.first_arrival_ns[id], barrier.release_ns[id], extent_.end_ns);
    }
    case ItemKind::kTask: {
      const auto& task = trace().task;
      if (id >= task.size()) break;
      const Ns start = analysis::task_start_ns(trace(), task_run_ops_, id);
      if (start == kUnknownNs) break;
      return TimeRange{start, start + std::max<trace::Int>(task.duration_ns[id], 0)};
    }
  }
  return std::nullopt;
}

Category TraceModel::category(Item item) const {
  const Id id = item.id;
  switch (item.kind) {
    case ItemKind::kOp:
      if (id >= trace().op.size()) break;
      switch (trace().op.kind[id]) {
        case trace::kKernel:
          return Category::kKernel;
        case trace::kMemcpy:
          switch (static_cast<CopyKind>(trace().op.detail[id])) {
            case CopyKind::kHostToDevice:
            case CopyKind::kHostToArray:
              return Category::kCopyToDevice;
            case CopyKind::kDeviceToHost:
            case CopyKind::kArrayToHost:
              return Category::kCopyToHost;
            default:
              return Category::kCopyOnDevice;
          }
        case trace::kMemset:
          return Category::kMemset;
        case trace::kHostFunction:
          return Category::kHostFunction;
        case trace::kMemoryWait:
          return Category::kMemoryWait;
        case trace::kMemoryWrite:
          return Category::kMemoryWrite;
        default:
          return Category::kGraphLaunch;
      }
    case ItemKind::kApiCall: {
      if (id >= trace().api_call.size()) break;
      const trace::Small kind = trace().api_call.kind[id];
      if (kind == CallKind::kLaunch || kind == CallKind::kGraphLaunch) return Category::kLaunchCall;
      if (kind == CallKind::kMemcpy || kind == CallKind::kMemcpyAsync ||
          kind == CallKind::kMemset || kind == CallKind::kMemsetAsync)
        return Category::kCopyCall;
      break;
    }
    case ItemKind::kEventRecord:
      return Category::kRecordCall;
    case ItemKind::kEventWait:
      return Category::kWaitCall;
    case ItemKind::kHostSync:
      if (id >= trace().host_sync.size()) break;
      if (analysis::is_query(trace().host_sync.kind[id])) break;
      return Category::kBlockingCall;
    case ItemKind::kRange:
      return Category::kRange;
    case ItemKind::kOperation:
      return Category::kOperation;
    case ItemKind::kBarrier:
      return Category::kBarrier;
    case ItemKind::kTask:
      return Category::kTask;
    case ItemKind::kNone:
      break;
  }
  return Category::kOtherCall;
}

Id TraceModel::name_id(Item item) const {
  const auto of = [&](const auto& table) {
    return item.id < table.size() ? table.name_id[item.id] : kNoId;
  };
  switch (item.kind) {
    case ItemKind::kOp:
      return of(trace().op);
    case ItemKind::kApiCall:
      return of(trace().api_call);
    case ItemKind::kEventRecord:
      return of(trace().event_record);
    case ItemKind::kEventWait:
      return of(trace().event_wait);
    case ItemKind::kHostSync:
      return of(trace().host_sync);
    case ItemKind::kRange:
      return of(trace().range);
    case ItemKind::kOperation:
      return of(trace().operation);
    case ItemKind::kBarrier:
      return of(trace().barrier);
    case ItemKind::kTask:
    case ItemKind::kNone:
      break;
  }
  return kNoId;
}

std::string TraceModel::label(Item item) const {
  if (item.kind == ItemKind::kTask && item.id < trace().task.size())
    return "task " + std::to_string(trace().task.number[item.id]);
  const Id name = name_id(item);
  if (item.kind == ItemKind::kOp && item.id < trace().op.size() &&
      trace().op.kind[item.id] == trace::kMemcpy && trace().op.detail[item.id] != trace::kNoSmall) {
    // A copy is labeled by its direction and size, not by its name.
    std::string text(trace::copy_kind_name(trace().op.detail[item.id]));
    if (trace().op.bytes[item.id] != trace::kNoInt)
      text += " " + format_bytes(trace().op.bytes[item.id]);
    return text;
  }
  if (name < short_names_.size() && !short_names_[name].empty()) return short_names_[name];
  return std::string(to_string(category(item)));
}

std::string TraceModel::label_with_stream(Item item) const {
  const auto where = place(item);
  return label(item) + (where ? " on " + lanes_[where->lane].title : "");
}

std::string TraceModel::name(Item item) const {
  const std::string_view text = trace().text(name_id(item));
  return text.empty() ? label(item) : analysis::printable(trace::demangled(text));
}

std::string TraceModel::text(Id string) const { return analysis::printable(trace().text(string)); }

std::string TraceModel::stream_name(Id stream) const {
  if (stream >= trace().stream.size()) return "unknown stream";
  if (std::string name = text(trace().stream.name_id[stream]); !name.empty()) return name;
  if (trace().stream.kind[stream] == trace::kLegacyStream) return "default stream";
  const trace::Small native = trace().stream.native_id[stream];
  const std::string number =
      std::to_string(native == trace::kNoSmall ? static_cast<trace::Small>(stream) : native);
  return (trace().stream.kind[stream] == trace::kPerThreadStream ? "thread stream " : "stream ") +
         number;
}

std::string TraceModel::thread_name(Id thread) const {
  if (thread >= trace().thread.size()) return "unknown thread";
  if (std::string name = text(trace().thread.name_id[thread]); !name.empty()) return name;
  const trace::Small tid = trace().thread.os_tid[thread];
  return "thread " +
         std::to_string(tid == trace::kNoSmall ? static_cast<trace::Small>(thread) : tid);
}

std::string TraceModel::event_name(Id event) const {
  if (event >= trace().event.size()) return "unknown event";
  if (std::string name = text(trace().event.name_id[event]); !name.empty()) return name;
  return "event " + std::to_string(event);
}

std::optional<size_t> TraceModel::lane_of(Item item) const {
  const auto of = [&](const std::vector<int>& lanes, const auto& column) -> std::optional<size_t> {
    if (item.id >= column.size()) return std::nullopt;
    const Id object = column[item.id];
    if (object >= lanes.size() || lanes[object] < 0) return std::nullopt;
    return static_cast<size_t>(lanes[object]);
  };
  switch (item.kind) {
    case ItemKind::kOp:
      return of(stream_lane_, trace().op.stream_id);
    case ItemKind::kApiCall:
      return of(thread_lane_, trace().api_call.thread_id);
    case ItemKind::kEventRecord:
      return of(thread_lane_, trace().event_record.thread_id);
    case ItemKind::kEventWait:
      return of(thread_lane_, trace().event_wait.thread_id);
    case ItemKind::kHostSync:
      return of(thread_lane_, trace().host_sync.thread_id);
    case ItemKind::kRange:
      return of(thread_lane_, trace().range.thread_id);
    case ItemKind::kOperation:
      return of(operations_lane_, trace().operation.process_id);
    case ItemKind::kBarrier:
      return of(operations_lane_, trace().barrier.process_id);
    case ItemKind::kTask: {
      if (item.id >= trace().task.size()) break;
      const auto lane = task_lane_.find({trace().task.task_queue_id[item.id], worker_of(item.id)});
      if (lane != task_lane_.end()) return lane->second;
      break;
    }
    case ItemKind::kNone:
      break;
  }
  return std::nullopt;
}

std::optional<Place> TraceModel::place(Item item) const {
  const auto interval = time(item);
  const auto lane = lane_of(item);
  if (!interval || !lane) return std::nullopt;
  const auto& bands = lanes_[*lane].bands;
  for (size_t band = 0; band < bands.size(); ++band) {
    const Row& row = bands[band].row;
    auto it = std::lower_bound(row.start_ns.begin(), row.start_ns.end(), interval->begin_ns);
    for (; it != row.start_ns.end() && *it == interval->begin_ns; ++it) {
      const size_t index = static_cast<size_t>(it - row.start_ns.begin());
      if (row.item[index] == pack(item)) return Place{*lane, band, index};
    }
  }
  return std::nullopt;
}

Item TraceModel::item_at(const Place& place) const {
  return unpack(lanes_[place.lane].bands[place.band].row.item[place.index]);
}

}  // namespace streamscope::viewer
