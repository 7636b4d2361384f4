// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA's ordering rules in one place: what a stream waits for before an item, what other streams
// wait for after it, and what the host knows when a call returns. docs/analysis.md lists the rules
// (A to M).
//
// OrderingWalk walks the items of an IssueOrder once and calls a consumer for every step. It knows
// the rules; the consumer only knows how to represent the state of a stream, a record or a thread:
// ops (edges.h), vector clocks (happens_before.h), instants (replay.h) or nodes of a graph
// (wait_for.h). tests/analysis/ordering_cases_test.cpp tests all of them with the same cases.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "issue_order.h"

namespace streamscope::analysis {

/// The role of a stream in the rule of the legacy default stream (F).
struct StreamRole {
  Id context = kNoId;     ///< kNoId: not in the trace
  bool legacy = false;    ///< the legacy default stream of its context
  bool blocking = false;  ///< synchronizes with it: not created as non-blocking
};
StreamRole role_of(const Trace& trace, Id stream);

/// What a synchronization waits for, or a query checks (E).
struct Awaited {
  enum class What { kNothing, kContext, kStream, kRecord };
  What what = What::kNothing;
  Id id = kNoId;
};
Awaited awaited_by(const Trace& trace, Id host_sync);

/// What a thread knows when a synchronous copy or memset returns (J). Only what CUDA documents.
enum class CopyPromise {
  kNothing,
  kWorkBefore,  ///< the work before it in its stream has ended
  kItself,      ///< so has the copy
};
/// For an op that is a copy or a memset.
CopyPromise promise_of_copy(const IssueOrder& order, Id op);

/// How many items from `index` on are ops of one launch: nodes of a graph, or copies of a batch. 1
/// for everything else; the memory operations of a batch run one after the other.
inline size_t launch_size(const IssueOrder& order, std::span<const Issued> items, size_t index) {
  if (items[index].kind() != Issued::kOp) return 1;
  const auto& rows = order.trace().op;
  const Id op = items[index].id(), call = rows.api_call_id[op];
  size_t end = index + 1;
  while (end < items.size() && items[end].kind() == Issued::kOp && call != kNoId &&
         rows.api_call_id[items[end].id()] == call &&
         order.stream(items[end].id()) == order.stream(op)) {
    ++end;
  }
  const trace::Small kind = rows.kind[op];
  const bool in_turn = rows.graph_node[op] == trace::kNoInt &&
                       (kind == trace::kMemoryWait || kind == trace::kMemoryWrite);
  return in_turn ? 1 : end - index;
}

/// Calls `visit(index, items)` for every item, those of one launch together.
template <class Visit>
void each_launch(const IssueOrder& order, std::span<const Issued> items, Visit visit) {
  for (size_t i = 0, count = 0; i < items.size(); i += count) {
    count = launch_size(order, items, i);
    visit(i, items.subspan(i, count));
  }
}

/// What OrderingWalk calls, in this order for each item. A consumer derives from this and hides
/// the functions that it needs; calls are static. Streams are valid rows of the table stream,
/// records valid rows of event_record; a record that is not in the order represents nothing.
struct OrderingConsumer {
  /// An item begins. `index` is its index in IssueOrder::items(), for a launch that of its first
  /// op.
  void begin(size_t /*index*/, Issued /*item*/) {}

  // What joins a stream before the item is placed.
  /// A blocking stream waits for the last item of its context's legacy stream. `is_new` is false if
  /// it has joined that before.
  void join_legacy(Id /*stream*/, const StreamRole&, bool /*is_new*/) {}
  /// The legacy stream waits for the blocking streams of its context: `streams` are those with
  /// items since its last item.
  void join_blocking(Id /*legacy*/, const StreamRole&, std::span<const Id> /*streams*/) {}
  /// What the issuing thread knows to have ended at the time of the call.
  void join_thread(Id /*stream*/, Id /*thread*/, Ns /*call_start_ns*/) {}
  /// A wait: what the record represents.
  void join_record(Id /*stream*/, Id /*record*/, Id /*event_wait*/) {}
  /// A memory wait: the write that releases it.
  void join_write(Id /*stream*/, Id /*op*/, Id /*write*/) {}

  // The item is placed in its stream; a context-wide wait in every stream of its context.
  void place_op(Id /*op*/, Id /*stream*/, const Issue&) {}
  /// Ops of one call, ordered only by the graph's edges.
  void place_launch(std::span<const Issued> /*ops*/, Id /*stream*/, const Issue&) {}
  void place_record(Id /*record*/, Id /*stream*/) {}
  /// The record represents the work of all these streams.
  void place_context_record(Id /*record*/, Id /*context*/, std::span<const Id> /*streams*/) {}
  void place_wait(Id /*event_wait*/, Id /*stream*/) {}
  /// A stream-ordered allocation or release.
  void place_memory(Id /*api_call*/, Id /*stream*/) {}

  /// The work in the stream now counts for its context: that of a legacy stream (role.legacy) for
  /// the blocking streams, that of a blocking stream (role.blocking) for the legacy stream.
  void leave(Id /*stream*/, const StreamRole&) {}

  // What a thread knows when its call returns.
  /// From a synchronous copy: the work in the stream now. Called before place_op() if the copy
  /// itself may still be running.
  void teach_copy(Id /*thread*/, Id /*stream*/, Id /*op*/, const Issue&) {}
  /// The work in all streams of a context. If not `all`, in addition to a legacy stream: in the
  /// blocking streams with items since its last item.
  void teach_streams(Id /*thread*/, Id /*context*/, bool /*all*/, std::span<const Id> /*streams*/,
                     Id /*host_sync*/) {}
  void teach_stream(Id /*thread*/, Id /*stream*/, Id /*host_sync*/) {}
  void teach_record(Id /*thread*/, Id /*record*/, Id /*host_sync*/) {}

  /// The item ends: waits, records and synchronizations only.
  void end(Issued /*item*/) {}
};

/// Applies the rules for a consumer. O(items + streams), plus O(streams of the context) per
/// context-wide item or synchronization.
template <class Consumer>
class OrderingWalk {
 public:
  OrderingWalk(const IssueOrder& order, Consumer& consumer)
      : order_(order),
        trace_(order.trace()),
        consumer_(consumer),
        streams_(trace_.stream.size()),
        contexts_(trace_.context.size()) {
    for (const Id stream : order.streams()) {
      StreamRole& role = streams_[stream].role;
      role = role_of(trace_, stream);
      if (role.context != kNoId) contexts_[role.context].streams.push_back(stream);
    }
  }

  /// The first `most` items, or all of them; a launch is not cut.
  void run(size_t most = std::numeric_limits<size_t>::max()) {
    const auto all = order_.items();
    while (most < all.size() && most > 0 && all[most].kind() == Issued::kOp &&
           trace_.op.graph_node[all[most].id()] != trace::kNoInt)
      ++most;
    each_launch(order_, all.first(std::min(most, all.size())),
                [&](size_t index, std::span<const Issued> items) { item(index, items); });
  }

  /// The next item, or the ops of one launch. `index` is the index of the first.
  void item(size_t index, std::span<const Issued> items) {
    const Issued first = items.front();
    consumer_.begin(index, first);
    switch (first.kind()) {
      case Issued::kOp:
        if (items.size() == 1 && trace_.op.graph_node[first.id()] == trace::kNoInt) {
          on_op(first.id());
        } else {
          on_launch(items);
        }
        return;
      case Issued::kRecord:
        on_record(first.id());
        break;
      case Issued::kWait:
        on_wait(first.id());
        break;
      case Issued::kSync:
        on_sync(first.id());
        break;
      case Issued::kMemory:
        on_memory(first.id());
        return;
    }
    consumer_.end(first);
  }

 private:
  struct StreamState {
    StreamRole role;
    bool has_news = false;  // listed in Context::news
    uint32_t barrier = 0;   // last item of the legacy stream that it joined
  };
  struct Context {
    std::vector<Id> streams;  // with items
    std::vector<Id> news;     // blocking streams with items since the last barrier
    uint32_t barriers = 0;    // items of the legacy stream so far
  };

  // ---- Rule F: items of the legacy default stream are barriers for the blocking streams.

  void join_legacy(Id stream, StreamState& state) {
    const uint32_t barriers = contexts_[state.role.context].barriers;
    if (barriers == 0) return;
    consumer_.join_legacy(stream, state.role, state.barrier < barriers);
    state.barrier = barriers;
  }

  void leave_blocking(Id stream, StreamState& state) {
    if (!state.has_news) {
      state.has_news = true;
      contexts_[state.role.context].news.push_back(stream);
    }
    consumer_.leave(stream, state.role);
  }

  void enter(Id stream, Id thread, Ns call_start_ns) {
    StreamState& state = streams_[stream];
    if (state.role.blocking) {
      join_legacy(stream, state);
    } else if (state.role.legacy) {
      std::vector<Id>& news = contexts_[state.role.context].news;
      for (const Id blocking : news) streams_[blocking].has_news = false;
      consumer_.join_blocking(stream, state.role, news);
      news.clear();
    }
    consumer_.join_thread(stream, thread, call_start_ns);
  }

  void leave(Id stream) {
    StreamState& state = streams_[stream];
    if (state.role.blocking) return leave_blocking(stream, state);
    if (state.role.legacy) ++contexts_[state.role.context].barriers;
    consumer_.leave(stream, state.role);
  }

  // ---- Rules A, G, J, K: ops.

  void on_op(Id op) {
    const Id stream = order_.stream(op);
    const Issue issue = order_.issue(op);
    enter(stream, issue.thread_id, issue.start_ns);
    if (const Id write = order_.writer_of(op); write != kNoId)
      consumer_.join_write(stream, op, write);
    const trace::Small kind = trace_.op.kind[op];
    const CopyPromise promise =
        is_memory_operation(kind) ? promise_of_copy(order_, op) : CopyPromise::kNothing;
    if (promise == CopyPromise::kWorkBefore)
      consumer_.teach_copy(issue.thread_id, stream, op, issue);
    consumer_.place_op(op, stream, issue);
    if (promise == CopyPromise::kItself) consumer_.teach_copy(issue.thread_id, stream, op, issue);
    leave(stream);
  }

  void on_launch(std::span<const Issued> ops) {
    const Id first = ops.front().id(), stream = order_.stream(first);
    const Issue issue = order_.issue(first);
    enter(stream, issue.thread_id, issue.start_ns);
    consumer_.place_launch(ops, stream, issue);
    leave(stream);
  }

  // ---- Rules B, C, D: records and waits. Those of a whole context are placed in each of its
  // streams, but are not items of its legacy stream: CUDA documents no barrier.

  template <class Location>
  void in_whole_context(Id context, Id thread, Ns call_start_ns, Location place) {
    for (const Id stream : contexts_[context].streams) {
      StreamState& state = streams_[stream];
      consumer_.join_thread(stream, thread, call_start_ns);
      place(stream, state);
      if (state.role.blocking) {
        leave_blocking(stream, state);
      } else {
        consumer_.leave(stream, {.context = context});
      }
    }
  }

  void on_record(Id record) {
    const auto& rows = trace_.event_record;
    const Id stream = rows.stream_id[record], thread = rows.thread_id[record];
    if (stream < streams_.size()) {
      enter(stream, thread, rows.start_ns[record]);
      consumer_.place_record(record, stream);
      return leave(stream);
    }
    const Id context = context_of_event(rows.event_id[record]);
    if (context >= contexts_.size()) return;
    in_whole_context(context, thread, rows.start_ns[record], [](Id, StreamState&) {});
    consumer_.place_context_record(record, context, contexts_[context].streams);
  }

  void on_wait(Id event_wait) {
    const auto& rows = trace_.event_wait;
    const Id stream = rows.stream_id[event_wait], thread = rows.thread_id[event_wait];
    const Id record = rows.record_id[event_wait];
    const bool is_bound =
        rows.binding[event_wait] == trace::kBindingExact && record < trace_.event_record.size();
    const auto place = [&](Id waiting) {
      if (is_bound) consumer_.join_record(waiting, record, event_wait);
      consumer_.place_wait(event_wait, waiting);
    };
    if (stream < streams_.size()) {
      enter(stream, thread, rows.start_ns[event_wait]);
      place(stream);
      return leave(stream);
    }
    const Id context = context_of_event(rows.event_id[event_wait]);
    if (!is_bound || context >= contexts_.size()) return;
    in_whole_context(context, thread, rows.start_ns[event_wait],
                     [&](Id waiting, StreamState& state) {
                       if (state.role.blocking) join_legacy(waiting, state);
                       place(waiting);
                     });
  }

  // ---- Rule E: what the host learns. A blocking stream is done when its own work is done, no
  // matter what the legacy stream still runs; the legacy stream is done when the blocking streams
  // are.

  void on_sync(Id host_sync) {
    const Id thread = trace_.host_sync.thread_id[host_sync];
    const Awaited awaited = awaited_by(trace_, host_sync);
    switch (awaited.what) {
      case Awaited::What::kNothing:
        break;
      case Awaited::What::kContext:
        consumer_.teach_streams(thread, awaited.id, true, contexts_[awaited.id].streams, host_sync);
        break;
      case Awaited::What::kStream: {
        consumer_.teach_stream(thread, awaited.id, host_sync);
        const StreamRole role = role_of(trace_, awaited.id);
        if (role.legacy)
          consumer_.teach_streams(thread, role.context, false, contexts_[role.context].news,
                                  host_sync);
        break;
      }
      case Awaited::What::kRecord:
        consumer_.teach_record(thread, awaited.id, host_sync);
        break;
    }
  }

  // ---- Rule I: stream-ordered memory. On the legacy stream it is not a barrier (measured).

  void on_memory(Id api_call) {
    const auto& calls = trace_.api_call;
    const Id stream = calls.stream_id[api_call];
    const Id thread = calls.thread_id[api_call];
    if (streams_[stream].role.legacy) {
      consumer_.join_thread(stream, thread, calls.start_ns[api_call]);
      return consumer_.place_memory(api_call, stream);
    }
    enter(stream, thread, calls.start_ns[api_call]);
    consumer_.place_memory(api_call, stream);
    leave(stream);
  }

  Id context_of_event(Id event) const {
    return event < trace_.event.size() ? trace_.event.context_id[event] : kNoId;
  }

  const IssueOrder& order_;
  const Trace& trace_;
  Consumer& consumer_;
  std::vector<StreamState> streams_;
  std::vector<Context> contexts_;
};

}  // namespace streamscope::analysis
