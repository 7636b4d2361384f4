// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "edges.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "graph_nodes.h"
#include "large_vector.h"

namespace streamscope::analysis {
namespace {

// An op that the next item of a stream has to wait for, and by what means.
struct Source {
  Id op = kNoId;
  trace::EdgeKind kind = trace::kFifoEdge;
  Id record = kNoId;
  Id wait = kNoId;
};

using Frontier = std::vector<Source>;

struct StreamWalk {
  Frontier frontier;
  Id context = kNoId;
  bool legacy = false;
  bool blocking = false;  // joins the legacy stream of its context
  bool dirty = false;     // listed in ContextWalk::dirty
  uint32_t epoch = 0;     // last legacy item that the frontier knows of
};

struct ContextWalk {
  Frontier barrier;       // what the last legacy item left for the blocking streams
  std::vector<Id> dirty;  // blocking streams with work since then
  std::vector<Id> streams;
  uint32_t epoch = 0;
};

}  // namespace

class EdgeWalk {
 public:
  explicit EdgeWalk(const IssueOrder& order)
      : trace_(order.trace()),
        order_(order),
        graph_nodes_(trace_),
        pending_(trace_.thread.size()),
        handed_(trace_.thread.size() * trace_.stream.size(), kNoId),
        sequence_(large_vector<uint32_t>(trace_.op.size(), 0)) {
    contexts_.resize(trace_.context.size());
    streams_.resize(trace_.stream.size());
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      StreamWalk& state = streams_[stream];
      const auto kind = trace_.stream.kind[stream];
      state.context = trace_.stream.context_id[stream];
      if (state.context >= contexts_.size()) continue;
      state.legacy = kind == trace::kLegacyStream;
      state.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
      contexts_[state.context].streams.push_back(stream);
    }
    record_sources_ = large_vector(trace_.event_record.size(), Edges::Slice{});
    // Most records stand for one op, most waits are for one edge.
    reserve_large(record_ops_, trace_.event_record.size());
    reserve_large(edges, trace_.event_wait.size());
    sync_slices.resize(trace_.host_sync.size());
  }

  void run();

  std::vector<trace::Edge> edges;
  std::vector<Edges::Slice> sync_slices;
  std::vector<Id> sync_ops;
  size_t truncated_count = 0;

 private:
  friend Issued;
  void on_op(Id op);
  void on_launch(std::span<const Id> nodes);
  void enter(Id op, StreamWalk& state);
  void host_edges(Id op);
  void on_record(Id record);
  void on_wait(Id wait);
  void on_sync(Id sync);
  void on_memory(Id) {}  // no op

  StreamWalk& touch(Id stream);
  void add(Frontier& frontier, const Source& source);
  void join_blocking_streams(StreamWalk& legacy);
  void set_barrier(const StreamWalk& legacy);
  void mark_dirty(Id stream, StreamWalk& state);
  void emit(const Source& source, Id to);
  bool hand_to_thread(Id thread, Id op);
  bool host_waited_for(Id op) const;
  Ns ended_ns(Id op) const;

  const Trace& trace_;
  const IssueOrder& order_;
  const GraphNodes graph_nodes_;
  std::vector<StreamWalk> streams_;
  std::vector<ContextWalk> contexts_;
  std::vector<std::vector<Id>>
      pending_;             // per thread: ops it knows to have ended and has not passed on yet
  std::vector<Id> handed_;  // per thread and stream: newest op of the stream handed to the thread
  std::vector<uint32_t> sequence_;  // per op: its place in the walk
  uint32_t last_sequence_ = 0;
  std::vector<Edges::Slice> record_sources_;  // per record: into record_ops_
  std::vector<Id> record_ops_;
};

// When an op ended, or where its call stood if that is unknown: the key by which frontiers drop
// ops.
Ns EdgeWalk::ended_ns(Id op) const {
  return trace_.op.end_ns[op] != kUnknownNs ? trace_.op.end_ns[op] : order_.issue(op).end_ns;
}

void EdgeWalk::add(Frontier& frontier, const Source& source) {
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
StreamWalk& EdgeWalk::touch(Id stream) {
  StreamWalk& state = streams_[stream];
  if (state.blocking && state.epoch < contexts_[state.context].epoch) {
    const ContextWalk& context = contexts_[state.context];
    // The barrier stands for all that was in the stream, but what the stream itself waits for keeps
    // its name: it is in the stream from its wait on, the barrier only from the next op on.
    Frontier waits = std::exchange(state.frontier, context.barrier);
    for (const Source& source : waits) {
      if (source.kind == trace::kEventEdge) add(state.frontier, source);
    }
    state.epoch = context.epoch;
  }
  return state;
}

void EdgeWalk::mark_dirty(Id stream, StreamWalk& state) {
  if (!state.blocking || state.dirty) return;
  state.dirty = true;
  contexts_[state.context].dirty.push_back(stream);
}

void EdgeWalk::join_blocking_streams(StreamWalk& legacy) {
  ContextWalk& context = contexts_[legacy.context];
  for (Id stream : context.dirty) {
    streams_[stream].dirty = false;
    for (const Source& source : streams_[stream].frontier) {
      add(legacy.frontier, {source.op, trace::kLegacyEdge, kNoId, kNoId});
    }
  }
  context.dirty.clear();
}

void EdgeWalk::set_barrier(const StreamWalk& legacy) {
  ContextWalk& context = contexts_[legacy.context];
  context.barrier.clear();
  for (const Source& source : legacy.frontier) {
    add(context.barrier, {source.op, trace::kLegacyEdge, kNoId, kNoId});
  }
  ++context.epoch;
}

void EdgeWalk::emit(const Source& source, Id to) {
  if (trace_.op.stream_id[source.op] == trace_.op.stream_id[to]) return;
  trace::Edge edge;
  // Branches of a graph run on streams of their own, and still in the order of its launches.
  edge.kind = source.kind == trace::kFifoEdge ? trace::kGraphEdgeKind : source.kind;
  edge.from_op_id = source.op;
  edge.to_op_id = to;
  edge.event_record_id = source.record;
  edge.event_wait_id = source.wait;
  edges.push_back(edge);
}

// What an op, or the first nodes of a graph launch, have to wait for.
void EdgeWalk::enter(Id op, StreamWalk& state) {
  for (const Source& source : state.frontier) emit(source, op);
  if (const Id writer = order_.writer_of(op); writer != kNoId)
    emit({writer, trace::kMemoryEdge, kNoId, kNoId}, op);
}

void EdgeWalk::host_edges(Id op) {
  const Id stream = trace_.op.stream_id[op], thread = order_.issue(op).thread_id;
  if (thread >= pending_.size()) return;
  std::erase_if(pending_[thread], [&](Id source) {
    if (trace_.op.stream_id[source] == stream)
      return false;  // FIFO says so already; others may need it
    emit({source, trace::kHostEdge, kNoId, kNoId}, op);
    return true;
  });
}

void EdgeWalk::on_op(Id op) {
  const Id stream = order_.stream(op);
  StreamWalk& state = touch(stream);
  sequence_[op] = ++last_sequence_;
  if (state.legacy) join_blocking_streams(state);
  enter(op, state);
  host_edges(op);
  if (host_waited_for(op)) hand_to_thread(order_.issue(op).thread_id, op);
  state.frontier.assign(1, {op, trace::kFifoEdge, kNoId, kNoId});
  mark_dirty(stream, state);
  if (state.legacy) set_barrier(state);
}

// A graph launch, node by node: nodes without predecessors take the edges in, those without
// successors give them out. Without the graph's topology the first to start and the last to end do.
void EdgeWalk::on_launch(std::span<const Id> nodes) {
  const Id stream = order_.stream(nodes.front());
  StreamWalk& state = touch(stream);
  if (state.legacy) join_blocking_streams(state);
  const Id process = trace_.process_of_stream(stream);
  std::vector<std::pair<Id, Id>> ops;  // graph node, op
  for (Id op : nodes) {
    sequence_[op] = ++last_sequence_;
    const Id node = graph_nodes_.node(process, trace_.op.graph_node[op]);
    if (node != kNoId) ops.emplace_back(node, op);
  }
  std::sort(ops.begin(), ops.end());
  Frontier leaves;
  if (ops.size() < nodes.size()) {
    enter(nodes.front(), state);
    const Id last = *std::max_element(nodes.begin(), nodes.end(),
                                      [&](Id a, Id b) { return ended_ns(a) < ended_ns(b); });
    leaves.push_back({last, trace::kFifoEdge, kNoId, kNoId});
  } else {
    std::vector<bool> has_successor(ops.size());
    std::vector<Id> stack, seen;
    for (const auto& [node, op] : ops) {
      // Nodes without an op (host and empty nodes) are looked through.
      bool root = true;
      stack.assign(1, node);
      seen.clear();
      while (!stack.empty()) {
        const Id at = stack.back();
        stack.pop_back();
        for (Id before : graph_nodes_.before(at)) {
          if (std::find(seen.begin(), seen.end(), before) != seen.end()) continue;
          seen.push_back(before);
          const auto found = std::lower_bound(ops.begin(), ops.end(), std::pair(before, Id{0}));
          if (found == ops.end() || found->first != before) {
            stack.push_back(before);
            continue;
          }
          root = false;
          has_successor[static_cast<size_t>(found - ops.begin())] = true;
          edges.push_back(
              {.kind = trace::kGraphEdgeKind, .from_op_id = found->second, .to_op_id = op});
        }
      }
      if (root) enter(op, state);
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!has_successor[i]) add(leaves, {ops[i].second, trace::kFifoEdge, kNoId, kNoId});
    }
  }
  host_edges(nodes.front());
  state.frontier = std::move(leaves);
  mark_dirty(stream, state);
  if (state.legacy) set_barrier(state);
}

// Synchronous copies (rule J): of these the documents promise that the copy has ended when the call
// returns.
bool EdgeWalk::host_waited_for(Id op) const {
  constexpr trace::Small kSynchronousCopyCall = 2, kToHost = 2, kToDevice = 1, kPinned = 2;
  if (trace_.op.kind[op] != trace::kMemcpy) return false;
  const Id call = trace_.op.api_call_id[op];
  if (order_.copy_sync(op) == kNoId &&
      (call >= trace_.api_call.size() || trace_.api_call.kind[call] != kSynchronousCopyCall)) {
    return false;
  }
  const trace::Small direction = trace_.op.detail[op], memory = trace_.op.memory_kinds[op];
  return direction == kToHost ||
         (direction == kToDevice && memory != trace::kNoSmall && (memory >> 4) == kPinned);
}

void EdgeWalk::on_record(Id record) {
  if (trace_.event_record.stream_id[record] >= streams_.size()) return;
  StreamWalk& state = touch(trace_.event_record.stream_id[record]);
  if (state.legacy) {
    join_blocking_streams(state);
    set_barrier(state);
  }
  record_sources_[record] = {static_cast<uint32_t>(record_ops_.size()),
                             static_cast<uint32_t>(state.frontier.size())};
  for (const Source& source : state.frontier) record_ops_.push_back(source.op);
}

void EdgeWalk::on_wait(Id wait) {
  const Id stream = trace_.event_wait.stream_id[wait];
  const Id record = trace_.event_wait.record_id[wait];
  if (stream >= streams_.size()) return;
  StreamWalk& state = touch(stream);
  if (state.legacy) join_blocking_streams(state);
  // A record of its own stream tells it nothing new.
  if (trace_.event_wait.binding[wait] == trace::kBindingExact && record < record_sources_.size() &&
      trace_.event_record.stream_id[record] != stream) {
    const Edges::Slice sources = record_sources_[record];
    for (uint32_t i = 0; i < sources.count; ++i) {
      add(state.frontier, {record_ops_[sources.first + i], trace::kEventEdge, record, wait});
    }
  }
  mark_dirty(stream, state);
  if (state.legacy) set_barrier(state);
}

// False if the thread knew already.
bool EdgeWalk::hand_to_thread(Id thread, Id op) {
  const Id stream = trace_.op.stream_id[op];
  if (thread >= pending_.size() || stream >= streams_.size()) return false;
  Id& newest = handed_[size_t{thread} * streams_.size() + stream];
  if (newest != kNoId && sequence_[newest] >= sequence_[op]) return false;  // FIFO covers this one
  newest = op;
  std::erase_if(pending_[thread], [&](Id old) { return trace_.op.stream_id[old] == stream; });
  pending_[thread].push_back(op);
  return true;
}

void EdgeWalk::on_sync(Id sync) {
  const Id thread = trace_.host_sync.thread_id[sync];
  Frontier learned;
  const auto hand = [&](Id op) {
    if (hand_to_thread(thread, op)) add(learned, {op, trace::kHostEdge, kNoId, kNoId});
  };
  const auto hand_stream = [&](Id stream) {
    const StreamWalk& state = streams_[stream];  // no item: what it has, not what it would wait for
    for (const Source& source : state.frontier) hand(source.op);
    if (!state.legacy) return;
    for (Id blocking : contexts_[state.context].dirty) {
      for (const Source& source : streams_[blocking].frontier) hand(source.op);
    }
  };
  switch (trace_.host_sync.kind[sync]) {
    case trace::kDeviceSynchronize: {
      const Id context = trace_.host_sync.context_id[sync];
      if (context >= contexts_.size()) break;
      for (Id stream : contexts_[context].streams) hand_stream(stream);
      break;
    }
    case trace::kStreamSynchronize:
    case trace::kStreamQuery: {
      const Id stream = trace_.host_sync.stream_id[sync];
      if (stream < streams_.size()) hand_stream(stream);
      break;
    }
    case trace::kEventSynchronize:
    case trace::kEventQuery: {
      const Id record = trace_.host_sync.record_id[sync];
      if (trace_.host_sync.binding[sync] != trace::kBindingExact ||
          record >= record_sources_.size())
        break;
      const Edges::Slice sources = record_sources_[record];
      for (uint32_t i = 0; i < sources.count; ++i) hand(record_ops_[sources.first + i]);
      break;
    }
    default:
      break;
  }
  sync_slices[sync] = {static_cast<uint32_t>(sync_ops.size()),
                       static_cast<uint32_t>(learned.size())};
  for (const Source& source : learned) sync_ops.push_back(source.op);
}

void EdgeWalk::run() {
  std::vector<Id> nodes;
  const auto items = order_.items();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind() != Issued::kOp) {
      items[i].tell(*this);
      continue;
    }
    const Id id = items[i].id(), call = trace_.op.api_call_id[id];
    nodes.assign(1, id);
    while (call != kNoId && i + 1 < items.size() && items[i + 1].kind() == Issued::kOp &&
           trace_.op.api_call_id[items[i + 1].id()] == call) {
      nodes.push_back(items[++i].id());
    }
    if (nodes.size() == 1 && trace_.op.graph_node[id] == trace::kNoInt) {
      on_op(id);
    } else {
      on_launch(nodes);
    }
  }
}

Edges::Edges(const IssueOrder& order)
    : first_(large_vector<uint32_t>(order.trace().op.size() + 1, 0)) {
  EdgeWalk walk(order);
  walk.run();
  truncated_count_ = walk.truncated_count;
  sync_slices_ = std::move(walk.sync_slices);
  sync_ops_ = std::move(walk.sync_ops);
  // In order of the op that they end at; walked backwards, they find their places from the back.
  const bool sorted = std::is_sorted(
      walk.edges.begin(), walk.edges.end(),
      [](const trace::Edge& a, const trace::Edge& b) { return a.to_op_id < b.to_op_id; });
  for (const trace::Edge& edge : walk.edges) ++first_[edge.to_op_id];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  if (!sorted) rows_.resize(walk.edges.size());
  for (size_t i = walk.edges.size(); i-- > 0;) {
    const uint32_t place = --first_[walk.edges[i].to_op_id];
    if (!sorted) rows_[place] = walk.edges[i];
  }
  if (sorted) rows_ = std::move(walk.edges);
}

}  // namespace streamscope::analysis
