// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issue_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_set>

namespace streamscope::analysis {
namespace {

using trace::Int;

struct Entry {
  Ns at_ns;
  Id id;
};

bool succeeded(trace::Small result) { return result == 0 || result == trace::kNoSmall; }

// By (time, correlation id): the latter decides between calls that returned at the same instant, as
// happens on the coarse virtual clock of a simulated device.
void sort_by_call(std::vector<Entry>& entries, const std::vector<Int>& correlation) {
  const auto before = [&](const Entry& a, const Entry& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return std::tie(correlation[a.id], a.id) < std::tie(correlation[b.id], b.id);
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before))
    std::sort(entries.begin(), entries.end(), before);
}

// Ops by call, and those of one call (nodes of a graph) by start.
std::vector<Entry> ops_in_order(const Trace& trace, const std::unordered_map<Id, Id>& copy_syncs) {
  const auto& calls = trace.api_call;
  std::vector<Id> first(calls.size(), kNoId), next;
  size_t count = 0;
  for (Id op = static_cast<Id>(trace.op.size()); op-- > 0;) {
    const Id call = trace.op.api_call_id[op];
    if (call >= calls.size() || trace.op.stream_id[op] >= trace.stream.size()) continue;
    if (first[call] != kNoId) {
      if (next.empty()) next.assign(trace.op.size(), kNoId);
      next[op] = first[call];
    }
    first[call] = op;
    ++count;
  }
  std::vector<Entry> by_call;
  by_call.reserve(count);
  for (Id call = 0; call < calls.size(); ++call) {
    if (first[call] != kNoId && calls.end_ns[call] != kUnknownNs)
      by_call.push_back({calls.end_ns[call], call});
  }
  sort_by_call(by_call, calls.correlation_id);
  std::vector<Entry> ops;
  if (next.empty()) {
    for (Entry& entry : by_call) entry.id = first[entry.id];
    ops = std::move(by_call);
  } else {
    ops.reserve(count);
    for (const Entry& entry : by_call) {
      const size_t begin = ops.size();
      for (Id op = first[entry.id]; op != kNoId; op = next[op]) ops.push_back({entry.at_ns, op});
      std::sort(ops.begin() + static_cast<ptrdiff_t>(begin), ops.end(),
                [&](const Entry& a, const Entry& b) {
                  return std::tie(trace.op.start_ns[a.id], a.id) <
                         std::tie(trace.op.start_ns[b.id], b.id);
                });
    }
  }
  if (copy_syncs.empty()) return ops;
  std::vector<Entry> copies;
  for (const auto& [op, sync] : copy_syncs) copies.push_back({trace.host_sync.end_ns[sync], op});
  sort_by_call(copies, trace.op.correlation_id);
  std::vector<Entry> merged;
  merged.reserve(ops.size() + copies.size());
  std::merge(ops.begin(), ops.end(), copies.begin(), copies.end(), std::back_inserter(merged),
             [](const Entry& a, const Entry& b) { return a.at_ns < b.at_ns; });
  return merged;
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

// Which write lets each memory wait go on.
std::unordered_map<Id, Id> find_writers(const Trace& trace, const IssueOrder& order,
                                        const std::vector<Entry>& ops) {
  struct Write {
    Int value;
    Id op, stream;
  };
  std::map<std::pair<Id, Int>, std::vector<Write>> writes;  // by process and address
  const auto key = [&](Id op, Id call) {
    return std::pair(trace.process_of_stream(trace.op.stream_id[op]), trace.api_call.object[call]);
  };
  bool waits = false;
  for (const auto& [at_ns, op] : ops) {
    const Id call = trace.op.api_call_id[op];
    waits |= trace.op.kind[op] == trace::kMemoryWait;
    if (trace.op.kind[op] == trace::kMemoryWrite && call < trace.api_call.size())
      writes[key(op, call)].push_back({trace.api_call.value[call], op, order.stream(op)});
  }
  std::unordered_map<Id, Id> result;
  if (!waits || writes.empty()) return result;
  for (const auto& [at_ns, op] : ops) {
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

  std::vector<Entry> ops = ops_in_order(trace, copy_syncs_);
  writers_ = find_writers(trace, *this, ops);

  std::vector<Entry> record_rows;
  record_rows.reserve(records.size());
  for (Id id = 0; id < records.size(); ++id) {
    const bool captured =
        records.flags[id] != trace::kNoSmall && (records.flags[id] & trace::kCapturedRecord) != 0;
    if ((records.stream_id[id] < streams || records.stream_id[id] == kNoId) &&
        records.end_ns[id] != kUnknownNs && succeeded(records.result[id]) && !captured) {
      record_rows.push_back({records.end_ns[id], id});
    }
  }
  sort_by_call(record_rows, records.correlation_id);

  std::vector<Entry> wait_rows;
  wait_rows.reserve(waits.size());
  for (Id id = 0; id < waits.size(); ++id) {
    if ((waits.stream_id[id] < streams || waits.stream_id[id] == kNoId) &&
        waits.end_ns[id] != kUnknownNs && succeeded(waits.result[id]) &&
        (waits.binding[id] == trace::kBindingExact || waits.binding[id] == trace::kAmbiguous)) {
      wait_rows.push_back({waits.end_ns[id], id});
    }
  }
  sort_by_call(wait_rows, waits.correlation_id);

  const auto& calls = trace.api_call;
  std::vector<Entry> memory_rows;
  for (Id id = 0; id < calls.size(); ++id) {
    if ((calls.kind[id] == kMallocAsyncCall || calls.kind[id] == kFreeAsyncCall) &&
        calls.stream_id[id] < streams && calls.end_ns[id] != kUnknownNs &&
        succeeded(calls.result[id])) {
      memory_rows.push_back({calls.end_ns[id], id});
    }
  }
  sort_by_call(memory_rows, calls.correlation_id);

  // What a sync waits for is settled when it is called; its thread issues nothing before it
  // returns. One that never returned proves nothing.
  std::vector<Entry> sync_rows;
  sync_rows.reserve(syncs.size());
  for (Id id = 0; id < syncs.size(); ++id) {
    if (syncs.start_ns[id] != kUnknownNs && syncs.end_ns[id] != kUnknownNs &&
        syncs.thread_id[id] < trace.thread.size() && succeeded(syncs.result[id]) &&
        syncs.kind[id] != trace::kSynchronousCopy) {
      sync_rows.push_back({syncs.start_ns[id], id});
    }
  }
  sort_by_call(sync_rows, syncs.correlation_id);

  struct Source {
    Issued::Kind kind;
    const std::vector<Entry>* entries;
    size_t next = 0;
  };
  Source sources[] = {{Issued::kOp, &ops},
                      {Issued::kRecord, &record_rows},
                      {Issued::kWait, &wait_rows},
                      {Issued::kSync, &sync_rows},
                      {Issued::kMemory, &memory_rows}};
  const auto correlation = [&](Issued::Kind kind, Id id) {
    switch (kind) {
      case Issued::kOp: {
        const Id call = trace.op.api_call_id[id];
        return call < trace.api_call.size() ? trace.api_call.correlation_id[call]
                                            : trace.op.correlation_id[id];
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
  items_.reserve(ops.size() + record_rows.size() + wait_rows.size() + sync_rows.size() +
                 memory_rows.size());
  for (;;) {
    Source* best = nullptr;
    Ns best_at = std::numeric_limits<Ns>::max();
    for (Source& source : sources) {
      if (source.next == source.entries->size()) continue;
      const Entry& entry = (*source.entries)[source.next];
      if (best && entry.at_ns > best_at) continue;
      if (best && entry.at_ns == best_at &&
          correlation(source.kind, entry.id) >=
              correlation(best->kind, (*best->entries)[best->next].id)) {
        continue;
      }
      best = &source;
      best_at = entry.at_ns;
    }
    if (!best) break;
    items_.emplace_back(best->kind, (*best->entries)[best->next++].id);
  }
  if (!writers_.empty()) items_ = Deferral(*this, writers_).run(items_);
}

}  // namespace streamscope::analysis
