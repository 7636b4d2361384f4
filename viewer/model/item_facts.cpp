// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "item_facts.h"

#include <algorithm>
#include <map>

#include "analysis/labels.h"
#include "analysis/usage/host_syncs.h"
#include "analysis/usage/task_usage.h"
#include "labels.h"
#include "trace/function_name.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

constexpr int kDeepestGroup = 64;  // limits cycles and deep nesting in invalid traces

// Calls `each` with the groups that contain an operation, innermost first, until it returns true.
template <class Each>
bool any_group(const trace::Trace& trace, Id operation, Each each) {
  for (int depth = 0; depth < kDeepestGroup && operation < trace.operation.size(); ++depth) {
    operation = trace.operation.parent_operation_id[operation];
    if (operation != kNoId && each(operation)) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Category category) {
  static constexpr std::array<std::string_view, kCategoryCount> kNames = {
      "kernel",          "copy to device", "copy to host", "copy on device",
      "memset",          "host function",  "memory wait",  "memory write",
      "graph launch",    "launch call",    "copy call",    "event record",
      "stream wait",     "blocking call",  "other call",   "NVTX range",
      "coord operation", "coord barrier",  "coord task",   "Python function",
      "native function", "runs",           "waits",        "waits for Python's lock"};
  return kNames[static_cast<size_t>(category)];
}

std::vector<Id> never_ended_ops(const trace::Trace& trace) {
  std::vector<Id> result;
  for (Id id = 0; id < trace.op.size(); ++id) {
    if (trace.op.start_ns[id] != kUnknownNs && trace.op.end_ns[id] == kUnknownNs)
      result.push_back(id);
  }
  return result;
}

ItemFacts::ItemFacts(const trace::Trace& trace, Ns end_ns, TimeRange usual)
    : trace_(trace),
      end_ns_(end_ns),
      host_frames_(trace, usual),
      task_run_ops_(analysis::task_run_ops(trace)) {
  short_names_.reserve(trace.strings.size());
  for (const auto& each : trace.strings)
    short_names_.push_back(analysis::printable(trace::short_name(each).with_functor()));
  link_ops();
  find_groups();
}

void ItemFacts::link_ops() {
  const auto& op = trace_.op;
  std::vector<Id> op_of_call(trace_.api_call.size(), kNoId), operation_of(op.size(), kNoId);
  for (Id id = 0; id < op.size(); ++id) {
    const Id call = op.api_call_id[id];
    if (call >= op_of_call.size()) continue;
    if (op_of_call[call] == kNoId) op_of_call[call] = id;
    operation_of[id] = trace_.api_call.operation_id[call];
  }
  const auto& link = trace_.operation_op;
  for (size_t i = 0; i < link.size(); ++i) {
    if (link.op_id[i] < operation_of.size()) operation_of[link.op_id[i]] = link.operation_id[i];
  }
  op_of_call_ = Packed<Id>(op_of_call);
  operation_of_ = Packed<Id>(operation_of);
  operation_span_.assign(trace_.operation.size(), {kUnknownNs, kUnknownNs});
  if (operation_span_.empty()) return;
  for (Id id = 0; id < op.size(); ++id) {
    const Id operation = operation_of[id];
    if (operation >= operation_span_.size() || op.start_ns[id] == kUnknownNs ||
        op.end_ns[id] == kUnknownNs) {
      continue;
    }
    TimeRange& span = operation_span_[operation];
    const bool first = span.begin_ns == kUnknownNs;
    span.begin_ns = first ? op.start_ns[id] : std::min(span.begin_ns, op.start_ns[id]);
    span.end_ns = first ? op.end_ns[id] : std::max(span.end_ns, op.end_ns[id]);
  }
}

void ItemFacts::find_groups() {
  std::map<Id, size_t> members;
  for (Id id = 0; id < trace_.operation.size(); ++id) {
    any_group(trace_, id, [&](Id group) {
      ++members[group];
      return false;
    });
  }
  for (const auto& [group, count] : members) groups_.push_back({group, count});
}

bool ItemFacts::is_in_group(Id op, Id group) const {
  const Id operation = operation_of_[op];
  return operation == group || any_group(trace_, operation, [&](Id each) { return each == group; });
}

Item ItemFacts::call_of(Id op) const {
  const Id call = op < trace_.op.size() ? trace_.op.api_call_id[op] : kNoId;
  return call < trace_.api_call.size() ? Item{ItemKind::kApiCall, call} : Item{};
}

Id ItemFacts::op_of(Item call) const {
  return call.kind == ItemKind::kApiCall ? op_of_call_[call.id] : kNoId;
}

Id ItemFacts::op_of_task(Id task) const {
  const Id run = trace_.task.task_run_id[task];
  return run < task_run_ops_.size() ? task_run_ops_[run] : kNoId;
}

bool ItemFacts::never_ended(Item item) const {
  if (item.kind == ItemKind::kEventRecord || item.kind == ItemKind::kEventWait) return false;
  return in_table(trace_, item, false, [&](const auto& table) {
    if constexpr (requires { table.start_ns, table.end_ns; })
      return table.start_ns[item.id] != kUnknownNs && table.end_ns[item.id] == kUnknownNs;
    return false;
  });
}

std::optional<TimeRange> ItemFacts::time(Item item) const {
  const Id id = item.id;
  if (item.kind == ItemKind::kSamples)
    return id < host_frames_.size() ? std::optional(host_frames_.time(id)) : std::nullopt;
  const auto between = [&](Ns start_ns, Ns end_ns) -> std::optional<TimeRange> {
    if (start_ns == kUnknownNs) return std::nullopt;
    // What never returned or was never closed extends to the end of the trace.
    return TimeRange{start_ns, std::max(start_ns, end_ns == kUnknownNs ? end_ns_ : end_ns)};
  };
  const auto own = in_table(trace_, item, std::optional<TimeRange>(), [&](const auto& table) {
    if constexpr (requires { table.completed_ns; }) {
      // The work itself has the most exact times; "completed" is only when the host observed it.
      if (operation_span_[id].begin_ns != kUnknownNs) return std::optional(operation_span_[id]);
      const Ns begun = table.begun_ns[id];
      return between(begun != kUnknownNs ? begun : table.registered_ns[id], table.completed_ns[id]);
    } else if constexpr (requires { table.release_ns; }) {
      return between(table.first_arrival_ns[id], table.release_ns[id]);
    } else if constexpr (requires { table.end_ns; }) {
      return between(table.start_ns[id], table.end_ns[id]);
    } else {
      const Ns start = analysis::task_start_ns(trace_, task_run_ops_, id);
      return between(start, start + std::max<trace::Int>(table.duration_ns[id], 0));
    }
  });
  return own || item.kind != ItemKind::kOp ? own : time(call_of(id));
}

Category ItemFacts::category(Item item) const {
  const Id id = item.id;
  switch (item.kind) {
    case ItemKind::kOp:
      if (id >= trace_.op.size()) break;
      switch (trace_.op.kind[id]) {
        case trace::kKernel:
          return Category::kKernel;
        case trace::kMemcpy:
          switch (static_cast<CopyKind>(trace_.op.detail[id])) {
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
      if (id >= trace_.api_call.size()) break;
      const trace::Small kind = trace_.api_call.kind[id];
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
      if (id >= trace_.host_sync.size()) break;
      if (analysis::is_query(trace_.host_sync.kind[id])) break;
      return Category::kBlockingCall;
    case ItemKind::kRange:
      return Category::kRange;
    case ItemKind::kOperation:
      return Category::kOperation;
    case ItemKind::kBarrier:
      return Category::kBarrier;
    case ItemKind::kTask:
      return Category::kTask;
    case ItemKind::kSamples:
      if (id < host_frames_.size()) return category_of_samples(id);
      break;
    case ItemKind::kNone:
      break;
  }
  return Category::kOtherCall;
}

Category ItemFacts::category_of_samples(Id run) const {
  if (const Id frame = host_frames_.frame(run); frame != kNoId)
    return trace_.stack_frame.kind[frame] == trace::kPythonFrame ? Category::kPythonFunction
                                                                 : Category::kNativeFunction;
  switch (host_frames_.state(run)) {
    case analysis::SampleState::kRuns:
      return Category::kRuns;
    case analysis::SampleState::kWaits:
      return Category::kWaits;
    case analysis::SampleState::kWaitsForLock:
      return Category::kWaitsForLock;
    case analysis::SampleState::kNotKnown:
      break;
  }
  return Category::kOtherCall;
}

Id ItemFacts::name_id(Item item) const {
  if (item.kind == ItemKind::kSamples && item.id < host_frames_.size()) {
    const Id frame = host_frames_.frame(item.id);
    const auto& frames = trace_.stack_frame;
    if (frame == kNoId) return kNoId;
    return frames.symbol_id[frame] != kNoId ? frames.symbol_id[frame] : frames.module_id[frame];
  }
  return in_table(trace_, item, kNoId, [&](const auto& table) -> Id {
    if constexpr (requires { table.name_id; }) return table.name_id[item.id];
    return kNoId;
  });
}

std::string ItemFacts::label(Item item) const {
  if (item.kind == ItemKind::kSamples && item.id < host_frames_.size())
    return host_frames_.label(item.id);
  if (item.kind == ItemKind::kTask && item.id < trace_.task.size())
    return "task " + std::to_string(trace_.task.number[item.id]);
  const Id name = name_id(item);
  if (item.kind == ItemKind::kOp && item.id < trace_.op.size() &&
      trace_.op.kind[item.id] == trace::kMemcpy && trace_.op.detail[item.id] != trace::kNoSmall) {
    // A copy is labeled by its direction and size, not by its name.
    std::string text(copy_kind_name(trace_.op.detail[item.id]));
    if (trace_.op.bytes[item.id] != trace::kNoInt)
      text += " " + format_bytes(trace_.op.bytes[item.id]);
    return text;
  }
  if (name < short_names_.size() && !short_names_[name].empty()) return short_names_[name];
  return std::string(to_string(category(item)));
}

std::string ItemFacts::name(Item item) const {
  const std::string_view text = trace_.text(name_id(item));
  return text.empty() ? label(item) : analysis::printable(trace::demangled(text));
}

std::string ItemFacts::text(Id string) const { return analysis::printable(trace_.text(string)); }

std::string ItemFacts::stream_name(Id stream) const {
  if (stream >= trace_.stream.size()) return "unknown stream";
  if (std::string name = text(trace_.stream.name_id[stream]); !name.empty()) return name;
  if (trace_.stream.kind[stream] == trace::kLegacyStream) return "default stream";
  const trace::Small native = trace_.stream.native_id[stream];
  const std::string number =
      std::to_string(native == trace::kNoSmall ? static_cast<trace::Small>(stream) : native);
  return (trace_.stream.kind[stream] == trace::kPerThreadStream ? "thread stream " : "stream ") +
         number;
}

std::string ItemFacts::thread_name(Id thread) const {
  if (thread >= trace_.thread.size()) return "unknown thread";
  if (std::string name = text(trace_.thread.name_id[thread]); !name.empty()) return name;
  const trace::Small tid = trace_.thread.os_tid[thread];
  return "thread " +
         std::to_string(tid == trace::kNoSmall ? static_cast<trace::Small>(thread) : tid);
}

std::string ItemFacts::event_name(Id event) const {
  if (event >= trace_.event.size()) return "unknown event";
  if (std::string name = text(trace_.event.name_id[event]); !name.empty()) return name;
  return "event " + std::to_string(event);
}

std::vector<bool> ItemFacts::names_with(std::string_view text) const {
  if (text.empty()) return {};
  std::vector<bool> names(trace_.strings.size());
  for (size_t i = 0; i < names.size(); ++i) names[i] = contains_text(trace_.strings[i], text);
  return names;
}

bool ItemFacts::has_name(Item item, const std::vector<bool>& names) const {
  const Id name = name_id(item);
  return name < names.size() && names[name];
}

}  // namespace streamscope::viewer
