// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace in five readable lines, for tests: as a Trace in memory and, if wanted, as a file.
//
//   TraceBuilder builder;
//   builder.stream("copies").memcpy(kHtoD, 100, 200).record("loaded");
//   builder.stream("math").wait("loaded").kernel("gemm", 200, 350);
//   builder.synchronize_device(40, 360);
//   Trace trace = builder.trace();
//
// Numbers are device times in ns. Every call that issues work takes 1 ns of host time on the
// current thread, one after the other from 0 on; at() moves the host clock. Waits bind to the
// newest record of the event, as in CUDA. Other data is added as rows: builder.add(Overhead{...}).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/read/reader.h"
#include "vocabulary/access_source.h"
#include "vocabulary/call_kind.h"

namespace streamscope::test {

/// Directions for memcpy(), as in op.detail.
enum CopyKind : trace::Small { kHtoD = 1, kDtoH = 2, kDtoD = 8, kPtoP = 10 };

/// Writes a trace to a file that must not exist, through trace::Writer.
void write_trace(const trace::Trace& trace, const std::filesystem::path& file);

class TraceBuilder;

/// A stream of the trace under construction; a light handle, valid as long as its builder.
class StreamBuilder {
 public:
  StreamBuilder& kernel(std::string_view name, trace::Ns start_ns, trace::Ns end_ns);
  StreamBuilder& memcpy(CopyKind kind, trace::Ns start_ns, trace::Ns end_ns,
                        trace::Int bytes = 4096);
  StreamBuilder& memset(trace::Ns start_ns, trace::Ns end_ns, trace::Int bytes = 4096);
  StreamBuilder& host_function(trace::Ns start_ns, trace::Ns end_ns);
  StreamBuilder& memory_wait(trace::Int address, trace::Int value, trace::Ns start_ns,
                             trace::Ns end_ns);
  StreamBuilder& memory_write(trace::Int address, trace::Int value, trace::Ns start_ns,
                              trace::Ns end_ns);
  StreamBuilder& graph_launch(trace::Ns start_ns, trace::Ns end_ns);
  /// What the last op reads or writes, given as an argument of its call.
  StreamBuilder& reads(trace::Int address, trace::Int bytes);
  StreamBuilder& writes(trace::Int address, trace::Int bytes);
  /// A parameter of the last kernel that points there, by its index.
  StreamBuilder& parameter(trace::Small index, trace::Int address);
  /// What the last kernel was seen to touch, in rows that are `pitch` apart.
  StreamBuilder& touches(AccessKind how, trace::Int address, trace::Int bytes, trace::Int rows = 1,
                         trace::Int pitch = 0);
  /// Nothing, or not all of what the last kernel touched, is known.
  StreamBuilder& touches_nothing();
  StreamBuilder& touches_more();
  /// A tensor that the last kernel may copy, by a tensor map.
  StreamBuilder& may_copy(AccessKind how, trace::Int address, trace::Int bytes);
  StreamBuilder& malloc_async(trace::Int address, trace::Int bytes);
  StreamBuilder& free_async(trace::Int address);
  /// cudaEventRecord; creates the event if it does not exist.
  StreamBuilder& record(std::string_view event);
  /// cudaStreamWaitEvent; never_recorded if nobody recorded the event before.
  StreamBuilder& wait(std::string_view event);
  /// cudaStreamSynchronize in host time [start_ns, end_ns).
  StreamBuilder& synchronize(trace::Ns start_ns, trace::Ns end_ns);
  /// cudaStreamQuery now.
  StreamBuilder& query(bool ready = true);
  /// Host time of the next calls (of any stream).
  StreamBuilder& at(trace::Ns host_ns);

  /// Last op of this stream.
  trace::Id last_op() const;
  trace::Id id() const { return id_; }

 private:
  friend class TraceBuilder;
  StreamBuilder(TraceBuilder* builder, trace::Id id) : builder_(builder), id_(id) {}
  StreamBuilder& access(trace::Access row);
  StreamBuilder& issue(trace::Op op, CallKind call_kind, const char* call,
                       trace::ApiCall extra = {});

  TraceBuilder* builder_;
  trace::Id id_;
};

class TraceBuilder {
 public:
  /// One process with thread "main", and one device with a context; nothing else.
  TraceBuilder();

  /// The stream of that name in the current context; created, non-blocking, if it does not exist.
  StreamBuilder stream(std::string_view name, trace::StreamKind kind = trace::kNonBlockingStream);
  /// The calls that follow are made by this thread; created if it does not exist.
  TraceBuilder& thread(std::string_view name);
  /// The streams that follow belong to a new device.
  TraceBuilder& device(std::string_view name);
  /// The threads, streams and events that follow belong to a new process with a context on the
  /// current device.
  TraceBuilder& process(std::string_view name);
  /// Host time of the next calls.
  TraceBuilder& at(trace::Ns host_ns);

  TraceBuilder& synchronize_device(trace::Ns start_ns, trace::Ns end_ns);
  TraceBuilder& synchronize_event(std::string_view event, trace::Ns start_ns, trace::Ns end_ns);
  TraceBuilder& query_event(std::string_view event, bool ready = true);
  /// This many unsuccessful queries, as the single row that a recording makes of them.
  TraceBuilder& poll_event(std::string_view event, trace::Small polls);
  TraceBuilder& range(std::string_view name, trace::Ns start_ns, trace::Ns end_ns,
                      std::string_view domain = {});
  TraceBuilder& mark(std::string_view name, trace::Ns at_ns);
  /// A sample of the thread then, in these Python functions ("train.py:41 step"), innermost first.
  /// `system_call`: in which it waits; kNoSmall: it runs.
  TraceBuilder& sample(trace::Ns at_ns, const std::vector<std::string>& functions,
                       trace::Small system_call = trace::kNoSmall);
  /// coord::host_access now.
  TraceBuilder& host_reads(trace::Int address, trace::Int bytes);
  TraceBuilder& host_writes(trace::Int address, trace::Int bytes);
  /// Device memory, not stream-ordered.
  TraceBuilder& malloc(trace::Int address, trace::Int bytes);
  TraceBuilder& free(trace::Int address);
  TraceBuilder& loss(std::string_view name, trace::Int count = 1);
  TraceBuilder& meta(std::string_view key, std::string_view value);

  /// A libcoord operation on a stream; tie ops to it with add(OperationOp{...}).
  trace::Id operation(std::string_view name, const StreamBuilder& stream);
  /// The event of that name; created if it does not exist.
  trace::Id event(std::string_view name);
  trace::Id intern(std::string_view text);

  /// Adds a row of any table unchanged and returns its id.
#define STREAMSCOPE_ADD(sql_name, Row, COLUMNS) trace::Id add(const trace::Row& row);
  STREAMSCOPE_TABLES(STREAMSCOPE_ADD)
#undef STREAMSCOPE_ADD
  /// A tensor, which the thread allocates now; freed later, by tensor_freed.
  TraceBuilder& tensor(trace::Int address, trace::Int bytes);
  TraceBuilder& tensor_freed(trace::Int address);

  /// For other changes, e.g. builder.columns().event_wait.binding[0] = kAmbiguous.
  trace::Trace& columns() { return trace_; }

  /// The trace so far, packed as the reader leaves one.
  trace::Trace trace() const {
    trace::Trace result = trace_;
    result.pack();
    return result;
  }
  void write(const std::filesystem::path& file) const { write_trace(trace_, file); }

 private:
  friend class StreamBuilder;
  struct HostCall {
    trace::Ns start_ns, end_ns;
    trace::Int number;
  };
  HostCall call();
  void memory_call(trace::ApiCall row, const char* name);
  void host_access(trace::Int address, trace::Int bytes, bool writes);
  trace::Id newest_record(trace::Id event) const;
  void sync(trace::HostSync row, const char* name, trace::Ns start_ns, trace::Ns end_ns);

  trace::Trace trace_;
  std::map<std::string, trace::Id, std::less<>> strings_;
  std::map<std::pair<trace::Id, std::string>, trace::Id> threads_, streams_, events_;
  trace::Id process_ = 0, thread_ = 0, device_ = 0, context_ = 0;
  trace::Ns now_ns_ = 0;
  trace::Int calls_ = 0;
};

}  // namespace streamscope::test
