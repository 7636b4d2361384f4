// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// JSON in the format of the PyTorch profiler, so that every reader of such files can show it, and
// `streamscope import` restores the same ops, calls, waits and edges. Besides the arrows from calls
// to their work ("ac2g") there are arrows for event edges ("event").

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "export.h"
#include "trace/checks.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::report {
namespace {

using trace::Id;
using trace::kNoId;
using trace::Ns;
using trace::Trace;

// Categories of the device ops that are not "gpu_other".
constexpr const char* kKinds[] = {R"("kernel")", R"("gpu_memcpy")", R"("gpu_memset")"};

std::string json_text(std::string_view text) {
  return nlohmann::json(analysis::printable(text)).dump();
}

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, const ExportOptions& options)
      : trace_(trace), options_(options), texts_(trace.strings.size()) {}

  std::string write() {
    text_ = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ns\"";
    if (const auto start = trace::meta_integer(trace_, "trace_start_realtime_ns"))
      text_ += fmt::format(", \"baseTimeNanoseconds\": {}", *start);
    write_devices();
    text_ += ",\n\"traceEvents\": [";
    write_calls();
    write_ops();
    write_ranges();
    if (events_ == 0) refuse_empty(trace_.file, options_);
    write_edges();
    write_names();
    return text_ + "\n]}\n";
  }

 private:
  const std::string& text(Id id) {
    static const std::string empty = "\"\"";
    if (id >= texts_.size()) return empty;
    if (texts_[id].empty()) texts_[id] = json_text(trace_.text(id));
    return texts_[id];
  }
  void begin() { text_ += events_++ == 0 ? "\n" : ",\n"; }
  // "12.345": microseconds, to the nanosecond.
  static std::string microseconds(Ns ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
  }
  // Where viewers draw a slice: a thread of a process, or a stream of a device.
  struct Lane {
    int64_t pid, tid;
  };
  Lane lane_of_thread(Id thread) const {
    return {exported_pid(trace_, trace_.process_of_thread(thread)), exported_tid(trace_, thread)};
  }
  Lane lane_of_stream(Id stream) const { return {device_of(stream), stream_number(stream)}; }
  int64_t device_of(Id stream) const {
    const Id device = trace_.device_of_stream(stream);
    if (device >= trace_.device.size()) return 0;
    const auto ordinal = trace_.device.ordinal[device];
    return ordinal == trace::kNoSmall ? device : ordinal;
  }
  int64_t stream_number(Id stream) const {
    const auto native = stream < trace_.stream.size() ? trace_.stream.native_id[stream] : -1;
    return native == trace::kNoSmall ? int64_t{stream} : native;
  }
  int64_t context_number(Id stream) const {
    const Id context = stream < trace_.stream.size() ? trace_.stream.context_id[stream] : kNoId;
    if (context >= trace_.context.size()) return 0;
    const auto native = trace_.context.native_id[context];
    return native == trace::kNoSmall ? int64_t{context} : native;
  }
  std::string place(Id stream) const {
    return fmt::format(R"("device": {}, "context": {}, "stream": {})", device_of(stream),
                       context_number(stream), stream_number(stream));
  }

  void write_devices() {
    text_ += ", \"deviceProperties\": [";
    for (Id id = 0; id < trace_.device.size(); ++id) {
      const auto& device = trace_.device;
      text_ += fmt::format(
          R"({}{{"id": {}, "name": {})", id == 0 ? "" : ", ",
          device.ordinal[id] == trace::kNoSmall ? static_cast<int>(id) : device.ordinal[id],
          text(device.name_id[id]));
      if (device.memory_bytes[id] != trace::kNoInt)
        text_ += fmt::format(R"(, "totalGlobalMem": {})", device.memory_bytes[id]);
      if (device.sm_count[id] != trace::kNoSmall)
        text_ += fmt::format(R"(, "numSms": {})", device.sm_count[id]);
      if (device.compute_capability[id] != trace::kNoSmall) {
        text_ +=
            fmt::format(R"(, "computeMajor": {}, "computeMinor": {})",
                        device.compute_capability[id] / 10, device.compute_capability[id] % 10);
      }
      text_ += '}';
    }
    text_ += ']';
  }

  // A slice up to its arguments; category and name are JSON.
  void begin_slice(const std::string& category, const std::string& name, Lane lane, Ns start,
                   Ns end) {
    begin();
    text_ += fmt::format(
        R"({{"ph": "X", "cat": {}, "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {})",
        category, name, lane.pid, lane.tid, microseconds(start),
        microseconds(trace::between(start, end)));
  }
  template <class Table>
  void write_table(const Table& table) {
    for (Id id = 0; id < table.size(); ++id) {
      if (!is_wanted(options_, table.start_ns[id], table.end_ns[id])) continue;
      const std::string_view name = trace_.text(table.name_id[id]);
      const bool driver = name.starts_with("cu") && !name.starts_with("cuda");
      begin_slice(driver ? R"("cuda_driver")" : R"("cuda_runtime")", text(table.name_id[id]),
                  lane_of_thread(table.thread_id[id]), table.start_ns[id], table.end_ns[id]);
      const trace::Int correlation = table.call_number[id];
      text_ += fmt::format(R"(, "args": {{"correlation": {}}}}})",
                           correlation == trace::kNoInt ? -1 : correlation);
    }
  }
  void write_calls() {
    write_table(trace_.api_call);
    write_table(trace_.event_record);
    write_table(trace_.event_wait);
    write_table(trace_.host_sync);
    write_waits();
    write_syncs();
  }
  void write_waits() {
    const auto& waits = trace_.event_wait;
    const auto& records = trace_.event_record;
    for (Id id = 0; id < waits.size(); ++id) {
      if (!is_wanted(options_, waits.start_ns[id], waits.end_ns[id])) continue;
      if (waits.stream_id[id] >= trace_.stream.size()) continue;
      const Id record = waits.record_id[id];
      const bool bound = record < records.size();
      begin_slice(R"("cuda_sync")", R"("Stream Wait Event")", lane_of_stream(waits.stream_id[id]),
                  waits.start_ns[id], waits.end_ns[id]);
      text_ += fmt::format(
          R"(, "args": {{"cuda_sync_kind": "Stream Wait Event", "wait_on_stream": {}, "wait_on_cuda_event_record_corr_id": {}, "wait_on_cuda_event_id": {}, {}, "correlation": {}}}}})",
          bound && records.stream_id[record] < trace_.stream.size()
              ? stream_number(records.stream_id[record])
              : -1,
          bound ? records.call_number[record] : -1,
          waits.event_id[id] == kNoId ? -1 : int64_t{waits.event_id[id]},
          place(waits.stream_id[id]), waits.call_number[id]);
    }
  }
  void write_syncs() {
    const auto& syncs = trace_.host_sync;
    for (Id id = 0; id < syncs.size(); ++id) {
      if (!is_wanted(options_, syncs.start_ns[id], syncs.end_ns[id])) continue;
      if (syncs.kind[id] != trace::kStreamSynchronize ||
          syncs.stream_id[id] >= trace_.stream.size())
        continue;
      begin_slice(R"("cuda_sync")", R"("Stream Sync")", lane_of_stream(syncs.stream_id[id]),
                  syncs.start_ns[id], syncs.end_ns[id]);
      text_ +=
          fmt::format(R"(, "args": {{"cuda_sync_kind": "Stream Sync", {}, "correlation": {}}}}})",
                      place(syncs.stream_id[id]), syncs.call_number[id]);
    }
  }

  std::string op_name(Id op) {
    if (trace_.op.kind[op] == trace::kKernel) return text(trace_.op.name_id[op]);
    return json_text(copy_name(op));
  }
  std::string copy_name(Id op) const {
    if (trace_.op.kind[op] == trace::kMemset) return "Memset (Device)";
    if (trace_.op.kind[op] != trace::kMemcpy) return analysis::op_label(trace_, op);
    const auto kinds = trace_.op.memory_kinds[op];
    const auto memory = [&](int32_t kind) { return kineto_name(name_of(kMemoryKinds, kind)); };
    const auto detail = trace_.op.detail[op];
    return fmt::format("Memcpy {} ({} -> {})",
                       copy_kind_name(detail == trace::kNoSmall ? 0 : detail),
                       memory(kinds == trace::kNoSmall ? 0 : kinds >> 4),
                       memory(kinds == trace::kNoSmall ? 0 : kinds & 15));
  }
  void write_ops() {
    const auto& op = trace_.op;
    for (Id id = 0; id < op.size(); ++id) {
      if (!is_wanted(options_, op.start_ns[id], op.end_ns[id])) continue;
      const bool is_known = op.kind[id] >= 0 && op.kind[id] < 3;
      begin_slice(is_known ? kKinds[op.kind[id]] : R"("gpu_other")", op_name(id),
                  lane_of_stream(op.stream_id[id]), op.start_ns[id], op.end_ns[id]);
      const trace::Int correlation = op.call_number[id];
      text_ += fmt::format(R"(, "args": {{{}, "correlation": {})", place(op.stream_id[id]),
                           correlation == trace::kNoInt ? -1 : correlation);
      if (op.bytes[id] != trace::kNoInt) text_ += fmt::format(R"(, "bytes": {})", op.bytes[id]);
      if (op.graph_node[id] != trace::kNoInt)
        text_ += fmt::format(R"(, "graph node id": {})", op.graph_node[id]);
      if (const Id shape = op.launch_shape_id[id]; shape < trace_.launch_shape.size()) {
        const auto& s = trace_.launch_shape;
        const auto known = [](trace::Small n) { return n == trace::kNoSmall ? 0 : n; };
        text_ += fmt::format(
            R"(, "grid": [{}, {}, {}], "block": [{}, {}, {}], "registers per thread": {})",
            known(s.grid_x[shape]), known(s.grid_y[shape]), known(s.grid_z[shape]),
            known(s.block_x[shape]), known(s.block_y[shape]), known(s.block_z[shape]),
            known(s.registers[shape]));
      }
      text_ += "}}";
      write_launch_arrow(id);
    }
  }
  // `id` is unique within its category.
  void write_arrow(const char* category, uint64_t id, bool begins, Lane lane, Ns at) {
    begin();
    text_ += fmt::format(
        R"({{"ph": "{}", "id": {}, "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}{}}})",
        begins ? 's' : 'f', id, category, category, lane.pid, lane.tid, microseconds(at),
        begins ? "" : R"(, "bp": "e")");
  }
  void write_launch_arrow(Id op) {
    const Id call = trace_.op.api_call_id[op];
    if (call >= trace_.api_call.size()) return;
    const Ns start = trace_.api_call.start_ns[call];
    if (!is_wanted(options_, start, trace_.api_call.end_ns[call])) return;
    write_arrow("ac2g", op, true, lane_of_thread(trace_.api_call.thread_id[call]), start);
    write_arrow("ac2g", op, false, lane_of_stream(trace_.op.stream_id[op]), trace_.op.start_ns[op]);
  }
  void write_edges() {
    const analysis::Edges edges(trace_);
    const auto& op = trace_.op;
    for (size_t i = 0; i < edges.size(); ++i) {
      const trace::Edge& edge = edges[i];
      if (edge.kind != trace::kEventEdge ||
          !is_wanted(options_, op.start_ns[edge.from_op_id], op.end_ns[edge.from_op_id]) ||
          !is_wanted(options_, op.start_ns[edge.to_op_id], op.end_ns[edge.to_op_id])) {
        continue;
      }
      const auto end = [&](Id id, bool begins) {
        write_arrow("event", i, begins, lane_of_stream(op.stream_id[id]), op.start_ns[id]);
      };
      end(edge.from_op_id, true);
      end(edge.to_op_id, false);
    }
  }

  void write_ranges() {
    const auto& range = trace_.range;
    for (Id id = 0; id < range.size(); ++id) {
      if (!is_wanted(options_, range.start_ns[id], range.end_ns[id])) continue;
      const Id domain = range.domain_id[id];
      begin_slice(domain == kNoId ? R"("user_annotation")" : text(domain), text(range.name_id[id]),
                  lane_of_thread(range.thread_id[id]), range.start_ns[id], range.end_ns[id]);
      text_ += '}';
    }
    for (Id id = 0; id < trace_.mark.size(); ++id) {
      if (!is_wanted(options_, trace_.mark.start_ns[id], trace_.mark.start_ns[id])) continue;
      const Lane lane = lane_of_thread(trace_.mark.thread_id[id]);
      begin();
      text_ += fmt::format(R"({{"ph": "i", "s": "t", "name": {}, "pid": {}, "tid": {}, "ts": {}}})",
                           text(trace_.mark.name_id[id]), lane.pid, lane.tid,
                           microseconds(trace_.mark.start_ns[id]));
    }
  }

  void write_name(const char* what, Lane lane, const std::string& name,
                  const std::string& more = "") {
    begin();
    text_ += fmt::format(
        R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": 0, "args": {{"name": {}{}}}}})",
        what, lane.pid, lane.tid, name, more);
  }
  void write_names() {
    for (Id id = 0; id < trace_.process.size(); ++id) {
      const Id line = trace_.process.command_line_id[id];
      write_name("process_name", {exported_pid(trace_, id), 0},
                 json_text(analysis::process_label(trace_, id)),
                 options_.redact || line == kNoId ? "" : R"(, "command_line": )" + text(line));
    }
    for (Id id = 0; id < trace_.thread.size(); ++id) {
      if (trace_.thread.name_id[id] != kNoId)
        write_name("thread_name", lane_of_thread(id), text(trace_.thread.name_id[id]));
    }
    for (Id id = 0; id < trace_.stream.size(); ++id) {
      // Besides what viewers show, the fields by which `import` recognizes the stream.
      write_name("thread_name", lane_of_stream(id),
                 json_text("stream " + analysis::stream_label(trace_, id)),
                 fmt::format(R"(, {}, "stream_name": {}, "stream_kind": {})", place(id),
                             text(trace_.stream.name_id[id]), trace_.stream.kind[id]));
    }
  }

  const Trace& trace_;
  const ExportOptions& options_;
  std::vector<std::string> texts_;  // escaped strings, filled on first use
  std::string text_;
  uint64_t events_ = 0;
};

}  // namespace

std::string export_chrome(const Trace& trace, const ExportOptions& options) {
  return ChromeWriter(trace, options).write();
}

}  // namespace streamscope::report
