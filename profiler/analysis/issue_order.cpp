// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issue_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "large_vector.h"

namespace streamscope::analysis {
namespace {

using trace::Int;

bool succeeded(trace::Small result) { return result == 0 || result == trace::kNoSmall; }

// Rows by (time, correlation id): the latter decides between calls that returned at the same
// instant, as happens on the coarse virtual clock of a simulated device.
template <class AtNs>
void sort_by_call(std::vector<Id>& rows, AtNs at_ns, const std::vector<Int>& correlation) {
  const auto before = [&](Id a, Id b) {
    const Ns at_a = at_ns(a), at_b = at_ns(b);
    if (at_a != at_b) return at_a < at_b;
    return std::tie(correlation[a], a) < std::tie(correlation[b], b);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before))
    std::sort(rows.begin(), rows.end(), before);
}

// Those of the rows from 0 to `count` that a predicate accepts, by (column `at_ns`, correlation
// id).
template <class Accepts>
std::vector<Id> rows_by_call(size_t count, Accepts accepts, const std::vector<Ns>& at_ns,
                             const std::vector<Int>& correlation) {
  std::vector<Id> rows;
  reserve_large(rows, count);
  for (Id row = 0; row < count; ++row) {
    if (accepts(row)) rows.push_back(row);
  }
  sort_by_call(
      rows, [&](Id row) { return at_ns[row]; }, correlation);
  return rows;
}

// Ops by call, and those of one call (nodes of a graph) by start.
std::vector<Id> ops_by_call(const Trace& trace) {
  const auto& calls = trace.api_call;
  const auto& call_of = trace.op.api_call_id;
  const auto before = [&](Id a, Id b) {
    const Id call_a = call_of[a], call_b = call_of[b];
    if (call_a == call_b)
      return std::tie(trace.op.start_ns[a], a) < std::tie(trace.op.start_ns[b], b);
    return std::tie(calls.end_ns[call_a], calls.correlation_id[call_a], call_a) <
           std::tie(calls.end_ns[call_b], calls.correlation_id[call_b], call_b);
  };
  std::vector<Id> ops;
  reserve_large(ops, trace.op.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (call_of[op] < calls.size() && calls.end_ns[call_of[op]] != kUnknownNs &&
        trace.op.stream_id[op] < trace.stream.size()) {
      ops.push_back(op);
    }
  }
  if (std::is_sorted(ops.begin(), ops.end(), before)) return ops;
  // Calls are nearly in order even where ops are not.
  std::vector<Id> first = large_vector(calls.size(), kNoId), next;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    Id& of_call = first[call_of[*op]];
    if (of_call != kNoId) {
      if (next.empty()) next = large_vector(trace.op.size(), kNoId);
      next[*op] = of_call;
    }
    of_call = *op;
  }
  const std::vector<Id> by_call = rows_by_call(
      calls.size(), [&](Id call) { return first[call] != kNoId; }, calls.end_ns,
      calls.correlation_id);
  ops.clear();
  for (Id call : by_call) {
    const auto begin = static_cast<ptrdiff_t>(ops.size());
    for (Id op = first[call]; op != kNoId; op = next.empty() ? kNoId : next[op]) ops.push_back(op);
    std::sort(ops.begin() + begin, ops.end(), before);
  }
  return ops;
}

// The calls of synchronous copies are rows of host_sync; their ops name no api_call.
std::unordered_map<Id, Id> find_copy_syncs(const Trace& trace) {
  std::map<std::pair<Id, Int>, Id> copies;
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (syncs.kind[sync] == trace::kSynchronousCopy && syncs.end_ns[sync] != kUnknownNs &&
        succeeded(syncs.result[sync])) {
      copies[{trace.process_of_thread(syncs.thread_id[sync]), syncs.correlation_id[sync]}] = sync;
    }
  }
  std::unordered_map<Id, Id> result;
  if (copies.empty()) return result;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    if (trace.op.api_call_id[op] < trace.api_call.size() || stream >= trace.stream.size()) continue;
    const auto found = copies.find({trace.process_of_stream(stream), trace.op.correlation_id[op]});
    if (found != copies.end()) result.emplace(op, found->second);
  }
  return result;
}

// Synchronous copies among the others.
std::vector<Id> ops_in_order(const IssueOrder& order,
                             const std::unordered_map<Id, Id>& copy_syncs) {
  std::vector<Id> ops = ops_by_call(order.trace());
  if (copy_syncs.empty()) return ops;
  const auto returned_ns = [&](Id op) { return order.issue(op).end_ns; };
  std::vector<Id> copies;
  copies.reserve(copy_syncs.size());
  for (const auto& [op, sync] : copy_syncs) copies.push_back(op);
  sort_by_call(copies, returned_ns, order.trace().op.correlation_id);
  std::vector<Id> merged;
  reserve_large(merged, ops.size() + copies.size());
  std::merge(ops.begin(), ops.end(), copies.begin(), copies.end(), std::back_inserter(merged),
             [&](Id a, Id b) { return returned_ns(a) < returned_ns(b); });
  return merged;
}

// Which write lets each memory wait go on.
std::unordered_map<Id, Id> find_writers(const Trace& trace, const IssueOrder& order,
                                        const std::vector<Id>& ops) {
  struct Write {
    Int value;
    Id op, stream;
  };
  std::map<std::pair<Id, Int>, std::vector<Write>> writes;  // by process and address
  const auto key = [&](Id op, Id call) {
    return std::pair(trace.process_of_stream(trace.op.stream_id[op]), trace.api_call.object[call]);
  };
  bool waits = false;
  for (Id op : ops) {
    const Id call = trace.op.api_call_id[op];
    waits |= trace.op.kind[op] == trace::kMemoryWait;
    if (trace.op.kind[op] == trace::kMemoryWrite && call < trace.api_call.size())
      writes[key(op, call)].push_back({trace.api_call.value[call], op, order.stream(op)});
  }
  std::unordered_map<Id, Id> result;
  if (!waits || writes.empty()) return result;
  for (Id op : ops) {
    const Id call = trace.op.api_call_id[op];
    if (trace.op.kind[op] != trace::kMemoryWait || call >= trace.api_call.size()) continue;
    const auto found = writes.find(key(op, call));
    const Int value = trace.api_call.value[call];
    if (found == writes.end() || value == trace::kNoInt) continue;
    const Write* first = nullptr;
    for (const Write& write : found->second) {
      if (!can_satisfy(write.value, value)) continue;
      if (first && first->stream != write.stream) {
        first = nullptr;
        break;
      }
      if (!first) first = &write;
    }
    if (first && first->stream != order.stream(op)) result.emplace(op, first->op);
  }
  return result;
}

// Puts what a memory wait holds back behind the write it waits for.
class Deferral {
 public:
  Deferral(const IssueOrder& order, const std::unordered_map<Id, Id>& writers)
      : trace_(order.trace()),
        order_(order),
        writers_(writers),
        blocked_(trace_.stream.size() + trace_.thread.size()) {
    for (const auto& [wait, write] : writers) awaited_.emplace(write, false);
  }

  std::vector<Issued> run(const std::vector<Issued>& items) {
    result_.reserve(items.size());
    for (Issued item : items) {
      if (deferred_.empty() ? blocks(item) : held(item)) {
        deferred_.push_back(item);
        block(item);
      } else if (emit(item)) {
        release();
      }
    }
    // A cycle, or a write that never came: nothing of this ran to its end.
    result_.insert(result_.end(), deferred_.begin(), deferred_.end());
    return std::move(result_);
  }

 private:
  bool blocks(Issued item) const {
    if (item.kind() != Issued::kOp) return false;
    const auto found = writers_.find(item.id());
    return found != writers_.end() && !awaited_.at(found->second);
  }
  bool is_blocked(size_t chain) const { return chain < blocked_.size() && blocked_[chain]; }
  size_t thread_chain(Id thread) const {
    return thread < trace_.thread.size() ? trace_.stream.size() + thread : blocked_.size();
  }
  // A stream is held by itself and, through the legacy rule, by others of its context.
  bool stream_held(Id stream) const {
    if (stream >= trace_.stream.size()) return false;
    if (blocked_[stream]) return true;
    const auto kind = trace_.stream.kind[stream];
    const auto joins = [](trace::Small k) {
      return k == trace::kBlockingStream || k == trace::kPerThreadStream;
    };
    if (kind != trace::kLegacyStream && !joins(kind)) return false;
    for (Id other = 0; other < trace_.stream.size(); ++other) {
      const auto other_kind = trace_.stream.kind[other];
      if (blocked_[other] && trace_.stream.context_id[other] == trace_.stream.context_id[stream] &&
          (kind == trace::kLegacyStream ? joins(other_kind) : other_kind == trace::kLegacyStream)) {
        return true;
      }
    }
    return false;
  }
  bool held(Issued item) const {
    const Id id = item.id();
    switch (item.kind()) {
      case Issued::kOp:
        return blocks(item) || is_blocked(thread_chain(order_.issue(id).thread_id)) ||
               stream_held(order_.stream(id));
      case Issued::kRecord:
        return is_blocked(thread_chain(trace_.event_record.thread_id[id])) ||
               stream_held(trace_.event_record.stream_id[id]);
      case Issued::kWait:
        return is_blocked(thread_chain(trace_.event_wait.thread_id[id])) ||
               stream_held(trace_.event_wait.stream_id[id]) ||
               late_records_.contains(trace_.event_wait.record_id[id]);
      case Issued::kMemory:
        return is_blocked(thread_chain(trace_.api_call.thread_id[id])) ||
               stream_held(trace_.api_call.stream_id[id]);
      case Issued::kSync: {
        if (is_blocked(thread_chain(trace_.host_sync.thread_id[id]))) return true;
        if (trace_.host_sync.kind[id] == trace::kDeviceSynchronize) {
          for (Id stream = 0; stream < trace_.stream.size(); ++stream) {
            if (blocked_[stream] &&
                trace_.stream.context_id[stream] == trace_.host_sync.context_id[id]) {
              return true;
            }
          }
          return false;
        }
        // Of the legacy stream the blocking ones count, too; of a blocking stream only its own
        // work.
        const Id stream = trace_.host_sync.stream_id[id];
        const bool legacy =
            stream < trace_.stream.size() && trace_.stream.kind[stream] == trace::kLegacyStream;
        return (legacy ? stream_held(stream) : is_blocked(stream)) ||
               late_records_.contains(trace_.host_sync.record_id[id]);
      }
    }
    return false;
  }
  void block(Issued item) {
    const Id id = item.id();
    Id stream = kNoId;
    if (item.kind() == Issued::kOp) stream = order_.stream(id);
    if (item.kind() == Issued::kWait) stream = trace_.event_wait.stream_id[id];
    if (item.kind() == Issued::kMemory) stream = trace_.api_call.stream_id[id];
    if (item.kind() == Issued::kRecord) {
      stream = trace_.event_record.stream_id[id];
      late_records_.insert(id);
    }
    const size_t chain =
        item.kind() == Issued::kSync ? thread_chain(trace_.host_sync.thread_id[id]) : stream;
    if (chain < blocked_.size()) blocked_[chain] = true;
  }
  // True if somebody may have waited for it.
  bool emit(Issued item) {
    result_.push_back(item);
    if (item.kind() != Issued::kOp) return false;
    const auto found = awaited_.find(item.id());
    if (found == awaited_.end()) return false;
    found->second = true;
    return !deferred_.empty();
  }
  void release() {
    for (bool again = true; again && !deferred_.empty();) {
      again = false;
      std::vector<Issued> tried;
      tried.swap(deferred_);
      std::fill(blocked_.begin(), blocked_.end(), false);
      late_records_.clear();
      for (Issued item : tried) {
        if (item.kind() == Issued::kRecord) late_records_.insert(item.id());
      }
      for (Issued item : tried) {
        if (held(item)) {
          deferred_.push_back(item);
          block(item);
          continue;
        }
        if (item.kind() == Issued::kRecord) late_records_.erase(item.id());
        result_.push_back(item);
        if (item.kind() != Issued::kOp) continue;
        const auto found = awaited_.find(item.id());
        if (found != awaited_.end()) again = found->second = true;
      }
    }
  }

  const Trace& trace_;
  const IssueOrder& order_;
  const std::unordered_map<Id, Id>& writers_;
  std::unordered_map<Id, bool> awaited_;  // write -> emitted
  std::unordered_set<Id> late_records_;   // records among the deferred
  std::vector<bool> blocked_;             // per stream, then per thread
  std::vector<Issued> deferred_, result_;
};

}  // namespace

bool can_satisfy(Int written, Int awaited) {
  return written != trace::kNoInt && (written >= awaited || (written & awaited) != 0);
}

Issue IssueOrder::issue_of_copy(Id op) const {
  const Id sync = copy_sync(op);
  return {trace_.host_sync.start_ns[sync], trace_.host_sync.end_ns[sync],
          trace_.host_sync.thread_id[sync]};
}

Id IssueOrder::stream_of_launch(Id node) const {
  const Id call = trace_.op.api_call_id[node];
  const Id stream = call < trace_.api_call.size() ? trace_.api_call.stream_id[call] : kNoId;
  return stream < trace_.stream.size() ? stream : trace_.op.stream_id[node];
}

IssueOrder::IssueOrder(const Trace& trace) : trace_(trace), copy_syncs_(find_copy_syncs(trace)) {
  const auto& records = trace.event_record;
  const auto& waits = trace.event_wait;
  const auto& syncs = trace.host_sync;
  const size_t streams = trace.stream.size();

  const std::vector<Id> ops = ops_in_order(*this, copy_syncs_);
  writers_ = find_writers(trace, *this, ops);

  const auto on_stream = [&](Id stream) { return stream < streams || stream == kNoId; };
  const std::vector<Id> record_rows = rows_by_call(
      records.size(),
      [&](Id id) {
        const bool captured = records.flags[id] != trace::kNoSmall &&
                              (records.flags[id] & trace::kCapturedRecord) != 0;
        return on_stream(records.stream_id[id]) && records.end_ns[id] != kUnknownNs &&
               succeeded(records.result[id]) && !captured;
      },
      records.end_ns, records.correlation_id);
  const std::vector<Id> wait_rows = rows_by_call(
      waits.size(),
      [&](Id id) {
        return on_stream(waits.stream_id[id]) && waits.end_ns[id] != kUnknownNs &&
               succeeded(waits.result[id]) &&
               (waits.binding[id] == trace::kBindingExact ||
                waits.binding[id] == trace::kAmbiguous);
      },
      waits.end_ns, waits.correlation_id);
  const auto& calls = trace.api_call;
  const std::vector<Id> memory_rows = rows_by_call(
      calls.size(),
      [&](Id id) {
        return (calls.kind[id] == kMallocAsyncCall || calls.kind[id] == kFreeAsyncCall) &&
               calls.stream_id[id] < streams && calls.end_ns[id] != kUnknownNs &&
               succeeded(calls.result[id]);
      },
      calls.end_ns, calls.correlation_id);
  // What a sync waits for is settled when it is called; its thread issues nothing before it
  // returns. One that never returned proves nothing.
  const std::vector<Id> sync_rows = rows_by_call(
      syncs.size(),
      [&](Id id) {
        return syncs.start_ns[id] != kUnknownNs && syncs.end_ns[id] != kUnknownNs &&
               syncs.thread_id[id] < trace.thread.size() && succeeded(syncs.result[id]) &&
               syncs.kind[id] != trace::kSynchronousCopy;
      },
      syncs.start_ns, syncs.correlation_id);

  std::vector<bool> has_items(streams);
  const auto find_streams = [&](const std::vector<Id>& rows, auto stream_of) {
    for (const Id row : rows) {
      if (const Id stream = stream_of(row); stream < streams) has_items[stream] = true;
    }
  };
  find_streams(ops, [&](Id op) { return stream(op); });
  find_streams(record_rows, [&](Id id) { return records.stream_id[id]; });
  find_streams(wait_rows, [&](Id id) { return waits.stream_id[id]; });
  find_streams(memory_rows, [&](Id id) { return calls.stream_id[id]; });
  for (Id id = 0; id < streams; ++id) {
    if (has_items[id]) streams_.push_back(id);
  }

  // The next row of a table.
  struct Head {
    Issued::Kind kind;
    std::span<const Id> rows;
    Ns at_ns = 0;
  };
  const auto at_ns = [&](Issued::Kind kind, Id id) {
    switch (kind) {
      case Issued::kOp:
        return issue(id).end_ns;
      case Issued::kRecord:
        return records.end_ns[id];
      case Issued::kWait:
        return waits.end_ns[id];
      case Issued::kMemory:
        return calls.end_ns[id];
      default:
        return syncs.start_ns[id];
    }
  };
  const auto correlation = [&](const Head& head) {
    const Id id = head.rows.front();
    switch (head.kind) {
      case Issued::kOp: {
        const Id call = trace.op.api_call_id[id];
        return call < calls.size() ? calls.correlation_id[call] : trace.op.correlation_id[id];
      }
      case Issued::kRecord:
        return records.correlation_id[id];
      case Issued::kWait:
        return waits.correlation_id[id];
      case Issued::kMemory:
        return calls.correlation_id[id];
      default:
        return syncs.correlation_id[id];
    }
  };
  std::vector<Head> heads;
  size_t count = 0;
  for (Head head :
       {Head{Issued::kOp, ops}, Head{Issued::kRecord, record_rows}, Head{Issued::kWait, wait_rows},
        Head{Issued::kSync, sync_rows}, Head{Issued::kMemory, memory_rows}}) {
    if (head.rows.empty()) continue;
    count += head.rows.size();
    head.at_ns = at_ns(head.kind, head.rows.front());
    heads.push_back(head);
  }
  reserve_large(items_, count);
  while (!heads.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < heads.size(); ++i) {
      if (heads[i].at_ns < heads[best].at_ns ||
          (heads[i].at_ns == heads[best].at_ns &&
           correlation(heads[i]) < correlation(heads[best]))) {
        best = i;
      }
    }
    Head& head = heads[best];
    items_.emplace_back(head.kind, head.rows.front());
    head.rows = head.rows.subspan(1);
    if (head.rows.empty()) {
      heads.erase(heads.begin() + static_cast<ptrdiff_t>(best));
    } else {
      head.at_ns = at_ns(head.kind, head.rows.front());
    }
  }
  if (!writers_.empty()) items_ = Deferral(*this, writers_).run(items_);
}

}  // namespace streamscope::analysis
