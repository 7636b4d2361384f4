// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issue_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analysis/large_vector.h"
#include "ordering.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

using trace::Int;

bool succeeded(trace::Small result) { return result == 0 || result == trace::kNoSmall; }

// Rows by (time, call number): the latter orders calls that returned at the same instant, as
// happens on the coarse virtual clock of a simulated device.
template <class AtNs>
void sort_by_call(std::vector<Id>& rows, AtNs at_ns, const trace::Column<Int>& call_number) {
  const auto before = [&](Id a, Id b) {
    const Ns at_a = at_ns(a), at_b = at_ns(b);
    if (at_a != at_b) return at_a < at_b;
    return std::tuple(call_number[a], a) < std::tuple(call_number[b], b);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before))
    std::sort(rows.begin(), rows.end(), before);
}

// The rows of a table that a predicate accepts, by (column `at_ns`, call number).
template <class Table, class Accepts>
std::vector<Id> rows_by_call(const Table& table, const trace::Column<Ns>& at_ns, Accepts accepts) {
  std::vector<Id> rows;
  reserve_large(rows, table.size());
  for (Id row = 0; row < table.size(); ++row) {
    if (accepts(row)) rows.push_back(row);
  }
  sort_by_call(
      rows, [&](Id row) { return at_ns[row]; }, table.call_number);
  return rows;
}

// The same for calls that returned and succeeded.
template <class Table, class Accepts>
std::vector<Id> successes_by_call(const Table& calls, const trace::Column<Ns>& at_ns,
                                  Accepts accepts) {
  return rows_by_call(calls, at_ns, [&](Id id) {
    return accepts(id) && calls.end_ns[id] != kUnknownNs && succeeded(calls.result[id]);
  });
}

// Ops by call; those of one call (nodes of a graph) by start.
std::vector<Id> ops_by_call(const Trace& trace) {
  const auto& calls = trace.api_call;
  const auto& call_of = trace.op.api_call_id;
  const auto before = [&](Id a, Id b) {
    const Id call_a = call_of[a], call_b = call_of[b];
    if (call_a == call_b)
      return std::tuple(trace.op.start_ns[a], a) < std::tuple(trace.op.start_ns[b], b);
    return std::tuple(calls.end_ns[call_a], calls.call_number[call_a], call_a) <
           std::tuple(calls.end_ns[call_b], calls.call_number[call_b], call_b);
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
  // Calls are nearly in order even if ops are not.
  std::vector<Id> first = large_vector(calls.size(), kNoId), next;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    Id& of_call = first[call_of[*op]];
    if (of_call != kNoId) {
      if (next.empty()) next = large_vector(trace.op.size(), kNoId);
      next[*op] = of_call;
    }
    of_call = *op;
  }
  const std::vector<Id> by_call =
      rows_by_call(calls, calls.end_ns, [&](Id call) { return first[call] != kNoId; });
  ops.clear();
  for (Id call : by_call) {
    const auto begin = static_cast<ptrdiff_t>(ops.size());
    for (Id op = first[call]; op != kNoId; op = next.empty() ? kNoId : next[op]) ops.push_back(op);
    std::sort(ops.begin() + begin, ops.end(), before);
  }
  return ops;
}

// The calls of synchronous copies are rows of host_sync; their ops have no api_call.
std::unordered_map<Id, Id> find_copy_syncs(const Trace& trace) {
  std::map<std::pair<Id, Int>, Id> copies;
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (syncs.kind[sync] == trace::kSynchronousCopy && syncs.end_ns[sync] != kUnknownNs &&
        succeeded(syncs.result[sync])) {
      copies[{trace.process_of_thread(syncs.thread_id[sync]), syncs.call_number[sync]}] = sync;
    }
  }
  std::unordered_map<Id, Id> result;
  if (copies.empty()) return result;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id stream = trace.op.stream_id[op];
    if (trace.op.api_call_id[op] < trace.api_call.size() || stream >= trace.stream.size()) continue;
    const auto found = copies.find({trace.process_of_stream(stream), trace.op.call_number[op]});
    if (found != copies.end()) result.emplace(op, found->second);
  }
  return result;
}

// All ops, synchronous copies merged in.
std::vector<Id> ops_in_order(const IssueOrder& order,
                             const std::unordered_map<Id, Id>& copy_syncs) {
  std::vector<Id> ops = ops_by_call(order.trace());
  if (copy_syncs.empty()) return ops;
  const auto returned_ns = [&](Id op) { return order.issue(op).end_ns; };
  std::vector<Id> copies;
  copies.reserve(copy_syncs.size());
  for (const auto& [op, sync] : copy_syncs) copies.push_back(op);
  sort_by_call(copies, returned_ns, order.trace().op.call_number);
  std::vector<Id> merged;
  reserve_large(merged, ops.size() + copies.size());
  std::merge(ops.begin(), ops.end(), copies.begin(), copies.end(), std::back_inserter(merged),
             [&](Id a, Id b) { return returned_ns(a) < returned_ns(b); });
  return merged;
}

// Which write releases each memory wait.
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

// What a memory wait holds back while its write is missing: everything ordered after it.
class HeldBack : public OrderingConsumer {
 public:
  /// `missing`: memory waits whose write is missing so far.
  HeldBack(const Trace& trace, const std::unordered_set<Id>& missing)
      : trace_(trace),
        missing_(missing),
        streams_(trace.stream.size()),
        threads_(trace.thread.size()),
        barriers_(trace.context.size()) {}

  /// True if the last item of the walk is held back.
  bool item_is_held() const { return held_; }

 private:
  friend OrderingWalk<HeldBack>;
  void begin(size_t, Issued) {
    held_ = false;
    placed_.clear();
  }
  void join_legacy(Id stream, const StreamRole& role, bool) {
    hold(stream, barriers_[role.context]);
  }
  void join_blocking(Id legacy, const StreamRole&, std::span<const Id> streams) {
    hold(legacy, any_of(streams));
  }
  void join_thread(Id stream, Id thread, Ns) {
    hold(stream, thread < threads_.size() && threads_[thread]);
  }
  void join_record(Id stream, Id record, Id) { hold(stream, records_.contains(record)); }
  void place_op(Id op, Id stream, const Issue&) {
    hold(stream, missing_.contains(op));
    place(stream);
  }
  void place_launch(std::span<const Issued>, Id stream, const Issue&) { place(stream); }
  void place_record(Id record, Id stream) {
    place(stream);
    if (held_) records_.insert(record);
  }
  void place_context_record(Id record, Id, std::span<const Id> streams) {
    held_ = any_of(streams);
    if (held_) records_.insert(record);
  }
  void place_wait(Id, Id stream) { place(stream); }
  void place_memory(Id, Id stream) { place(stream); }
  void leave(Id stream, const StreamRole& role) {
    if (role.legacy) barriers_[role.context] = streams_[stream];
  }
  void teach_copy(Id thread, Id stream, Id, const Issue&) { teach(thread, streams_[stream]); }
  void teach_streams(Id thread, Id, bool, std::span<const Id> streams, Id) {
    teach(thread, any_of(streams));
  }
  void teach_stream(Id thread, Id stream, Id) { teach(thread, streams_[stream]); }
  void teach_record(Id thread, Id record, Id) { teach(thread, records_.contains(record)); }
  void end(Issued item) {
    if (item.kind() == Issued::kSync) held_ = threads_[trace_.host_sync.thread_id[item.id()]];
    if (!held_) return;
    // A context-wide wait stays one item: it holds back all its streams or none.
    for (const Id stream : placed_) streams_[stream] = true;
  }

  void hold(Id stream, bool held) { streams_[stream] = streams_[stream] || held; }
  void teach(Id thread, bool held) {
    if (thread < threads_.size() && held) threads_[thread] = true;
  }
  void place(Id stream) {
    held_ = held_ || streams_[stream];
    placed_.push_back(stream);
  }
  bool any_of(std::span<const Id> streams) const {
    return std::any_of(streams.begin(), streams.end(), [&](Id s) { return streams_[s]; });
  }

  const Trace& trace_;
  const std::unordered_set<Id>& missing_;
  std::vector<bool> streams_, threads_;  // behind something that is held back
  std::vector<bool> barriers_;           // per context: the last item of its legacy stream
  std::unordered_set<Id> records_;
  std::vector<Id> placed_;
  bool held_ = false;
};

// Moves what a memory wait holds back behind the write it waits for.
class Deferral {
 public:
  Deferral(const IssueOrder& order, const std::unordered_map<Id, Id>& writers) : order_(order) {
    for (const auto& [wait, write] : writers) {
      missing_.insert(wait);
      waits_[write].push_back(wait);
    }
  }

  std::vector<Issued> run(std::span<const Issued> items) {
    result_.reserve(items.size());
    each_launch(order_, items, [&](size_t, std::span<const Issued> launch) { add(launch); });
    // A cycle, or a write that was never issued: none of this finished.
    result_.insert(result_.end(), deferred_.begin(), deferred_.end());
    return std::move(result_);
  }

 private:
  void add(std::span<const Issued> items) {
    const Issued first = items.front();
    if (deferred_.empty()) {
      if (first.kind() != Issued::kOp || !missing_.contains(first.id())) {
        emit(items);
        return;
      }
      restart();
    }
    if (pass(items)) release();
  }
  void restart() {
    held_ = std::make_unique<HeldBack>(order_.trace(), missing_);
    walk_ = std::make_unique<OrderingWalk<HeldBack>>(order_, *held_);
  }
  // Emits or defers it. True if a memory wait may have waited for it.
  bool pass(std::span<const Issued> items) {
    walk_->item(0, items);
    if (!held_->item_is_held()) return emit(items);
    deferred_.insert(deferred_.end(), items.begin(), items.end());
    return false;
  }
  bool emit(std::span<const Issued> items) {
    result_.insert(result_.end(), items.begin(), items.end());
    bool came = false;
    for (const Issued item : items) {
      if (item.kind() != Issued::kOp) continue;
      const auto waits = waits_.find(item.id());
      if (waits == waits_.end()) continue;
      for (const Id wait : waits->second) missing_.erase(wait);
      came = true;
    }
    return came;
  }
  void release() {
    for (bool again = true; again && !deferred_.empty();) {
      again = false;
      const std::vector<Issued> tried = std::exchange(deferred_, {});
      restart();
      each_launch(order_, tried,
                  [&](size_t, std::span<const Issued> launch) { again |= pass(launch); });
    }
  }

  const IssueOrder& order_;
  std::unordered_set<Id> missing_;                 // memory waits whose write is missing so far
  std::unordered_map<Id, std::vector<Id>> waits_;  // write -> memory waits
  std::unique_ptr<HeldBack> held_;                 // what the deferred items hold back
  std::unique_ptr<OrderingWalk<HeldBack>> walk_;
  std::vector<Issued> deferred_, result_;
};

bool on_stream(const Trace& trace, Id stream) {
  return stream < trace.stream.size() || stream == kNoId;
}

std::vector<Id> records_in_order(const Trace& trace) {
  const auto& records = trace.event_record;
  return successes_by_call(records, records.end_ns, [&](Id id) {
    const bool captured =
        records.flags[id] != trace::kNoSmall && (records.flags[id] & trace::kCapturedRecord) != 0;
    return on_stream(trace, records.stream_id[id]) && !captured;
  });
}

std::vector<Id> waits_in_order(const Trace& trace) {
  const auto& waits = trace.event_wait;
  return successes_by_call(waits, waits.end_ns, [&](Id id) {
    return on_stream(trace, waits.stream_id[id]) &&
           (waits.binding[id] == trace::kBindingExact || waits.binding[id] == trace::kAmbiguous);
  });
}

// Calls that allocate or release stream-ordered memory.
std::vector<Id> memory_calls_in_order(const Trace& trace) {
  const auto& calls = trace.api_call;
  return successes_by_call(calls, calls.end_ns, [&](Id id) {
    return (calls.kind[id] == CallKind::kMallocAsync || calls.kind[id] == CallKind::kFreeAsync) &&
           calls.stream_id[id] < trace.stream.size();
  });
}

// What a sync waits for is fixed when it is called; its thread issues nothing before it returns. A
// sync that never returned proves nothing.
std::vector<Id> syncs_in_order(const Trace& trace) {
  const auto& syncs = trace.host_sync;
  return successes_by_call(syncs, syncs.start_ns, [&](Id id) {
    return syncs.start_ns[id] != kUnknownNs && syncs.thread_id[id] < trace.thread.size() &&
           syncs.kind[id] != trace::kSynchronousCopy;
  });
}

// Merges the rows of several tables, each in call order, into one call order.
class CallMerge {
 public:
  struct Rows {
    Issued::Kind kind;
    std::span<const Id> rows;  // remaining rows
    // The columns that order them; null for ops, which are ordered by their calls.
    const trace::Column<Ns>* times = nullptr;
    const trace::Column<Int>* call_numbers = nullptr;
    Ns at_ns = 0;  // of the next one
  };

  explicit CallMerge(const IssueOrder& order) : order_(order), trace_(order.trace()) {}

  std::vector<Issued> run(std::vector<Rows> tables) {
    std::erase_if(tables, [](const Rows& table) { return table.rows.empty(); });
    size_t count = 0;
    for (Rows& table : tables) {
      count += table.rows.size();
      table.at_ns = at_ns(table);
    }
    std::vector<Issued> items;
    reserve_large(items, count);
    while (!tables.empty()) {
      size_t next = 0;
      for (size_t i = 1; i < tables.size(); ++i) {
        if (comes_before(tables[i], tables[next])) next = i;
      }
      Rows& table = tables[next];
      items.emplace_back(table.kind, table.rows.front());
      table.rows = table.rows.subspan(1);
      if (table.rows.empty()) {
        tables.erase(tables.begin() + static_cast<ptrdiff_t>(next));
      } else {
        table.at_ns = at_ns(table);
      }
    }
    return items;
  }

 private:
  bool comes_before(const Rows& a, const Rows& b) const {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : call_number(a) < call_number(b);
  }
  Ns at_ns(const Rows& table) const {
    const Id id = table.rows.front();
    return table.times != nullptr ? (*table.times)[id] : order_.issue(id).end_ns;
  }
  Int call_number(const Rows& table) const {
    const Id id = table.rows.front();
    if (table.call_numbers != nullptr) return (*table.call_numbers)[id];
    const auto& calls = trace_.api_call;
    const Id call = trace_.op.api_call_id[id];
    return call < calls.size() ? calls.call_number[call] : trace_.op.call_number[id];
  }

  const IssueOrder& order_;
  const Trace& trace_;
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
  const std::vector<Id> ops = ops_in_order(*this, copy_syncs_);
  writers_ = find_writers(trace, *this, ops);
  const std::vector<Id> records = records_in_order(trace), waits = waits_in_order(trace),
                        memory = memory_calls_in_order(trace), syncs = syncs_in_order(trace);

  const size_t streams = trace.stream.size();
  std::vector<uint8_t> has_items(streams);  // not bits: written once per item
  const auto find_streams = [&](const std::vector<Id>& rows, auto stream_of) {
    for (const Id row : rows) {
      if (const Id stream = stream_of(row); stream < streams) has_items[stream] = 1;
    }
  };
  find_streams(ops, [&](Id op) { return stream(op); });
  find_streams(records, [&](Id id) { return trace.event_record.stream_id[id]; });
  find_streams(waits, [&](Id id) { return trace.event_wait.stream_id[id]; });
  find_streams(memory, [&](Id id) { return trace.api_call.stream_id[id]; });
  for (Id id = 0; id < streams; ++id) {
    if (has_items[id]) streams_.push_back(id);
  }

  items_ = CallMerge(*this).run(
      {{Issued::kOp, ops},
       {Issued::kRecord, records, &trace.event_record.end_ns, &trace.event_record.call_number},
       {Issued::kWait, waits, &trace.event_wait.end_ns, &trace.event_wait.call_number},
       {Issued::kSync, syncs, &trace.host_sync.start_ns, &trace.host_sync.call_number},
       {Issued::kMemory, memory, &trace.api_call.end_ns, &trace.api_call.call_number}});
  if (!writers_.empty()) items_ = Deferral(*this, writers_).run(items_);
}

}  // namespace streamscope::analysis
