// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace made in memory, row by row, for tests of analyses. Calls are given in host time, ops in
// device time.
#pragma once

#include <string>
#include <string_view>

#include "trace/read/reader.h"

namespace streamscope::analysis {

#define STREAMSCOPE_APPEND(sql_name, Row, COLUMNS)                      \
  inline trace::Id append(trace::Trace& trace, const trace::Row& row) { \
    return trace.sql_name.append(row);                                  \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_APPEND)
#undef STREAMSCOPE_APPEND

/// One process with one device and one context; further ones on request. Every call lasts 1 ns and
/// ends at `at`.
class MemoryTrace {
 public:
  using Id = trace::Id;
  using Ns = trace::Ns;

  MemoryTrace() {
    add_context();
    add_thread();
  }

  Id add_context() {
    const Id process = append(trace, trace::Process{.os_pid = 100});
    const Id device = append(trace, trace::Device{.ordinal = 0});
    return append(trace, trace::Context{.process_id = process, .device_id = device});
  }
  Id add_thread(Id process = 0) { return append(trace, trace::Thread{.process_id = process}); }
  Id add_stream(trace::StreamKind kind = trace::kNonBlockingStream, Id context = 0) {
    return append(trace, trace::Stream{.context_id = context, .kind = kind});
  }
  Id text(std::string_view value) {
    trace.strings.emplace_back(value);
    return static_cast<Id>(trace.strings.size() - 1);
  }

  Id call(Ns start, Ns end, Id stream, Id thread = 0, trace::Small kind = 1) {
    return append(trace, trace::ApiCall{.thread_id = thread,
                                        .kind = kind,
                                        .stream_id = stream,
                                        .start_ns = start,
                                        .end_ns = end,
                                        .result = 0,
                                        .call_number = ++call_number,
                                        .correlation_id = call_number});
  }
  /// An op whose call ends at `at`, run on the device in [start, end) if given.
  Id op(Ns at, Id stream, Ns start = trace::kUnknownNs, Ns end = trace::kUnknownNs, Id thread = 0,
        trace::OpKind kind = trace::kKernel) {
    const Id issued_by = call(at - 1, at, stream, thread);
    return append(trace, trace::Op{.kind = kind,
                                   .stream_id = stream,
                                   .start_ns = start,
                                   .end_ns = end,
                                   .call_number = call_number,
                                   .correlation_id = call_number,
                                   .api_call_id = issued_by});
  }
  Id record(Ns at, Id stream, Id thread = 0) {
    return append(trace, trace::EventRecord{.thread_id = thread,
                                            .stream_id = stream,
                                            .event_id = 0,
                                            .start_ns = at - 1,
                                            .end_ns = at,
                                            .result = 0,
                                            .call_number = ++call_number,
                                            .correlation_id = call_number});
  }
  /// A wait bound to a record; without one, a wait whose binding is `binding`.
  Id wait(Ns at, Id stream, Id record_id, trace::Binding binding = trace::kBindingExact,
          Id thread = 0) {
    return append(trace, trace::EventWait{.thread_id = thread,
                                          .stream_id = stream,
                                          .event_id = 0,
                                          .binding = binding,
                                          .record_id = record_id,
                                          .start_ns = at - 1,
                                          .end_ns = at,
                                          .result = 0,
                                          .call_number = ++call_number,
                                          .correlation_id = call_number});
  }
  /// A synchronization called at `start` that returns at `end`.
  Id sync(trace::HostSyncKind kind, Ns start, Ns end, Id stream = trace::kNoId,
          Id record_id = trace::kNoId, Id thread = 0, Id context = 0) {
    return append(trace, trace::HostSync{.thread_id = thread,
                                         .kind = kind,
                                         .context_id = context,
                                         .stream_id = stream,
                                         .binding = trace::kBindingExact,
                                         .record_id = record_id,
                                         .start_ns = start,
                                         .end_ns = end,
                                         .result = 0,
                                         .call_number = ++call_number,
                                         .correlation_id = call_number});
  }

  trace::Trace trace;
  trace::Int call_number = 0;
};

}  // namespace streamscope::analysis
