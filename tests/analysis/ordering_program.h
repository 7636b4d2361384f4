// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A small program for the cases of CUDA's ordering rules, call by call, a millisecond each. Ops are
// named by a letter. An op runs shortly after its call and is over before the next call.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "support/trace_builder.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

class OrderingProgram {
 public:
  using Id = trace::Id;

  OrderingProgram() { builder_.thread("other").thread("main"); }

  /// A new stream of the newest context.
  Id stream(trace::StreamKind kind = trace::kNonBlockingStream) {
    return builder_.stream("s" + std::to_string(streams_++), kind).id();
  }
  /// A context on a device of its own; context 0 is there from the start.
  Id context() {
    builder_.device("GPU");
    return static_cast<Id>(builder_.columns().context.size() - 1);
  }
  /// The calls that follow are made by this thread: 0 to start with, or 1.
  void thread(Id thread) { thread_ = thread; }
  /// The ops that follow run this many calls later.
  void run_later(int calls) { delay_ns_ = calls * kStepNs; }

  void op(char name, Id stream, trace::OpKind kind = trace::kKernel) {
    issue(name, {.kind = kind}, {.kind = kLaunch}, stream, kShortCallNs);
  }
  /// cudaMemcpy. `returns_early`: the copy ends after its call.
  void copy(char name, Id stream, trace::Small direction, trace::Small source,
            bool returns_early = false) {
    trace::Op row{.kind = trace::kMemcpy, .detail = direction};
    row.memory_kinds = source * 16;
    issue(name, row, {.kind = kMemcpyCall}, stream, returns_early ? kShortCallNs : kLongCallNs);
  }
  /// cudaMemset of memory of this kind.
  void memset(char name, Id stream, trace::Small memory, bool returns_early = false) {
    issue(name, {.kind = trace::kMemset, .detail = memory}, {.kind = kMemsetCall}, stream,
          returns_early ? kShortCallNs : kLongCallNs);
  }
  void memory_wait(char name, Id stream, trace::Int value) {
    issue(name, {.kind = trace::kMemoryWait}, {.object = 0x100, .value = value}, stream,
          kShortCallNs);
  }
  void memory_write(char name, Id stream, trace::Int value) {
    issue(name, {.kind = trace::kMemoryWrite}, {.object = 0x100, .value = value}, stream,
          kShortCallNs);
  }
  void malloc_async(Id stream) { call(kMallocAsyncCall, stream); }
  /// Any other call.
  void call(trace::Small kind, Id stream = trace::kNoId) {
    add_call({.kind = kind, .stream_id = stream}, next(), kShortCallNs);
  }
  /// A graph of kernels; edges as "GH GI". The first and the last node run on the stream itself.
  void launch(std::string_view names, std::string_view edges, Id stream) {
    const Id graph = builder_.add(trace::Graph{.process_id = 0, .executable = 1});
    const auto first = static_cast<Id>(builder_.columns().graph_node.size());
    for (size_t i = 0; i < names.size(); ++i) {
      builder_.add(trace::GraphNode{
          .graph_id = graph, .native_id = 100 + first + static_cast<trace::Int>(i), .kind = 0});
    }
    const auto node = [&](char name) { return first + static_cast<Id>(names.find(name)); };
    for (size_t i = 0; i < edges.size(); i += 3) {
      builder_.add(trace::GraphEdge{
          .graph_id = graph, .from_node_id = node(edges[i]), .to_node_id = node(edges[i + 1])});
    }
    const trace::Ns at = next();
    const Id launched = add_call({.kind = kGraphLaunchCall, .stream_id = stream}, at, kShortCallNs);
    for (size_t i = 0; i < names.size(); ++i) {
      const bool inside = i > 0 && i + 1 < names.size();
      const trace::Ns start = at + kLatencyNs * static_cast<trace::Ns>(i + 1);
      ops_[names[i]] =
          builder_.add(trace::Op{.kind = trace::kKernel,
                                 .stream_id = inside ? this->stream(trace::kGraphStream) : stream,
                                 .start_ns = start,
                                 .end_ns = start + kRunNs,
                                 .call_number = call_number_,
                                 .correlation_id = call_number_,
                                 .api_call_id = launched,
                                 .graph_node = 100 + node(names[i])});
    }
  }

  Id record(Id stream) { return add_record({.stream_id = stream}, 0); }
  Id record_context(Id context) { return add_record({}, context); }
  Id record_in_capture(Id stream) {
    return add_record({.stream_id = stream, .flags = trace::kCapturedRecord}, 0);
  }
  void wait(Id stream, Id record) {
    add_wait({.stream_id = stream, .binding = trace::kBindingExact, .record_id = record}, 0);
  }
  void wait_context(Id context, Id record) {
    add_wait({.binding = trace::kBindingExact, .record_id = record}, context);
  }
  /// A wait whose record is not known: never recorded, ambiguous, ...
  void wait_unbound(Id stream, trace::Binding binding) {
    add_wait({.stream_id = stream, .binding = binding}, 0);
  }

  using Meanwhile = std::function<void()>;
  /// What happens `meanwhile`, in another thread, happens before the call returns.
  void synchronize_device(Id context = 0, const Meanwhile& meanwhile = {}) {
    add_sync({.kind = trace::kDeviceSynchronize, .context_id = context}, 0, meanwhile);
  }
  void synchronize(Id stream) {
    add_sync({.kind = trace::kStreamSynchronize, .stream_id = stream}, 0);
  }
  void synchronize_event(Id record) {
    add_sync({.kind = trace::kEventSynchronize, .record_id = record}, 0);
  }
  void query(Id stream, bool ready = true) {
    add_sync({.kind = trace::kStreamQuery, .stream_id = stream},
             ready ? 0 : trace::kResultNotReady);
  }
  void query_event(Id record, bool ready = true) {
    add_sync({.kind = trace::kEventQuery, .record_id = record}, ready ? 0 : trace::kResultNotReady);
  }

  const std::map<char, Id>& ops() const { return ops_; }
  trace::Trace trace() const { return builder_.trace(); }

 private:
  // Numbers of api_call.kind.
  enum : trace::Small {
    kLaunch = number_of(CallKind::kLaunch),
    kMemcpyCall = number_of(CallKind::kMemcpy),
    kMemsetCall = number_of(CallKind::kMemset),
    kMallocAsyncCall = number_of(CallKind::kMallocAsync),
    kGraphLaunchCall = number_of(CallKind::kGraphLaunch)
  };
  static constexpr trace::Ns kStepNs = 1'000'000, kShortCallNs = 1'000, kLongCallNs = 500'000,
                             kLatencyNs = 10'000, kRunNs = 5'000;

  trace::Ns next() {
    now_ns_ += kStepNs;
    ++call_number_;
    return now_ns_;
  }
  Id add_call(trace::ApiCall row, trace::Ns at, trace::Ns lasts) {
    row.thread_id = thread_, row.start_ns = at, row.end_ns = at + lasts;
    row.result = 0, row.call_number = row.correlation_id = call_number_;
    return builder_.add(row);
  }
  void issue(char name, trace::Op row, trace::ApiCall call, Id stream, trace::Ns lasts) {
    const trace::Ns at = next();
    call.stream_id = stream;
    row.api_call_id = add_call(call, at, lasts);
    row.stream_id = stream, row.call_number = row.correlation_id = call_number_;
    row.start_ns = at + kLatencyNs + delay_ns_, row.end_ns = row.start_ns + kRunNs;
    ops_[name] = builder_.add(row);
  }
  Id add_event(Id context) {
    return builder_.add(trace::Event{.process_id = 0, .context_id = context});
  }
  Id add_record(trace::EventRecord row, Id context) {
    row.start_ns = next(), row.end_ns = now_ns_ + kShortCallNs;
    row.thread_id = thread_, row.event_id = add_event(context);
    row.result = 0, row.call_number = row.correlation_id = call_number_;
    return builder_.add(row);
  }
  void add_wait(trace::EventWait row, Id context) {
    row.start_ns = next(), row.end_ns = now_ns_ + kShortCallNs;
    row.thread_id = thread_, row.event_id = add_event(context);
    row.result = 0, row.call_number = row.correlation_id = call_number_;
    builder_.add(row);
  }
  void add_sync(trace::HostSync row, trace::Small result, const Meanwhile& meanwhile = {}) {
    row.start_ns = next(), row.call_number = row.correlation_id = call_number_,
    row.thread_id = thread_;
    if (meanwhile) {
      thread_ = 1 - thread_;
      meanwhile();
      thread_ = row.thread_id;
    }
    row.binding = trace::kBindingExact, row.result = result;
    row.end_ns = now_ns_ + kShortCallNs + (meanwhile ? kLongCallNs : 0);
    builder_.add(row);
  }

  test::TraceBuilder builder_;
  std::map<char, Id> ops_;
  Id thread_ = 0;
  int streams_ = 0;
  trace::Ns now_ns_ = 0, delay_ns_ = 0;
  trace::Int call_number_ = 0;
};

}  // namespace streamscope::analysis
