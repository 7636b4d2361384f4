// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Perfetto's protobuf: ops as events of GPU queues, one queue per stream, each with the ops that it
// waited for (event_wait_ids, which the viewer draws as arrows); calls and ranges as slices of host
// threads.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "export.h"
#include "export/perfetto.pb.h"
#include "export_job.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

namespace proto = streamscope::perfetto;
using trace::Id;
using trace::kNoId;
using trace::Ns;
using trace::Trace;

constexpr uint32_t kCleared = 1, kNeedsState = 2;
// Bases of track and intern ids, above the ids of rows.
constexpr uint64_t kProcessTracks = uint64_t{1} << 40, kThreadTracks = uint64_t{2} << 40,
                   kCollectiveTracks = uint64_t{3} << 40;
constexpr uint64_t kStageIids = 1, kQueueIids = 100;  // share one number space
// Ids of a rank are above those of the rank before it.
constexpr int kRankShift = 42;

// How a trace differs from the others in a file.
struct PerfettoPlace {
  uint32_t sequence = 1;
  uint64_t base = 0;       // of ids of tracks and events
  int32_t first_pid = -1;  // processes and threads get numbers from here on; -1: have their own
  int32_t first_gpu = 0;
  std::string rank = {};                 // "rank 3 (node1)"; "": of no job
  std::function<Ns(Ns)> to_common = {};  // the clock of the file; none: that of the trace
  Ns shift_ns = 0;  // times of a trace may start before 0; those of Perfetto may not
};

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, const ExportOptions& options, PerfettoPlace place)
      : trace_(trace), options_(options), place_(std::move(place)) {}

  void write() {
    gather_slices();
    write_names();
    write_tracks();
    write_ops();
    write_slices();
  }

  // A slice on a track of its own below the process, joined with others of its flow.
  void write_track(uint64_t track, const std::string& name) {
    proto::TrackDescriptor* descriptor = packet()->mutable_track_descriptor();
    descriptor->set_uuid(place_.base + track);
    descriptor->set_parent_uuid(place_.base + kProcessTracks);
    descriptor->set_name(name);
  }
  void write_slice(uint64_t track, const std::string& name, Ns start, Ns end, uint64_t flow,
                   const std::vector<std::pair<const char*, int64_t>>& facts) {
    if (!wanted(start, end)) return;
    proto::TracePacket* at = packet();
    at->set_timestamp(time(start));
    proto::TrackEvent* event = at->mutable_track_event();
    event->set_type(proto::TrackEvent::TYPE_SLICE_BEGIN);
    event->set_track_uuid(place_.base + track);
    event->set_name(name);
    event->add_flow_ids(flow);
    for (const auto& [key, value] : facts) add_fact(event, key, value);
    end_slice(track, end);
    ++events_;
  }

  uint64_t events() const { return events_; }
  std::string bytes() const {
    std::string bytes;
    if (!out_.SerializeToString(&bytes)) refuse_empty(trace_.file, options_);
    return bytes;
  }

 private:
  proto::TracePacket* packet() {
    proto::TracePacket* packet = out_.add_packet();
    packet->set_trusted_packet_sequence_id(place_.sequence);
    return packet;
  }
  Ns common(Ns ns) const {
    return place_.to_common && ns != trace::kUnknownNs ? place_.to_common(ns) : ns;
  }
  bool wanted(Ns start, Ns end) const { return is_wanted(options_, common(start), common(end)); }
  uint64_t time(Ns ns) const {
    return static_cast<uint64_t>(std::max<Ns>(trace::sum_of(common(ns), place_.shift_ns), 0));
  }
  int32_t pid_of(Id process) const {
    return place_.first_pid < 0 ? exported_pid(trace_, process)
                                : place_.first_pid + static_cast<int32_t>(process);
  }
  int32_t tid_of(Id thread) const {
    return place_.first_pid < 0 ? exported_tid(trace_, thread)
                                : place_.first_pid + static_cast<int32_t>(trace_.process.size()) +
                                      static_cast<int32_t>(thread);
  }
  std::string name_of_process(Id process) const {
    std::string own = analysis::process_label(trace_, process);
    if (place_.rank.empty()) return own;
    return process == 0 ? place_.rank : fmt::format("{}: {}", place_.rank, own);
  }

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
      track->set_uuid(place_.base + kProcessTracks + id);
      track->mutable_process()->set_pid(pid_of(id));
      track->mutable_process()->set_process_name(name_of_process(id));
      if (const Id line = trace_.process.command_line_id[id]; !options_.redact && line != kNoId)
        track->mutable_process()->add_cmdline(analysis::printable(trace_.text(line)));
    }
    for (Id id = 0; id < trace_.thread.size(); ++id) {
      proto::TrackDescriptor* track = packet()->mutable_track_descriptor();
      track->set_uuid(place_.base + kThreadTracks + id);
      track->mutable_thread()->set_pid(pid_of(trace_.thread.process_id[id]));
      track->mutable_thread()->set_tid(tid_of(id));
      if (trace_.thread.name_id[id] != kNoId)
        track->mutable_thread()->set_thread_name(
            analysis::printable(trace_.text(trace_.thread.name_id[id])));
    }
  }

  void write_ops() {
    const analysis::Edges edges(trace_);
    const auto& op = trace_.op;
    for (Id id = 0; id < op.size(); ++id) {
      if (!wanted(op.start_ns[id], op.end_ns[id])) continue;
      proto::TracePacket* at = packet();
      at->set_timestamp(time(op.start_ns[id]));
      at->set_sequence_flags(kNeedsState);
      proto::GpuRenderStageEvent* event = at->mutable_gpu_render_stage_event();
      event->set_event_id(place_.base + id + 1);
      event->set_duration(time(op.end_ns[id]) - time(op.start_ns[id]));
      event->set_stage_iid(kStageIids + static_cast<uint64_t>(op.kind[id]));
      event->set_name(analysis::op_label(trace_, id));
      if (const Id stream = op.stream_id[id]; stream < trace_.stream.size()) {
        event->set_hw_queue_iid(kQueueIids + stream);
        event->set_context(uint64_t{trace_.stream.context_id[stream]} + 1);
        if (const Id device = trace_.device_of_stream(stream); device < trace_.device.size())
          event->set_gpu_id(place_.first_gpu + static_cast<int32_t>(device));
      }
      for (const trace::Edge& edge : edges.incoming(id)) {
        if (edge.kind == trace::kEventEdge)
          event->add_event_wait_ids(place_.base + edge.from_op_id + 1);
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
  static void add_fact(proto::TrackEvent* event, const char* name, int64_t value) {
    proto::DebugAnnotation* fact = event->add_debug_annotations();
    fact->set_name(name);
    fact->set_int_value(value);
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
      if (!wanted(table.start_ns[id], table.end_ns[id])) continue;
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
      event->set_track_uuid(place_.base + kThreadTracks + slice.thread);
      event->add_categories(slice.category);
      if (slice.name != kNoId) event->set_name_iid(uint64_t{slice.name} + 1);
      if (slice.correlation != trace::kNoInt) add_fact(event, "correlation", slice.correlation);
      open.push_back(end);
      ++events_;
    }
    if (!slices_.empty()) close(open, slices_.back().thread, kForever);
  }
  void close(std::vector<Ns>& open, Id thread, Ns until) {
    while (!open.empty() && open.back() <= until) {
      end_slice(kThreadTracks + thread, open.back());
      open.pop_back();
    }
  }
  void end_slice(uint64_t track, Ns end) {
    proto::TracePacket* at = packet();
    at->set_timestamp(time(end));
    proto::TrackEvent* event = at->mutable_track_event();
    event->set_type(proto::TrackEvent::TYPE_SLICE_END);
    event->set_track_uuid(place_.base + track);
  }

  static constexpr Ns kForever = std::numeric_limits<Ns>::max();

  const Trace& trace_;
  const ExportOptions& options_;
  PerfettoPlace place_;
  proto::Trace out_;
  std::vector<Slice> slices_;
  uint64_t events_ = 0;
};

// The collectives of a rank, on tracks by communicator, each joined with those of other ranks.
class CollectiveTracks {
 public:
  CollectiveTracks(const job::Job& job, const job::CommonClock& clock, PerfettoWriter& writer)
      : job_(job), clock_(clock), writer_(writer) {}

  void write(uint32_t rank_row) {
    const job::Steps& steps = job_.steps;
    const job::RankRow& rank = steps.ranks[rank_row];
    for (uint32_t i = 0; i < rank.row_count; ++i) {
      const job::IterationRow& row = steps.iterations[rank.first_row + i];
      for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
        if (!steps.ends_iteration(step) && steps.ran(step)) write_step(step);
      }
    }
  }

 private:
  void write_step(uint32_t step) {
    const job::Steps& steps = job_.steps;
    const job::Wait& wait = job_.waiting.waits[steps.group[step]];
    std::vector<std::pair<const char*, int64_t>> facts{
        {"waits_ns", job::waited_ns(steps, wait, step)}};
    if (wait.late != job::kNone) facts.emplace_back("last_rank", steps.rank_number(wait.late));
    const uint32_t rank = steps.rank_of(step);
    writer_.write_slice(track_of(step), analysis::printable(name_of(steps, step)),
                        clock_.in_trace(rank, steps.start_ns[step]),
                        clock_.in_trace(rank, steps.end_ns[step]), uint64_t{steps.group[step]} + 1,
                        facts);
  }

  // Slices of a track must nest, so what runs at the same time gets another one.
  uint64_t track_of(uint32_t step) {
    const job::Steps& steps = job_.steps;
    std::vector<std::pair<uint64_t, Ns>>& tracks = tracks_[steps.communicator[step]];
    for (auto& [track, until] : tracks) {
      if (until > steps.start_ns[step]) continue;
      until = steps.end_ns[step];
      return track;
    }
    const uint64_t track = kCollectiveTracks + count_++;
    writer_.write_track(track,
                        analysis::printable(steps.communicators[steps.communicator[step]].name));
    tracks.emplace_back(track, steps.end_ns[step]);
    return track;
  }

  const job::Job& job_;
  const job::CommonClock& clock_;
  PerfettoWriter& writer_;
  std::map<uint32_t, std::vector<std::pair<uint64_t, Ns>>> tracks_;  // by communicator, with ends
  uint64_t count_ = 0;
};

}  // namespace

std::string export_perfetto(const Trace& trace, const ExportOptions& options) {
  PerfettoPlace place;
  for (const Ns start : trace.op.start_ns) {
    if (start != trace::kUnknownNs) place.shift_ns = std::max(place.shift_ns, -start);
  }
  PerfettoWriter writer(trace, options, std::move(place));
  writer.write();
  if (writer.events() == 0) refuse_empty(trace.file, options);
  return writer.bytes();
}

PerfettoJob::PerfettoJob(const job::Job& job, const job::CommonClock& clock,
                         const ExportOptions& options)
    : job_(job), clock_(clock), options_(options) {
  if (clock.started_ns() != trace::kUnknownNs) shift_ns_ = clock.started_ns();
}

std::string PerfettoJob::rank(uint32_t row, const Trace& trace) {
  const job::RankIdentity& identity = job_.steps.ranks[row].identity;
  PerfettoPlace place{
      .sequence = row + 1,
      .base = uint64_t{row} << kRankShift,
      .first_pid = next_pid_,
      .first_gpu = next_gpu_,
      .rank = fmt::format("rank {} ({})", identity.rank, analysis::printable(identity.host)),
      .to_common = [this, row](Ns ns) { return clock_.of(row, ns); },
      .shift_ns = shift_ns_};
  if (!job_.clocks[row].known()) place.rank += ", clock of its host";
  PerfettoWriter writer(trace, options_, std::move(place));
  writer.write();
  CollectiveTracks(job_, clock_, writer).write(row);
  next_pid_ += static_cast<int32_t>(trace.process.size() + trace.thread.size());
  next_gpu_ += static_cast<int32_t>(trace.device.size());
  events_ += writer.events();
  return writer.bytes();
}

}  // namespace streamscope::report
