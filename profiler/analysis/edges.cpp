// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "edges.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace streamscope::analysis {
namespace {

using trace::Int;

// An op that the next item of a stream has to wait for, and by what means.
struct Source {
  Id op = kNoId;
  trace::EdgeKind kind = trace::kFifoEdge;
  Id record = kNoId;
  Id wait = kNoId;
};

using Frontier = std::vector<Source>;

struct StreamState {
  Frontier frontier;
  Id context = kNoId;
  bool legacy = false;
  bool blocking = false;  // joins the legacy stream of its context
  bool dirty = false;     // listed in ContextState::dirty
  uint32_t epoch = 0;     // last legacy item that the frontier knows of
  Id last_call = kNoId;   // call of the last op: nodes of one graph launch share it
};

struct ContextState {
  Frontier barrier;       // what the last legacy item left for the blocking streams
  std::vector<Id> dirty;  // blocking streams with work since then
  std::vector<Id> streams;
  uint32_t epoch = 0;
};

class Walk {
 public:
  explicit Walk(const Trace& trace)
      : trace_(trace), pending_(trace.thread.size()), sequence_(trace.op.size(), 0) {
    contexts_.resize(trace.context.size());
    streams_.resize(trace.stream.size());
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      StreamState& state = streams_[stream];
      const auto kind = trace.stream.kind[stream];
      state.context = trace.stream.context_id[stream];
      if (state.context >= contexts_.size()) continue;
      state.legacy = kind == trace::kLegacyStream;
      state.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
      contexts_[state.context].streams.push_back(stream);
    }
    record_sources_.resize(trace.event_record.size());
  }

  void run();

  std::vector<trace::Edge> edges;
  size_t truncated_count = 0;

 private:
  void on_op(Id op);
  void on_record(Id record);
  void on_wait(Id wait);
  void on_sync(Id sync);

  StreamState& touch(Id stream);
  void add(Frontier& frontier, const Source& source);
  void join_blocking_streams(StreamState& legacy);
  void set_barrier(const StreamState& legacy);
  void mark_dirty(Id stream, StreamState& state);
  void emit(const Source& source, Id to);
  void hand_to_thread(Id thread, Id op);
  bool host_waited_for(Id op) const;
  Ns ended_ns(Id op) const;

  const Trace& trace_;
  std::vector<StreamState> streams_;
  std::vector<ContextState> contexts_;
  std::vector<std::vector<Id>>
      pending_;  // per thread: ops it knows to have ended and has not passed on yet
  std::unordered_map<uint64_t, Id>
      handed_;  // (thread, stream) -> newest op of the stream handed to the thread
  std::vector<uint32_t> sequence_;  // per op: its place in the walk
  uint32_t last_sequence_ = 0;
  struct Slice {
    uint32_t first = 0, count = 0;
  };
  std::vector<Slice> record_sources_;  // per record: into record_ops_
  std::vector<Id> record_ops_;
};

// When an op ended, or where its call stood if that is unknown: the key by which frontiers drop
// ops.
Ns Walk::ended_ns(Id op) const {
  return trace_.op.end_ns[op] != kUnknownNs ? trace_.op.end_ns[op] : issue_of(trace_, op).end_ns;
}

void Walk::add(Frontier& frontier, const Source& source) {
  for (const Source& known : frontier) {
    if (known.op == source.op && known.wait == source.wait && known.kind == source.kind) return;
  }
  if (frontier.size() < kMaxFrontier) {
    frontier.push_back(source);
    return;
  }
  ++truncated_count;
  auto first_ended =
      std::min_element(frontier.begin(), frontier.end(), [&](const Source& a, const Source& b) {
        // The stream's own last op stays, whenever it ended.
        return std::tuple(a.kind == trace::kFifoEdge, ended_ns(a.op)) <
               std::tuple(b.kind == trace::kFifoEdge, ended_ns(b.op));
      });
  if (ended_ns(first_ended->op) < ended_ns(source.op)) *first_ended = source;
}

// The state of a stream after all legacy items so far.
StreamState& Walk::touch(Id stream) {
  StreamState& state = streams_[stream];
  if (state.blocking && state.epoch < contexts_[state.context].epoch) {
    const ContextState& context = contexts_[state.context];
    state.frontier = context.barrier;
    state.epoch = context.epoch;
    state.last_call = kNoId;
  }
  return state;
}

void Walk::mark_dirty(Id stream, StreamState& state) {
  if (!state.blocking || state.dirty) return;
  state.dirty = true;
  contexts_[state.context].dirty.push_back(stream);
}

void Walk::join_blocking_streams(StreamState& legacy) {
  ContextState& context = contexts_[legacy.context];
  for (Id stream : context.dirty) {
    streams_[stream].dirty = false;
    for (const Source& source : streams_[stream].frontier) {
      add(legacy.frontier, {source.op, trace::kLegacyEdge, kNoId, kNoId});
    }
  }
  context.dirty.clear();
}

void Walk::set_barrier(const StreamState& legacy) {
  ContextState& context = contexts_[legacy.context];
  context.barrier.clear();
  for (const Source& source : legacy.frontier) {
    add(context.barrier, {source.op, trace::kLegacyEdge, kNoId, kNoId});
  }
  ++context.epoch;
}

void Walk::emit(const Source& source, Id to) {
  if (source.kind == trace::kFifoEdge || trace_.op.stream_id[source.op] == trace_.op.stream_id[to])
    return;
  trace::Edge edge;
  edge.kind = source.kind;
  edge.from_op_id = source.op;
  edge.to_op_id = to;
  edge.event_record_id = source.record;
  edge.event_wait_id = source.wait;
  edges.push_back(edge);
}

void Walk::on_op(Id op) {
  const Id stream = trace_.op.stream_id[op];
  StreamState& state = touch(stream);
  sequence_[op] = ++last_sequence_;
  const Id call = trace_.op.api_call_id[op];
  const Source self{op, trace::kFifoEdge, kNoId, kNoId};
  if (call == state.last_call && state.frontier.size() == 1) {
    // Another node of the same graph launch: the first to start takes the edges in, the last to end
    // gives them out.
    if (ended_ns(op) > ended_ns(state.frontier.front().op)) state.frontier.front() = self;
    return;
  }
  if (state.legacy) join_blocking_streams(state);
  for (const Source& source : state.frontier) emit(source, op);

  const Id thread = issue_of(trace_, op).thread_id;
  if (thread < pending_.size()) {
    std::erase_if(pending_[thread], [&](Id source) {
      if (trace_.op.stream_id[source] == stream)
        return false;  // FIFO says so already; others may need it
      emit({source, trace::kHostEdge, kNoId, kNoId}, op);
      return true;
    });
  }
  if (thread < pending_.size() && host_waited_for(op)) hand_to_thread(thread, op);
  state.frontier.assign(1, self);
  state.last_call = call;
  mark_dirty(stream, state);
  if (state.legacy) set_barrier(state);
}

// Synchronous copies (rule J): of these the documents promise that the copy has ended when the call
// returns.
bool Walk::host_waited_for(Id op) const {
  constexpr trace::Small kSynchronousCopyCall = 2, kToHost = 2, kToDevice = 1, kPinned = 2;
  if (trace_.op.kind[op] != trace::kMemcpy ||
      trace_.api_call.kind[trace_.op.api_call_id[op]] != kSynchronousCopyCall) {
    return false;
  }
  const trace::Small direction = trace_.op.detail[op], memory = trace_.op.memory_kinds[op];
  return direction == kToHost ||
         (direction == kToDevice && memory != trace::kNoSmall && (memory >> 4) == kPinned);
}

void Walk::on_record(Id record) {
  StreamState& state = touch(trace_.event_record.stream_id[record]);
  if (state.legacy) {
    join_blocking_streams(state);
    set_barrier(state);
    state.last_call = kNoId;
  }
  record_sources_[record] = {static_cast<uint32_t>(record_ops_.size()),
                             static_cast<uint32_t>(state.frontier.size())};
  for (const Source& source : state.frontier) record_ops_.push_back(source.op);
}

void Walk::on_wait(Id wait) {
  const Id stream = trace_.event_wait.stream_id[wait];
  const Id record = trace_.event_wait.record_id[wait];
  StreamState& state = touch(stream);
  if (state.legacy) join_blocking_streams(state);
  if (trace_.event_wait.binding[wait] == trace::kBindingExact && record < record_sources_.size()) {
    const Slice sources = record_sources_[record];
    for (uint32_t i = 0; i < sources.count; ++i) {
      add(state.frontier, {record_ops_[sources.first + i], trace::kEventEdge, record, wait});
    }
  }
  state.last_call = kNoId;
  mark_dirty(stream, state);
  if (state.legacy) set_barrier(state);
}

void Walk::hand_to_thread(Id thread, Id op) {
  const Id stream = trace_.op.stream_id[op];
  Id& newest = handed_.try_emplace(uint64_t{thread} << 32 | stream, kNoId).first->second;
  if (newest != kNoId && sequence_[newest] >= sequence_[op]) return;  // FIFO: covers this one
  newest = op;
  std::erase_if(pending_[thread], [&](Id old) { return trace_.op.stream_id[old] == stream; });
  pending_[thread].push_back(op);
}

void Walk::on_sync(Id sync) {
  const Id thread = trace_.host_sync.thread_id[sync];
  if (thread >= pending_.size()) return;
  const auto hand_stream = [&](Id stream) {
    StreamState& state = touch(stream);
    for (const Source& source : state.frontier) hand_to_thread(thread, source.op);
    if (!state.legacy) return;
    for (Id blocking : contexts_[state.context].dirty) {
      for (const Source& source : streams_[blocking].frontier) hand_to_thread(thread, source.op);
    }
  };
  switch (trace_.host_sync.kind[sync]) {
    case trace::kDeviceSynchronize: {
      const Id context = trace_.host_sync.context_id[sync];
      if (context >= contexts_.size()) return;
      for (Id stream : contexts_[context].streams) hand_stream(stream);
      return;
    }
    case trace::kStreamSynchronize:
    case trace::kStreamQuery: {
      const Id stream = trace_.host_sync.stream_id[sync];
      if (stream < streams_.size()) hand_stream(stream);
      return;
    }
    case trace::kEventSynchronize:
    case trace::kEventQuery: {
      const Id record = trace_.host_sync.record_id[sync];
      if (trace_.host_sync.binding[sync] != trace::kBindingExact ||
          record >= record_sources_.size())
        return;
      const Slice sources = record_sources_[record];
      for (uint32_t i = 0; i < sources.count; ++i)
        hand_to_thread(thread, record_ops_[sources.first + i]);
      return;
    }
    default:
      return;
  }
}

// Ids of the rows that pass `wanted`, in order of (time, correlation id): the latter decides
// between calls that returned at the same instant, as happens on the coarse virtual clock of a
// simulated device.
template <class Wanted, class Key>
std::vector<Id> in_order(size_t count, Wanted wanted, Key key) {
  std::vector<Id> ids;
  ids.reserve(count);
  for (Id id = 0; id < count; ++id) {
    if (wanted(id)) ids.push_back(id);
  }
  const auto before = [&](Id a, Id b) { return key(a) < key(b); };
  if (!std::is_sorted(ids.begin(), ids.end(), before))
    std::stable_sort(ids.begin(), ids.end(), before);
  return ids;
}

void Walk::run() {
  using Key = std::tuple<Ns, Int, Ns>;
  const auto& calls = trace_.api_call;
  const auto& records = trace_.event_record;
  const auto& waits = trace_.event_wait;
  const auto& syncs = trace_.host_sync;
  const auto succeeded = [](trace::Small result) {
    return result == 0 || result == trace::kNoSmall;
  };
  const auto captured = [](trace::Small flags) {
    return flags != trace::kNoSmall && (flags & trace::kCapturedRecord) != 0;
  };

  const auto op_key = [&](Id op) {
    const Id call = trace_.op.api_call_id[op];
    return Key(calls.end_ns[call], calls.correlation_id[call], trace_.op.start_ns[op]);
  };
  const auto record_key = [&](Id id) {
    return Key(records.end_ns[id], records.correlation_id[id], 0);
  };
  const auto wait_key = [&](Id id) { return Key(waits.end_ns[id], waits.correlation_id[id], 0); };
  // What a sync waits for is settled when it is called; its thread issues nothing before it
  // returns.
  const auto sync_key = [&](Id id) { return Key(syncs.start_ns[id], syncs.correlation_id[id], 0); };

  const auto op_ids = in_order(
      trace_.op.size(),
      [&](Id op) {
        const Id call = trace_.op.api_call_id[op];
        return trace_.op.stream_id[op] < streams_.size() && call < calls.size() &&
               calls.end_ns[call] != kUnknownNs;
      },
      op_key);
  const auto record_ids = in_order(
      records.size(),
      [&](Id id) {
        return records.stream_id[id] < streams_.size() && records.end_ns[id] != kUnknownNs &&
               succeeded(records.result[id]) && !captured(records.flags[id]);
      },
      record_key);
  const auto wait_ids = in_order(
      waits.size(),
      [&](Id id) {
        return waits.stream_id[id] < streams_.size() && waits.end_ns[id] != kUnknownNs &&
               succeeded(waits.result[id]) &&
               (waits.binding[id] == trace::kBindingExact ||
                waits.binding[id] == trace::kAmbiguous);
      },
      wait_key);
  const auto sync_ids = in_order(
      syncs.size(),
      [&](Id id) { return syncs.start_ns[id] != kUnknownNs && succeeded(syncs.result[id]); },
      sync_key);

  constexpr Key kEnd{std::numeric_limits<Ns>::max(), 0, 0};
  size_t op = 0, record = 0, wait = 0, sync = 0;
  for (;;) {
    const Key op_at = op < op_ids.size() ? op_key(op_ids[op]) : kEnd;
    const Key record_at = record < record_ids.size() ? record_key(record_ids[record]) : kEnd;
    const Key wait_at = wait < wait_ids.size() ? wait_key(wait_ids[wait]) : kEnd;
    const Key sync_at = sync < sync_ids.size() ? sync_key(sync_ids[sync]) : kEnd;
    const Key next = std::min({op_at, record_at, wait_at, sync_at});
    if (next == kEnd) return;
    if (next == op_at) {
      on_op(op_ids[op++]);
    } else if (next == record_at) {
      on_record(record_ids[record++]);
    } else if (next == wait_at) {
      on_wait(wait_ids[wait++]);
    } else {
      on_sync(sync_ids[sync++]);
    }
  }
}

}  // namespace

Edges::Edges(const Trace& trace) : first_(trace.op.size() + 1, 0) {
  Walk walk(trace);
  walk.run();
  truncated_count_ = walk.truncated_count;
  for (const trace::Edge& edge : walk.edges) ++first_[edge.to_op_id + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  rows_.resize(walk.edges.size());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (const trace::Edge& edge : walk.edges) rows_[next[edge.to_op_id]++] = edge;
}

}  // namespace streamscope::analysis
