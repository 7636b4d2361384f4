// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace_builder.h"

#include <algorithm>

#include "trace/write/writer.h"

namespace streamscope::test {

using namespace streamscope::trace;

namespace {

// The last row of a column that holds the id.
Id last_with(const Column<Id>& column, Id id) {
  for (auto row = static_cast<Id>(column.size()); row-- > 0;) {
    if (column[row] == id) return row;
  }
  return kNoId;
}

}  // namespace

TraceBuilder::TraceBuilder() {
  trace_.meta = {{"format_version", std::to_string(kFormatVersion)},
                 {"producer", "trace_builder"},
                 {"complete", "1"},
                 {"trace_start_realtime_ns", "1700000000000000000"}};
  device_ = add(Device{.ordinal = 0,
                       .name_id = intern("Test GPU"),
                       .compute_capability = 90,
                       .sm_count = 132,
                       .simulated = 0});
  process("app");
}

#define STREAMSCOPE_ADD(sql_name, Row, COLUMNS) \
  Id TraceBuilder::add(const Row& row) { return trace_.sql_name.append(row); }
STREAMSCOPE_TABLES(STREAMSCOPE_ADD)
#undef STREAMSCOPE_ADD

Id TraceBuilder::intern(std::string_view text) {
  auto [found, is_new] = strings_.emplace(text, static_cast<Id>(trace_.strings.size()));
  if (is_new) trace_.strings.emplace_back(text);
  return found->second;
}

TraceBuilder& TraceBuilder::process(std::string_view name) {
  Small number = static_cast<Small>(trace_.process.size());
  process_ = add(Process{.os_pid = 1000 + number,
                         .name_id = intern(name),
                         .clock = kMonotonicClock,
                         .start_ns = 0,
                         .complete = 1});
  context_ = add(Context{.process_id = process_, .device_id = device_, .native_id = 1});
  return thread("main");
}

TraceBuilder& TraceBuilder::device(std::string_view name) {
  device_ = add(Device{.ordinal = static_cast<Small>(trace_.device.size()),
                       .name_id = intern(name),
                       .simulated = 0});
  context_ = add(Context{.process_id = process_,
                         .device_id = device_,
                         .native_id = static_cast<Small>(trace_.context.size() + 1)});
  return *this;
}

TraceBuilder& TraceBuilder::thread(std::string_view name) {
  auto [found, is_new] = threads_.emplace(std::pair(process_, std::string(name)),
                                          static_cast<Id>(trace_.thread.size()));
  thread_ = found->second;
  if (is_new) {
    add(Thread{.process_id = process_,
               .os_tid = static_cast<Small>(2000 + thread_),
               .name_id = intern(name),
               .start_ns = 0});
  }
  return *this;
}

TraceBuilder& TraceBuilder::at(Ns host_ns) {
  now_ns_ = host_ns;
  return *this;
}

StreamBuilder TraceBuilder::stream(std::string_view name, StreamKind kind) {
  auto [found, is_new] = streams_.emplace(std::pair(context_, std::string(name)),
                                          static_cast<Id>(trace_.stream.size()));
  Id id = found->second;
  if (is_new) {
    Stream row{.context_id = context_, .native_id = static_cast<Small>(7 + id)};
    row.handle = kind == kLegacyStream ? 0 : 0x5000 + Int{id} * 0x10;
    row.generation = 0, row.kind = kind, row.priority = 0;
    row.thread_id = kind == kPerThreadStream ? thread_ : kNoId;
    row.name_id = intern(name), row.created_ns = 0;
    add(row);
  }
  return StreamBuilder(this, id);
}

Id TraceBuilder::event(std::string_view name) {
  auto [found, is_new] =
      events_.emplace(std::pair(process_, std::string(name)), static_cast<Id>(trace_.event.size()));
  Id id = found->second;
  if (is_new) {
    add(Event{.process_id = process_,
              .context_id = context_,
              .handle = 0xe000 + Int{id} * 0x10,
              .generation = 0,
              .flags = 2,
              .name_id = intern(name),
              .created_ns = 0});
  }
  return id;
}

TraceBuilder::HostCall TraceBuilder::call() {
  Ns start_ns = now_ns_++;
  return {start_ns, now_ns_, ++calls_};
}

Id TraceBuilder::newest_record(Id event) const {
  return last_with(trace_.event_record.event_id, event);
}

void TraceBuilder::sync(HostSync row, const char* name, Ns start_ns, Ns end_ns) {
  row.thread_id = thread_, row.name_id = intern(name), row.context_id = context_;
  row.start_ns = start_ns, row.end_ns = end_ns;
  row.call_number = row.correlation_id = ++calls_;
  if (row.result == kNoSmall) row.result = 0;
  if (row.event_id != kNoId) {
    row.record_id = newest_record(row.event_id);
    row.binding = row.record_id == kNoId ? kNeverRecorded : kBindingExact;
  }
  add(row);
  now_ns_ = std::max(now_ns_, end_ns);
}

TraceBuilder& TraceBuilder::synchronize_device(Ns start_ns, Ns end_ns) {
  sync({.kind = kDeviceSynchronize}, "cudaDeviceSynchronize", start_ns, end_ns);
  return *this;
}

TraceBuilder& TraceBuilder::synchronize_event(std::string_view name, Ns start_ns, Ns end_ns) {
  sync({.kind = kEventSynchronize, .event_id = event(name)}, "cudaEventSynchronize", start_ns,
       end_ns);
  return *this;
}

TraceBuilder& TraceBuilder::query_event(std::string_view name, bool ready) {
  HostSync row{.kind = kEventQuery, .event_id = event(name)};
  row.result = ready ? 0 : kResultNotReady;
  sync(row, "cudaEventQuery", now_ns_, now_ns_ + 1);
  return *this;
}

TraceBuilder& TraceBuilder::poll_event(std::string_view name, Small polls) {
  HostSync row{.kind = kEventQuery, .event_id = event(name)};
  row.result = kResultNotReady;
  row.polls = polls;
  sync(row, "cudaEventQuery", now_ns_, now_ns_ + polls);
  return *this;
}

TraceBuilder& TraceBuilder::range(std::string_view name, Ns start_ns, Ns end_ns,
                                  std::string_view domain) {
  Range row{.thread_id = thread_, .kind = kPushPop, .name_id = intern(name), .depth = 0};
  if (!domain.empty()) row.domain_id = intern(domain);
  row.start_ns = start_ns, row.end_ns = end_ns;
  add(row);
  return *this;
}

TraceBuilder& TraceBuilder::mark(std::string_view name, Ns at_ns) {
  add(Mark{.thread_id = thread_, .name_id = intern(name), .start_ns = at_ns});
  return *this;
}

TraceBuilder& TraceBuilder::sample(Ns at_ns, const std::vector<std::string>& functions,
                                   Small system_call) {
  const Id stack =
      add(Stack{.process_id = process_, .frame_count = static_cast<Small>(functions.size())});
  Small depth = 0;
  for (const std::string& function : functions) {
    add(StackFrame{
        .stack_id = stack, .depth = depth++, .kind = kPythonFrame, .symbol_id = intern(function)});
  }
  add(HostSample{.thread_id = thread_,
                 .at_ns = at_ns,
                 .runs = system_call == kNoSmall ? 1 : 0,
                 .system_call = system_call,
                 .stack_id = stack});
  return *this;
}

void TraceBuilder::host_access(Int address, Int bytes, bool writes) {
  Access row{.process_id = process_, .thread_id = thread_, .source = 2, .writes = writes ? 1 : 0};
  row.address = address, row.bytes = bytes, row.start_ns = now_ns_;
  add(row);
}

TraceBuilder& TraceBuilder::host_reads(Int address, Int bytes) {
  host_access(address, bytes, false);
  return *this;
}

TraceBuilder& TraceBuilder::host_writes(Int address, Int bytes) {
  host_access(address, bytes, true);
  return *this;
}

void TraceBuilder::memory_call(ApiCall row, const char* name) {
  HostCall at = call();
  row.thread_id = thread_, row.name_id = intern(name);
  row.start_ns = at.start_ns, row.end_ns = at.end_ns;
  row.result = 0, row.call_number = row.correlation_id = at.number;
  add(row);
}

TraceBuilder& TraceBuilder::malloc(Int address, Int bytes) {
  memory_call({.kind = number_of(CallKind::kMalloc), .object = address, .value = bytes},
              "cudaMalloc");
  return *this;
}

TraceBuilder& TraceBuilder::free(Int address) {
  memory_call({.kind = number_of(CallKind::kFree), .object = address}, "cudaFree");
  return *this;
}

TraceBuilder& TraceBuilder::loss(std::string_view name, Int count) {
  add(Loss{.process_id = process_,
           .name_id = intern(name),
           .severity = static_cast<Small>(Severity::kDataLoss),
           .count = count});
  return *this;
}

TraceBuilder& TraceBuilder::meta(std::string_view key, std::string_view value) {
  trace_.meta[std::string(key)] = value;
  return *this;
}

Id TraceBuilder::operation(std::string_view name, const StreamBuilder& stream) {
  Operation row{.process_id = process_,
                .native_id = static_cast<Small>(trace_.operation.size()),
                .thread_id = thread_};
  row.type = 0, row.priority = 2, row.stream_id = stream.id(), row.name_id = intern(name);
  row.state = kOperationRegistered, row.registered_ns = now_ns_;
  return add(row);
}

void write_trace(const Trace& trace, const std::filesystem::path& file) {
  constexpr size_t kFlushAboveBytes = 16 << 20;
  Writer writer = Writer::create(file);
  for (const std::string& text : trace.strings) writer.intern(text);
  for (const auto& [key, value] : trace.meta) {
    if (key != "format_version" && key != "complete" && key != "finished")
      writer.set_meta(key, value);
  }
#define STREAMSCOPE_COPY(type, name) row.name = columns.name[i];
#define STREAMSCOPE_WRITE(sql_name, Row, COLUMNS)                     \
  {                                                                   \
    const Row##Columns& columns = trace.sql_name;                     \
    for (size_t i = 0; i < columns.size(); i++) {                     \
      Row row;                                                        \
      COLUMNS(STREAMSCOPE_COPY)                                       \
      writer.append(row);                                             \
      if (writer.buffered_bytes() > kFlushAboveBytes) writer.flush(); \
    }                                                                 \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_WRITE)
#undef STREAMSCOPE_WRITE
#undef STREAMSCOPE_COPY
  writer.finish(trace.complete());
}

TraceBuilder& TraceBuilder::tensor(Int address, Int bytes) {
  add(Allocation{.process_id = process_,
                 .kind = kTensorAllocation,
                 .address = address,
                 .bytes = bytes,
                 .allocated_ns = now_ns_,
                 .alloc_thread_id = thread_});
  return *this;
}

TraceBuilder& TraceBuilder::tensor_freed(Int address) {
  auto& all = trace_.allocation;
  for (Id id = 0; id < all.size(); ++id) {
    if (all.address[id] == address && all.freed_ns[id] == kUnknownNs) all.freed_ns[id] = now_ns_;
  }
  return *this;
}

StreamBuilder& StreamBuilder::issue(Op op, CallKind call_kind, const char* name, ApiCall api_call) {
  TraceBuilder::HostCall call = builder_->call();
  api_call.thread_id = builder_->thread_, api_call.kind = number_of(call_kind);
  api_call.name_id = builder_->intern(name), api_call.stream_id = id_;
  api_call.start_ns = call.start_ns, api_call.end_ns = call.end_ns;
  api_call.result = 0, api_call.call_number = api_call.correlation_id = call.number;
  op.stream_id = id_, op.call_number = op.correlation_id = call.number;
  op.api_call_id = builder_->add(api_call);
  builder_->add(op);
  return *this;
}

StreamBuilder& StreamBuilder::kernel(std::string_view name, Ns start_ns, Ns end_ns) {
  Op op{.kind = kKernel, .name_id = builder_->intern(name), .start_ns = start_ns, .end_ns = end_ns};
  return issue(op, CallKind::kLaunch, "cudaLaunchKernel");
}

StreamBuilder& StreamBuilder::memcpy(CopyKind kind, Ns start_ns, Ns end_ns, Int bytes) {
  Op op{.kind = kMemcpy, .start_ns = start_ns, .end_ns = end_ns};
  op.detail = kind, op.bytes = bytes;
  Small pinned = 2, device = 3;
  op.memory_kinds = (kind == kHtoD ? pinned : device) * 16 + (kind == kDtoH ? pinned : device);
  return issue(op, CallKind::kMemcpyAsync, "cudaMemcpyAsync", {.value = bytes});
}

StreamBuilder& StreamBuilder::memset(Ns start_ns, Ns end_ns, Int bytes) {
  Op op{.kind = kMemset, .start_ns = start_ns, .end_ns = end_ns};
  op.bytes = bytes;
  return issue(op, CallKind::kMemsetAsync, "cudaMemsetAsync", {.value = bytes});
}

StreamBuilder& StreamBuilder::host_function(Ns start_ns, Ns end_ns) {
  return issue({.kind = kHostFunction, .start_ns = start_ns, .end_ns = end_ns},
               CallKind::kHostFunction, "cudaLaunchHostFunc");
}

StreamBuilder& StreamBuilder::memory_wait(Int address, Int value, Ns start_ns, Ns end_ns) {
  return issue({.kind = kMemoryWait, .start_ns = start_ns, .end_ns = end_ns}, CallKind::kMemoryWait,
               "cuStreamWaitValue32", {.object = address, .value = value});
}

StreamBuilder& StreamBuilder::memory_write(Int address, Int value, Ns start_ns, Ns end_ns) {
  return issue({.kind = kMemoryWrite, .start_ns = start_ns, .end_ns = end_ns},
               CallKind::kMemoryWrite, "cuStreamWriteValue32", {.object = address, .value = value});
}

StreamBuilder& StreamBuilder::graph_launch(Ns start_ns, Ns end_ns) {
  return issue({.kind = kGraphLaunch, .start_ns = start_ns, .end_ns = end_ns},
               CallKind::kGraphLaunch, "cudaGraphLaunch");
}

StreamBuilder& StreamBuilder::access(Access row) {
  const Id op = last_op();
  row.process_id = builder_->process_, row.thread_id = builder_->thread_;
  row.call_number = builder_->trace_.op.call_number[op];
  builder_->add(row);
  return *this;
}

StreamBuilder& StreamBuilder::reads(Int address, Int bytes) {
  return access({.source = 0, .writes = 0, .address = address, .bytes = bytes});
}

StreamBuilder& StreamBuilder::writes(Int address, Int bytes) {
  return access({.source = 0, .writes = 1, .address = address, .bytes = bytes});
}

StreamBuilder& StreamBuilder::parameter(Small index, Int address) {
  return access({.source = 3, .address = address, .parameter = index});
}

StreamBuilder& StreamBuilder::touches(AccessKind how, Int address, Int bytes, Int rows, Int pitch) {
  Access row{.source = static_cast<trace::Small>(AccessSource::kObserved),
             .writes = static_cast<trace::Small>(how)};
  row.address = address, row.bytes = bytes;
  if (rows > 1) row.rows = rows, row.pitch_bytes = pitch;
  return access(row);
}

StreamBuilder& StreamBuilder::touches_nothing() {
  return access({.source = static_cast<trace::Small>(AccessSource::kObserved), .bytes = 0});
}

StreamBuilder& StreamBuilder::touches_more() {
  return access({.source = static_cast<trace::Small>(AccessSource::kObserved)});
}

StreamBuilder& StreamBuilder::may_copy(AccessKind how, Int address, Int bytes) {
  return access({.source = static_cast<trace::Small>(AccessSource::kTensorMap),
                 .writes = static_cast<trace::Small>(how),
                 .address = address,
                 .bytes = bytes});
}

StreamBuilder& StreamBuilder::malloc_async(Int address, Int bytes) {
  builder_->memory_call({.kind = number_of(CallKind::kMallocAsync),
                         .stream_id = id_,
                         .object = address,
                         .value = bytes},
                        "cudaMallocAsync");
  return *this;
}

StreamBuilder& StreamBuilder::free_async(Int address) {
  builder_->memory_call(
      {.kind = number_of(CallKind::kFreeAsync), .stream_id = id_, .object = address},
      "cudaFreeAsync");
  return *this;
}

StreamBuilder& StreamBuilder::record(std::string_view event) {
  TraceBuilder::HostCall call = builder_->call();
  EventRecord row{.thread_id = builder_->thread_,
                  .name_id = builder_->intern("cudaEventRecord"),
                  .stream_id = id_};
  row.event_id = builder_->event(event);
  Id before = builder_->newest_record(row.event_id);
  row.version = before == kNoId ? 1 : builder_->trace_.event_record.version[before] + 1;
  row.start_ns = call.start_ns, row.end_ns = call.end_ns;
  row.result = 0, row.call_number = row.correlation_id = call.number;
  builder_->add(row);
  return *this;
}

StreamBuilder& StreamBuilder::wait(std::string_view event) {
  TraceBuilder::HostCall call = builder_->call();
  EventWait row{.thread_id = builder_->thread_,
                .name_id = builder_->intern("cudaStreamWaitEvent"),
                .stream_id = id_};
  row.event_id = builder_->event(event);
  row.record_id = builder_->newest_record(row.event_id);
  row.binding = row.record_id == kNoId ? kNeverRecorded : kBindingExact;
  row.start_ns = call.start_ns, row.end_ns = call.end_ns;
  row.result = 0, row.call_number = row.correlation_id = call.number;
  builder_->add(row);
  return *this;
}

StreamBuilder& StreamBuilder::synchronize(Ns start_ns, Ns end_ns) {
  builder_->sync({.kind = kStreamSynchronize, .stream_id = id_}, "cudaStreamSynchronize", start_ns,
                 end_ns);
  return *this;
}

StreamBuilder& StreamBuilder::query(bool ready) {
  HostSync row{.kind = kStreamQuery, .stream_id = id_};
  row.result = ready ? 0 : kResultNotReady;
  builder_->sync(row, "cudaStreamQuery", builder_->now_ns_, builder_->now_ns_ + 1);
  return *this;
}

StreamBuilder& StreamBuilder::at(Ns host_ns) {
  builder_->at(host_ns);
  return *this;
}

Id StreamBuilder::last_op() const { return last_with(builder_->trace_.op.stream_id, id_); }

}  // namespace streamscope::test
