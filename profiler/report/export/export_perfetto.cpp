// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Perfetto's protobuf: ops as events of GPU queues, one queue per stream, each with the ops that it
// waited for (event_wait_ids, which the viewer draws as arrows); calls and ranges as slices of host
// threads.

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "export.h"
#include "export/perfetto.pb.h"

namespace streamscope::report {
namespace {

namespace proto = streamscope::perfetto;
using trace::Id;
using trace::kNoId;
using trace::Ns;
using trace::Trace;

constexpr uint32_t kSequence = 1;
constexpr uint32_t kCleared = 1, kNeedsState = 2;
// Bases of track and intern ids, above the ids of rows.
constexpr uint64_t kProcessTracks = uint64_t{1} << 40, kThreadTracks = uint64_t{2} << 40;
constexpr uint64_t kStageIids = 1, kQueueIids = 100;  // share one number space

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, const ExportOptions& options)
      : trace_(trace), options_(options) {
    // Times of a trace may start before 0; those of Perfetto may not.
    for (const Ns start : trace.op.start_ns) {
      if (start != trace::kUnknownNs) shift_ns_ = std::max(shift_ns_, -start);
    }
  }

  std::string write() {
    gather_slices();
    write_names();
    write_tracks();
    write_ops();
    write_slices();
    if (events_ == 0) refuse_empty(trace_, options_);
    std::string bytes;
    if (!out_.SerializeToString(&bytes)) refuse_empty(trace_, options_);
    return bytes;
  }

 private:
  proto::TracePacket* packet() {
    proto::TracePacket* packet = out_.add_packet();
    packet->set_trusted_packet_sequence_id(kSequence);
    return packet;
  }
  uint64_t time(Ns ns) const { return static_cast<uint64_t>(std::max<Ns>(ns + shift_ns_, 0)); }
  int32_t pid_of(Id process) const { return exported_pid(trace_, process); }

  void write_names() {
    proto::TracePacket* first = packet();
    first->set_sequence_flags(kCleared);
    proto::InternedData* interned = first->mutable_interned_data();
    // Only the names of slices are written: other texts include command lines and environment
    // variables.
    std::set<Id> names;
    for (const Slice& slice : slices_) names.insert(slice.name);
    names.erase(kNoId);
    for (const Id id : names) {
      proto::EventName* name = interned->add_event_names();
      name->set_iid(uint64_t{id} + 1);
      name->set_name(analysis::printable(trace_.text(id)));
    }
    for (Id id = 0; id < trace_.context.size(); ++id) {
      proto::InternedGraphicsContext* context = interned->add_graphics_contexts();
      context->set_iid(id + 1);
      context->set_pid(pid_of(trace_.context.process_id[id]));
      context->set_api(proto::InternedGraphicsContext::CUDA);
    }
    for (int kind = trace::kKernel; kind <= trace::kGraphLaunch; ++kind) {
      proto::InternedGpuRenderStageSpecification* stage = interned->add_gpu_specifications();
      stage->set_iid(kStageIids + static_cast<uint64_t>(kind));
      stage->set_name(std::string(trace::to_string(static_cast<trace::OpKind>(kind))));
      stage->set_category(kind == trace::kKernel
                              ? proto::InternedGpuRenderStageSpecification::COMPUTE
                              : proto::InternedGpuRenderStageSpecification::OTHER);
    }
    for (Id id = 0; id < trace_.stream.size(); ++id) {
      proto::InternedGpuRenderStageSpecification* queue = interned->add_gpu_specifications();
      queue->set_iid(kQueueIids + id);
      queue->set_name("stream " + analysis::stream_label(trace_, id));
    }
  }

  void write_tracks() {
    for (Id id = 0; id < trace_.process.size(); ++id) {
      proto::TrackDescriptor* track = packet()->mutable_track_descriptor();
      track->set_uuid(kProcessTracks + id);
      track->mutable_process()->set_pid(pid_of(id));
      track->mutable_process()->set_process_name(analysis::process_label(trace_, id));
      if (const Id line = trace_.process.command_line_id[id]; !options_.redact && line != kNoId)
        track->mutable_process()->add_cmdline(analysis::printable(trace_.text(line)));
    }
    for (Id id = 0; id < trace_.thread.size(); ++id) {
      proto::TrackDescriptor* track = packet()->mutable_track_descriptor();
      track->set_uuid(kThreadTracks + id);
      track->mutable_thread()->set_pid(pid_of(trace_.thread.process_id[id]));
      track->mutable_thread()->set_tid(exported_tid(trace_, id));
      if (trace_.thread.name_id[id] != kNoId)
        track->mutable_thread()->set_thread_name(
            analysis::printable(trace_.text(trace_.thread.name_id[id])));
    }
  }

  void write_ops() {
    const analysis::Edges edges(trace_);
    const auto& op = trace_.op;
    for (Id id = 0; id < op.size(); ++id) {
      if (!is_wanted(options_, op.start_ns[id], op.end_ns[id])) continue;
      proto::TracePacket* at = packet();
      at->set_timestamp(time(op.start_ns[id]));
      at->set_sequence_flags(kNeedsState);
      proto::GpuRenderStageEvent* event = at->mutable_gpu_render_stage_event();
      event->set_event_id(uint64_t{id} + 1);
      event->set_duration(static_cast<uint64_t>(op.end_ns[id] - op.start_ns[id]));
      event->set_stage_iid(kStageIids + static_cast<uint64_t>(op.kind[id]));
      event->set_name(analysis::op_label(trace_, id));
      if (const Id stream = op.stream_id[id]; stream < trace_.stream.size()) {
        event->set_hw_queue_iid(kQueueIids + stream);
        event->set_context(uint64_t{trace_.stream.context_id[stream]} + 1);
        if (const Id device = trace_.device_of_stream(stream); device < trace_.device.size())
          event->set_gpu_id(static_cast<int32_t>(device));
      }
      for (const trace::Edge& edge : edges.incoming(id)) {
        if (edge.kind == trace::kEventEdge)
          event->add_event_wait_ids(uint64_t{edge.from_op_id} + 1);
      }
      add_fact(event, "op", std::to_string(id));
      if (op.bytes[id] != trace::kNoInt) add_fact(event, "bytes", std::to_string(op.bytes[id]));
      if (const trace::Int correlation = op.call_number[id]; correlation != trace::kNoInt)
        add_fact(event, "correlation", std::to_string(correlation));
      ++events_;
    }
  }
  static void add_fact(proto::GpuRenderStageEvent* event, const char* name, std::string value) {
    proto::GpuRenderStageEvent::ExtraData* fact = event->add_extra_data();
    fact->set_name(name);
    fact->set_value(std::move(value));
  }

  struct Slice {
    Ns start, end;
    Id thread, name;
    const char* category;
    trace::Int correlation;
  };
  template <class Table>
  void gather(const Table& table, const char* category) {
    for (Id id = 0; id < table.size(); ++id) {
      if (!is_wanted(options_, table.start_ns[id], table.end_ns[id])) continue;
      trace::Int correlation = trace::kNoInt;
      if constexpr (requires { table.correlation_id; }) correlation = table.call_number[id];
      slices_.push_back({table.start_ns[id], table.end_ns[id], table.thread_id[id],
                         table.name_id[id], category, correlation});
    }
  }
  void gather_slices() {
    gather(trace_.range, "nvtx");
    gather(trace_.api_call, "cuda");
    gather(trace_.event_record, "cuda");
    gather(trace_.event_wait, "cuda");
    gather(trace_.host_sync, "cuda");
    std::ranges::stable_sort(slices_, {}, [](const Slice& slice) {
      return std::tuple(slice.thread, slice.start, -slice.end);  // the longer one outside
    });
  }
  // Slices of a track must nest: begins and ends of each thread are written in order of time.
  void write_slices() {
    std::vector<Ns> open;
    for (size_t i = 0; i < slices_.size(); ++i) {
      const Slice& slice = slices_[i];
      if (i > 0 && slices_[i - 1].thread != slice.thread)
        close(open, slices_[i - 1].thread, kForever);
      close(open, slice.thread, slice.start);
      // Ranges may overlap without nesting; the inner one is then cut at the end of its parent.
      const Ns end = open.empty() ? slice.end : std::min(slice.end, open.back());
      proto::TracePacket* at = packet();
      at->set_timestamp(time(slice.start));
      at->set_sequence_flags(kNeedsState);
      proto::TrackEvent* event = at->mutable_track_event();
      event->set_type(proto::TrackEvent::TYPE_SLICE_BEGIN);
      event->set_track_uuid(kThreadTracks + slice.thread);
      event->add_categories(slice.category);
      if (slice.name != kNoId) event->set_name_iid(uint64_t{slice.name} + 1);
      if (slice.correlation != trace::kNoInt) {
        proto::DebugAnnotation* fact = event->add_debug_annotations();
        fact->set_name("correlation");
        fact->set_int_value(slice.correlation);
      }
      open.push_back(end);
      ++events_;
    }
    if (!slices_.empty()) close(open, slices_.back().thread, kForever);
  }
  void close(std::vector<Ns>& open, Id thread, Ns until) {
    while (!open.empty() && open.back() <= until) {
      proto::TracePacket* at = packet();
      at->set_timestamp(time(open.back()));
      proto::TrackEvent* event = at->mutable_track_event();
      event->set_type(proto::TrackEvent::TYPE_SLICE_END);
      event->set_track_uuid(kThreadTracks + thread);
      open.pop_back();
    }
  }

  static constexpr Ns kForever = std::numeric_limits<Ns>::max();

  const Trace& trace_;
  const ExportOptions& options_;
  proto::Trace out_;
  Ns shift_ns_ = 0;
  std::vector<Slice> slices_;
  uint64_t events_ = 0;
};

}  // namespace

std::string export_perfetto(const Trace& trace, const ExportOptions& options) {
  return PerfettoWriter(trace, options).write();
}

}  // namespace streamscope::report
