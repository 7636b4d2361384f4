// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "restore.h"

#include <set>
#include <utility>

namespace streamscope::record {
namespace {

using trace::Id;
using trace::kNoId;

// row(columns, id): a row of any table.
#define STREAMSCOPE_COPY(type, name) result.name = columns.name[id];
#define STREAMSCOPE_ROW_OF(sql_name, Row, COLUMNS)                             \
  [[maybe_unused]] trace::Row row(const trace::Row##Columns& columns, Id id) { \
    trace::Row result;                                                         \
    COLUMNS(STREAMSCOPE_COPY)                                                  \
    return result;                                                             \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_ROW_OF)
#undef STREAMSCOPE_ROW_OF
#undef STREAMSCOPE_COPY

uint64_t pair(uint64_t high, uint64_t low) { return high << 32 | low; }

trace::OpKind op_kind(CallKind call, bool* puts_work) {
  *puts_work = true;
  switch (call) {
    case CallKind::kLaunch:
      return trace::kKernel;
    case CallKind::kMemcpyAsync:
      return trace::kMemcpy;
    case CallKind::kMemset:
    case CallKind::kMemsetAsync:
      return trace::kMemset;
    case CallKind::kGraphLaunch:
      return trace::kGraphLaunch;
    case CallKind::kHostFunction:
      return trace::kHostFunction;
    case CallKind::kMemoryWait:
      return trace::kMemoryWait;
    case CallKind::kMemoryWrite:
      return trace::kMemoryWrite;
    default:
      *puts_work = false;
      return trace::kKernel;
  }
}

}  // namespace

class Restorer {
 public:
  Restorer(RunState& run, const trace::Trace& trace) : run_(run), trace_(trace) {}

  std::vector<std::unique_ptr<ProcessDrain>> processes(
      const std::map<Id, ProcessIdentity>& identities) {
    std::vector<std::unique_ptr<ProcessDrain>> result;
    for (Id id = 0; id < trace_.process.size(); ++id) {
      const trace::Process process = row(trace_.process, id);
      const auto known = identities.find(id);
      const bool has_rings = known != identities.end();
      const ProcessIdentity identity =
          has_rings ? known->second : ProcessIdentity{static_cast<uint32_t>(process.os_pid), 0, 0};
      result.push_back(std::make_unique<ProcessDrain>(run_, identity, id));
      result.back()->row_ = process;
      result.back()->finished_ = !has_rings || process.complete != trace::kNoSmall;
      processes_.push_back(result.back().get());
    }
    threads();
    contexts();
    streams();
    events();
    operations();
    tasks();
    graphs();
    for (Id id = 0; id < trace_.range.size(); ++id) {
      ProcessDrain* process = of_thread(trace_.range.thread_id[id]);
      if (process != nullptr && trace_.range.end_ns[id] == trace::kUnknownNs)
        process->annotations_.restore(id, row(trace_.range, id));
    }
    stacks();
    allocations();
    issues();
    open_calls(trace_.api_call);
    open_calls(trace_.host_sync);
    open_calls(trace_.event_wait);
    return result;
  }

  void names(const std::vector<IdJournal::Entry>& journal) {
    for (const IdJournal::Entry& entry : journal) {
      if (entry.kind == IdJournal::Kind::kText && entry.id < trace_.strings.size())
        run_.texts.restore(entry.hash, entry.id, trace_.strings[entry.id] != "?");
      if (entry.kind == IdJournal::Kind::kLaunchShape && entry.id < trace_.launch_shape.size() &&
          entry.process < processes_.size())
        processes_[entry.process]->work_.restore_shape(static_cast<uint32_t>(entry.hash), entry.id);
    }
  }

 private:
  ProcessDrain* at(Id process) {
    return process < processes_.size() ? processes_[process] : nullptr;
  }
  ProcessDrain* of_thread(Id thread) {
    return thread < trace_.thread.size() ? at(trace_.thread.process_id[thread]) : nullptr;
  }
  bool is_virtual(const ProcessDrain& process) const {
    return process.row_.clock == trace::kVirtualClock;
  }
  uint64_t stamp(const ProcessDrain& process, trace::Ns ns) const {
    return is_virtual(process) ? static_cast<uint64_t>(ns) : run_.clock.to_ticks(ns);
  }
  HandleLives::Life life(const ProcessDrain& process, trace::Int handle, trace::Ns created,
                         trace::Ns destroyed) const {
    HandleLives::Life life;
    life.handle = static_cast<uint64_t>(handle);
    life.creation_seen = created != trace::kUnknownNs;
    if (life.creation_seen) life.created = stamp(process, created);
    if (destroyed != trace::kUnknownNs) life.destroyed = stamp(process, destroyed);
    return life;
  }

  void threads() {
    for (Id id = 0; id < trace_.thread.size(); ++id) {
      ProcessDrain* process = of_thread(id);
      if (process == nullptr) continue;
      Objects& objects = process->objects_;
      objects.threads_.insert_or_assign(static_cast<uint32_t>(trace_.thread.os_tid[id]),
                                        static_cast<uint32_t>(objects.thread_rows_.size()));
      objects.thread_rows_.emplace_back(id, row(trace_.thread, id));
    }
  }

  void contexts() {
    for (Id id = 0; id < trace_.context.size(); ++id) {
      const trace::Context context = row(trace_.context, id);
      ProcessDrain* process = at(context.process_id);
      if (process == nullptr) continue;
      Objects& objects = process->objects_;
      objects.contexts_.insert_or_assign(static_cast<uint32_t>(context.native_id),
                                         static_cast<uint32_t>(objects.context_rows_.size()));
      objects.context_rows_.push_back({context, id});
      if (context.device_id < trace_.device.size())
        objects.devices_.insert_or_assign(
            static_cast<uint32_t>(trace_.device.ordinal[context.device_id]), context.device_id);
    }
  }

  void streams() {
    for (Id id = 0; id < trace_.stream.size(); ++id) {
      const trace::Stream stream = row(trace_.stream, id);
      if (stream.context_id >= trace_.context.size()) continue;
      ProcessDrain* process = at(trace_.context.process_id[stream.context_id]);
      if (process == nullptr) continue;
      Objects& objects = process->objects_;
      const auto context = static_cast<uint32_t>(trace_.context.native_id[stream.context_id]);
      const auto index = static_cast<uint32_t>(objects.streams_.size());
      objects.streams_.push_back({stream, id});
      objects.stream_of_row_.insert_or_assign(id, index);
      if (stream.native_id != trace::kNoSmall)
        objects.native_streams_.insert_or_assign(
            pair(context, static_cast<uint32_t>(stream.native_id)), index);
      if (stream.kind == trace::kLegacyStream) {
        objects.default_streams_.insert_or_assign(pair(context, 0), index);
        if (stream.native_id != trace::kNoSmall)
          objects.known_context(context).null_stream = static_cast<uint32_t>(stream.native_id);
      } else if (stream.kind == trace::kPerThreadStream &&
                 stream.thread_id < trace_.thread.size()) {
        const auto tid = static_cast<uint32_t>(trace_.thread.os_tid[stream.thread_id]);
        objects.default_streams_.insert_or_assign(pair(context, tid), index);
      } else if (stream.handle != trace::kNoInt) {
        objects.stream_lives_.restore(
            life(*process, stream.handle, stream.created_ns, stream.destroyed_ns));
        objects.stream_of_life_.push_back(index);
      }
    }
  }

  void events() {
    std::vector<std::pair<ProcessDrain*, uint32_t>> index(trace_.event.size());
    for (Id id = 0; id < trace_.event.size(); ++id) {
      const trace::Event event = row(trace_.event, id);
      ProcessDrain* process = at(event.process_id);
      if (process == nullptr) continue;
      Objects& objects = process->objects_;
      const uint32_t life_index = objects.event_lives_.restore(
          life(*process, event.handle, event.created_ns, event.destroyed_ns));
      index[id] = {process, life_index};
      Objects::Event known;
      known.row = event;
      known.id = id;
      objects.events_.push_back(std::move(known));
    }
    for (Id id = 0; id < trace_.event_record.size(); ++id) {
      const trace::EventRecord record = row(trace_.event_record, id);
      if (record.event_id >= index.size() || index[record.event_id].first == nullptr ||
          record.result != 0)
        continue;
      auto [process, life_index] = index[record.event_id];
      Objects::Event& event = process->objects_.events_[life_index];
      CallSpan span;
      span.begin = stamp(*process, record.start_ns);
      span.end = stamp(*process, record.end_ns);
      if (is_virtual(*process))
        span.begin = span.end = static_cast<uint64_t>(record.correlation_id);
      const bool captured =
          record.flags != trace::kNoSmall && (record.flags & trace::kCapturedRecord) != 0;
      event.history.add({span, id, captured});
      if (!is_virtual(*process)) event.history.forget_before(span.begin);
      event.version = std::max(event.version, record.version);
    }
  }

  void operations() {
    for (Id id = 0; id < trace_.operation.size(); ++id) {
      ProcessDrain* process = at(trace_.operation.process_id[id]);
      if (process != nullptr) process->operations_.restore(id, row(trace_.operation, id));
    }
    const auto of_operation = [&](Id operation) {
      return operation < trace_.operation.size() ? at(trace_.operation.process_id[operation])
                                                 : nullptr;
    };
    for (Id id = 0; id < trace_.operation_dependency.size(); ++id) {
      ProcessDrain* process = of_operation(trace_.operation_dependency.operation_id[id]);
      if (process != nullptr)
        process->operations_.restore(id, row(trace_.operation_dependency, id));
    }
    for (Id id = 0; id < trace_.barrier.size(); ++id) {
      const Id operation = trace_.barrier.operation_id[id];
      if (ProcessDrain* process = of_operation(operation)) {
        process->operations_.restore(id, row(trace_.barrier, id),
                                     static_cast<uint32_t>(trace_.operation.native_id[operation]));
      }
    }
    for (Id id = 0; id < trace_.barrier_stream.size(); ++id) {
      const Id barrier = trace_.barrier_stream.barrier_id[id];
      ProcessDrain* process =
          barrier < trace_.barrier.size() ? at(trace_.barrier.process_id[barrier]) : nullptr;
      if (process != nullptr) process->operations_.restore(id, row(trace_.barrier_stream, id));
    }
    for (Id id = 0; id < trace_.timeline.size(); ++id) {
      ProcessDrain* process = at(trace_.timeline.process_id[id]);
      if (process != nullptr) process->operations_.restore(id, row(trace_.timeline, id));
    }
  }

  void tasks() {
    for (Id id = 0; id < trace_.task_queue.size(); ++id) {
      ProcessDrain* process = at(trace_.task_queue.process_id[id]);
      if (process != nullptr) process->tasks_.restore(id, row(trace_.task_queue, id));
    }
    for (Id id = 0; id < trace_.task_run.size(); ++id) {
      const Id queue = trace_.task_run.task_queue_id[id];
      ProcessDrain* process =
          queue < trace_.task_queue.size() ? at(trace_.task_queue.process_id[queue]) : nullptr;
      if (process != nullptr) process->tasks_.restore(id, row(trace_.task_run, id));
    }
  }

  void graphs() {
    for (Id id = 0; id < trace_.graph.size(); ++id) {
      ProcessDrain* process = at(trace_.graph.process_id[id]);
      if (process != nullptr) process->graphs_.restore(id, row(trace_.graph, id));
    }
    for (Id id = 0; id < trace_.graph_node.size(); ++id) {
      const Id graph = trace_.graph_node.graph_id[id];
      ProcessDrain* process =
          graph < trace_.graph.size() ? at(trace_.graph.process_id[graph]) : nullptr;
      if (process != nullptr)
        process->graphs_.restore_node(id, row(trace_.graph_node, id),
                                      static_cast<uint32_t>(trace_.graph.native_id[graph]));
    }
  }

  void stacks() {
    for (Id id = 0; id < trace_.stack.size(); ++id) {
      ProcessDrain* process = at(trace_.stack.process_id[id]);
      if (process != nullptr) process->stacks_.restore(id, row(trace_.stack, id));
    }
    for (Id id = 0; id < trace_.stack_frame.size(); ++id) {
      const Id stack = trace_.stack_frame.stack_id[id];
      ProcessDrain* process =
          stack < trace_.stack.size() ? at(trace_.stack.process_id[stack]) : nullptr;
      if (process == nullptr) continue;
      process->stacks_.restore(id, row(trace_.stack_frame, id),
                               std::string(trace_.text(trace_.stack_frame.module_id[id])));
    }
  }

  void allocations() {
    for (Id id = 0; id < trace_.allocation.size(); ++id) {
      const trace::Allocation allocation = row(trace_.allocation, id);
      ProcessDrain* process = at(allocation.process_id);
      if (process == nullptr) continue;
      CallRows& calls = process->calls_;
      calls.allocation_lives_.restore(
          life(*process, allocation.address, allocation.allocated_ns, allocation.freed_ns));
      calls.allocations_.emplace_back(id, allocation);
    }
  }

  // Calls whose device work is not in the trace yet. Captured calls have none.
  void issues() {
    std::set<std::pair<ProcessDrain*, trace::Int>> reported;
    std::map<Id, Id> shown;  // call -> op that has its row, but no times yet
    for (Id id = 0; id < trace_.op.size(); ++id) {
      const Id call = trace_.op.api_call_id[id];
      if (call >= trace_.api_call.size()) continue;
      if (trace_.op.start_ns[id] == trace::kUnknownNs) {
        shown[call] = id;
      } else {
        reported.emplace(of_thread(trace_.api_call.thread_id[call]), trace_.op.correlation_id[id]);
      }
    }
    for (const OpOrder::Held& held : run_.ops.held()) {
      if (const Id call = held.op.api_call_id; call < trace_.api_call.size())
        reported.emplace(of_thread(trace_.api_call.thread_id[call]), held.op.correlation_id);
    }
    std::map<ProcessDrain*, int> capturing;
    for (Id id = 0; id < trace_.api_call.size(); ++id) {
      const trace::ApiCall call = row(trace_.api_call, id);
      ProcessDrain* process = of_thread(call.thread_id);
      if (process == nullptr || process->finished_ || call.result != 0) continue;
      const auto kind = static_cast<CallKind>(call.kind);
      if (kind == CallKind::kCaptureBegin) ++capturing[process];
      if (kind == CallKind::kCaptureEnd) --capturing[process];
      bool puts_work = false;
      Issue issue;
      issue.kind = op_kind(kind, &puts_work);
      if (!puts_work || capturing[process] > 0 || reported.contains({process, call.correlation_id}))
        continue;
      issue.virtual_time = is_virtual(*process);
      issue.correlation_id = static_cast<uint32_t>(call.correlation_id);
      issue.call = id;
      issue.stream = call.stream_id;
      issue.operation = call.operation_id;
      if (issue.kind == trace::kMemcpy || issue.kind == trace::kMemset) issue.bytes = call.value;
      issue.silent = issue.bytes == 0 || (issue.kind == trace::kMemcpy && call.object == 0);
      issue.unseen = issue.kind == trace::kGraphLaunch &&
                     (run_.options.with & ring::kWithGraphNodes) != 0 &&
                     process->graphs_.may_run_unseen(static_cast<uint64_t>(call.object));
      if (const auto row = shown.find(id); row != shown.end()) issue.row = row->second;
      if (process->work_.expects_report(issue)) process->work_.issue(issue);
    }
  }

  // Calls that had not ended when their rows were added.
  template <class Calls>
  void open_calls(const Calls& calls) {
    for (Id id = 0; id < calls.size(); ++id) {
      ProcessDrain* process = of_thread(calls.thread_id[id]);
      if (process != nullptr && !process->finished_ && calls.end_ns[id] == trace::kUnknownNs)
        process->shown_.push_back({calls.start_ns[id],
                                   static_cast<uint32_t>(trace_.thread.os_tid[calls.thread_id[id]]),
                                   id});
    }
  }

  RunState& run_;
  const trace::Trace& trace_;
  std::vector<ProcessDrain*> processes_;
};

std::vector<std::unique_ptr<ProcessDrain>> restore(RunState& run, const trace::Trace& trace,
                                                   const std::map<Id, ProcessIdentity>& identities,
                                                   const std::vector<IdJournal::Entry>& journal) {
  Restorer restorer(run, trace);
  auto processes = restorer.processes(identities);
  restorer.names(journal);
  return processes;
}

}  // namespace streamscope::record
