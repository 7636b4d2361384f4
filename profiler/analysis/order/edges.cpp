// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "edges.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/large_vector.h"
#include "graph_nodes.h"
#include "ordering.h"

namespace streamscope::analysis {
namespace {

// An op that the next item of a stream has to wait for, and why.
struct Source {
  Id op = kNoId;
  trace::EdgeKind kind = trace::kFifoEdge;
  Id record = kNoId;
  Id wait = kNoId;
};

using Frontier = std::vector<Source>;

}  // namespace

// Streams and records hold frontiers; threads hold ops that they have not yet passed on.
class EdgeWalk : public OrderingConsumer {
 public:
  EdgeWalk(const IssueOrder& order, Edges& result)
      : trace_(order.trace()),
        result_(result),
        order_(order),
        graph_nodes_(trace_),
        streams_(trace_.stream.size()),
        barriers_(trace_.context.size()),
        pending_(trace_.thread.size()),
        handed_(trace_.thread.size() * trace_.stream.size(), kNoId),
        sequence_(large_vector<uint32_t>(trace_.op.size(), 0)) {
    record_sources_ = large_vector(trace_.event_record.size(), Edges::Slice{});
    // Most records represent one op, most waits cause one edge.
    reserve_large(record_ops_, trace_.event_record.size());
    reserve_large(edges, trace_.event_wait.size());
    result_.sync_slices_.resize(trace_.host_sync.size());
  }

  std::vector<trace::Edge> edges;  // in the order of the walk

 private:
  friend OrderingWalk<EdgeWalk>;

  // When an op ended, or the time of its call if unknown: the key by which frontiers drop ops.
  Ns ended_ns(Id op) const {
    return trace_.op.end_ns[op] != kUnknownNs ? trace_.op.end_ns[op] : order_.issue(op).end_ns;
  }

  void add(Frontier& frontier, const Source& source) {
    for (const Source& known : frontier) {
      if (known.op == source.op && known.wait == source.wait && known.kind == source.kind) return;
    }
    if (frontier.size() < kMaxFrontier) {
      frontier.push_back(source);
      return;
    }
    ++result_.truncated_count_;
    auto first_ended =
        std::min_element(frontier.begin(), frontier.end(), [&](const Source& a, const Source& b) {
          // The stream's own last op stays, no matter when it ended.
          return std::tuple(a.kind == trace::kFifoEdge, ended_ns(a.op)) <
                 std::tuple(b.kind == trace::kFifoEdge, ended_ns(b.op));
        });
    if (ended_ns(first_ended->op) < ended_ns(source.op)) *first_ended = source;
  }

  // The barrier covers everything that was in the stream, but the stream's own waits keep their
  // edge kind: they apply from the wait on, the barrier only from the next op on.
  void join_legacy(Id stream, const StreamRole& role, bool is_new) {
    if (!is_new) return;
    Frontier& frontier = streams_[stream];
    const Frontier before = std::exchange(frontier, barriers_[role.context]);
    for (const Source& source : before) {
      if (source.kind == trace::kEventEdge) add(frontier, source);
    }
  }

  void join_blocking(Id legacy, const StreamRole&, std::span<const Id> streams) {
    for (const Id stream : streams) {
      for (const Source& source : streams_[stream])
        add(streams_[legacy], {source.op, trace::kLegacyEdge});
    }
  }

  void leave(Id stream, const StreamRole& role) {
    if (role.legacy) {
      Frontier& barrier = barriers_[role.context];
      barrier.clear();
      for (const Source& source : streams_[stream]) add(barrier, {source.op, trace::kLegacyEdge});
    }
    if (copied_.empty()) return;
    for (const Id op : copied_) hand_to_thread(copying_thread_, op);
    copied_.clear();
  }

  void join_record(Id stream, Id record, Id wait) {
    if (trace_.event_record.stream_id[record] == stream) return;  // implied by FIFO order
    for (const Id op : ops_of(record)) add(streams_[stream], {op, trace::kEventEdge, record, wait});
  }

  void stand_for(Id record, const Frontier& frontier) {
    record_sources_[record] = {static_cast<uint32_t>(record_ops_.size()),
                               static_cast<uint32_t>(frontier.size())};
    for (const Source& source : frontier) record_ops_.push_back(source.op);
  }

  void place_context_record(Id record, Id, std::span<const Id> streams) {
    Frontier all;
    for (const Id stream : streams) {
      for (const Source& source : streams_[stream]) add(all, {source.op, trace::kEventEdge});
    }
    stand_for(record, all);
  }

  // When the call that issues a copy returns, its thread knows what the call waited for.
  void teach_copy(Id thread, Id stream, Id, const Issue&) {
    copying_thread_ = thread;
    for (const Source& source : streams_[stream]) copied_.push_back(source.op);
  }

  void emit(const Source& source, Id to) {
    if (trace_.op.stream_id[source.op] == trace_.op.stream_id[to]) return;
    // Branches of a graph run on their own streams, but in the order of its launches.
    edges.push_back({.kind = source.kind == trace::kFifoEdge ? trace::kGraphEdgeKind : source.kind,
                     .from_op_id = source.op,
                     .to_op_id = to,
                     .event_record_id = source.record,
                     .event_wait_id = source.wait});
  }

  // What an op, or the root nodes of a graph launch, must wait for.
  void enter(Id op, const Frontier& frontier) {
    for (const Source& source : frontier) emit(source, op);
    if (const Id writer = order_.writer_of(op); writer != kNoId)
      emit({writer, trace::kMemoryEdge}, op);
  }

  void host_edges(Id op, Id thread) {
    if (thread >= pending_.size()) return;
    const Id stream = trace_.op.stream_id[op];
    std::erase_if(pending_[thread], [&](Id source) {
      if (trace_.op.stream_id[source] == stream)
        return false;  // implied by FIFO order; others may need it
      emit({source, trace::kHostEdge}, op);
      return true;
    });
  }

  void place_op(Id op, Id stream, const Issue& issue) {
    sequence_[op] = ++last_sequence_;
    enter(op, streams_[stream]);
    host_edges(op, issue.thread_id);
    streams_[stream].assign(1, {op, trace::kFifoEdge});
  }

  // A graph launch, node by node: incoming edges go to nodes without predecessors, outgoing edges
  // leave nodes without successors. If the topology is unknown: the first to start, the last to
  // end.
  void place_launch(std::span<const Issued> nodes, Id stream, const Issue& issue) {
    Frontier& frontier = streams_[stream];
    const Id process = trace_.process_of_stream(stream);
    std::vector<std::pair<Id, Id>> ops;  // graph node, op
    for (const Issued item : nodes) {
      const Id op = item.id();
      sequence_[op] = ++last_sequence_;
      const Id node = graph_nodes_.node(process, trace_.op.graph_node[op]);
      if (node != kNoId) ops.emplace_back(node, op);
    }
    std::sort(ops.begin(), ops.end());
    Frontier leaves;
    if (ops.size() < nodes.size()) {
      enter(nodes.front().id(), frontier);
      const Issued last = *std::max_element(nodes.begin(), nodes.end(), [&](Issued a, Issued b) {
        return ended_ns(a.id()) < ended_ns(b.id());
      });
      leaves.push_back({last.id(), trace::kFifoEdge});
    } else {
      std::vector<bool> has_successor(ops.size());
      std::vector<Id> stack, seen;
      for (const auto& [node, op] : ops) {
        // Nodes without an op (host and empty nodes) are skipped.
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
        if (root) enter(op, frontier);
      }
      for (size_t i = 0; i < ops.size(); ++i) {
        if (!has_successor[i]) add(leaves, {ops[i].second, trace::kFifoEdge});
      }
    }
    host_edges(nodes.front().id(), issue.thread_id);
    frontier = std::move(leaves);
  }

  // False if the thread already knew.
  bool hand_to_thread(Id thread, Id op) {
    const Id stream = trace_.op.stream_id[op];
    if (thread >= pending_.size() || stream >= streams_.size()) return false;
    Id& newest = handed_[size_t{thread} * streams_.size() + stream];
    if (newest != kNoId && sequence_[newest] >= sequence_[op])
      return false;  // FIFO covers this one
    newest = op;
    std::erase_if(pending_[thread], [&](Id old) { return trace_.op.stream_id[old] == stream; });
    pending_[thread].push_back(op);
    return true;
  }

  void end(Issued item) {
    if (item.kind() != Issued::kSync) return;
    result_.sync_slices_[item.id()] = {static_cast<uint32_t>(result_.sync_ops_.size()),
                                       static_cast<uint32_t>(learned_.size())};
    for (const Source& source : learned_) result_.sync_ops_.push_back(source.op);
    learned_.clear();
  }

  void place_record(Id record, Id stream) { stand_for(record, streams_[stream]); }
  void teach_streams(Id thread, Id, bool, std::span<const Id> streams, Id sync) {
    for (const Id stream : streams) teach_stream(thread, stream, sync);
  }
  void teach_stream(Id thread, Id stream, Id) {
    for (const Source& source : streams_[stream]) teach(thread, source.op);
  }
  void teach_record(Id thread, Id record, Id) {
    for (const Id op : ops_of(record)) teach(thread, op);
  }

  void teach(Id thread, Id op) {
    if (hand_to_thread(thread, op)) add(learned_, {op, trace::kHostEdge});
  }
  std::span<const Id> ops_of(Id record) const {
    const Edges::Slice& slice = record_sources_[record];
    return {record_ops_.data() + slice.first, slice.count};
  }

  const Trace& trace_;
  Edges& result_;
  const IssueOrder& order_;
  const GraphNodes graph_nodes_;
  std::vector<Frontier> streams_;
  std::vector<Frontier> barriers_;  // per context: the frontier after its last legacy-stream item
  std::vector<std::vector<Id>>
      pending_;             // per thread: ops that it knows have ended and has not passed on yet
  std::vector<Id> handed_;  // per thread and stream: newest op of the stream handed to the thread
  std::vector<uint32_t> sequence_;  // per op: its position in the walk
  uint32_t last_sequence_ = 0;
  std::vector<Edges::Slice> record_sources_;  // per record: into record_ops_
  std::vector<Id> record_ops_;
  Frontier learned_;        // from the current synchronization
  std::vector<Id> copied_;  // what the thread learns from the current copy
  Id copying_thread_ = kNoId;
};

Edges::Edges(const IssueOrder& order)
    : first_(large_vector<uint32_t>(order.trace().op.size() + 1, 0)) {
  EdgeWalk walk(order, *this);
  OrderingWalk(order, walk).run();
  // Sorted by the op they end at; walked backwards, so that each slot is filled from the back.
  const bool sorted = std::ranges::is_sorted(walk.edges, {}, &trace::Edge::to_op_id);
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
