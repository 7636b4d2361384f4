// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds what was pending when a process ended, and what each item waited for.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "analysis/order/ordering.h"
#include "analysis/usage/host_syncs.h"
#include "hang_snapshot.h"
#include "trace/checks.h"
#include "vocabulary/call_kind.h"
#include "wait_for.h"

namespace streamscope::analysis {
namespace {

// A call on a GPU that has waited for less may still return. Few programs wait longer for one
// thing, and users wait longer before they end a program.
constexpr Ns kPatienceNs = 1'000'000'000;
constexpr Ns kSeenPatienceNs = 100'000'000;  // if the process was sampled during a hang

}  // namespace

bool waits_for_device(const Trace& trace, Id call) {
  const trace::Small kind = trace.api_call.kind[call];
  const std::string_view name = trace.text(trace.api_call.name_id[call]);
  return kind == CallKind::kFree || kind == CallKind::kModuleLoad || name.ends_with("SetLimit");
}

// A stream or a record keeps the newest node that has not ended. Work that a thread knows has ended
// is not in the graph.
class WaitFor::Builder : public OrderingConsumer {
 public:
  Builder(WaitFor& graph, const IssueOrder& order, const HappensBefore& before)
      : graph_(graph),
        order_(order),
        trace_(order.trace()),
        before_(before),
        snapshots_(hang_snapshots(trace_)),
        in_scope_(trace_.process.size()),
        streams_(trace_.stream.size()),
        barriers_(trace_.context.size(), kNone),
        record_node_(trace_.event_record.size(), kNone) {}

  void run() {
    find_blocked();
    if (std::find(in_scope_.begin(), in_scope_.end(), true) == in_scope_.end()) return;
    find_pending();
    graph_.covered_ = in_scope_;
    OrderingWalk(order_, *this).run();
    link_calls();
    link_threads();
    link_memory();
    for (const Stream& stream : streams_) {
      if (stream.seen_still && stream.last != kNone) graph_.tails_.push_back(stream.last);
    }
    std::erase_if(graph_.blocked_, [&](const Blocked& blocked) {
      const Id process = trace_.process_of_thread(blocked.thread);
      return !blocked.proved &&
             blocked.held_ns < (snapshots_[process].known() ? kSeenPatienceNs : kPatienceNs);
    });
  }

 private:
  friend OrderingWalk<Builder>;

  struct Call {
    Kind kind;
    Id id, thread, process;
    Ns start_ns;
    bool proved;
  };
  struct Stream {
    bool in_scope = false;
    bool seen_still = false;  // its process was sampled during a hang
    size_t ended = 0;         // items of the order before this one are known to have ended
    Index last = kNone;
    std::vector<std::pair<Ns, Index>> pending;  // by return of their calls
  };
  struct Write {
    trace::Int value;
    Index node;  // kNone if it has ended
    Id thread;
  };
  using Address = std::pair<Id, trace::Int>;  // process and address

  void find_blocked() {
    constexpr trace::Small kCodeUnknown = 999;  // the simulated device's result of a hopeless wait
    const auto add_call = [&](Kind kind, Id id, Id thread, Ns start, bool proved) {
      const Id process = trace_.process_of_thread(thread);
      if (process >= in_scope_.size() || start == kUnknownNs) return;
      in_scope_[process] = true;
      calls_.push_back({kind, id, thread, process, start, proved});
    };
    const auto& syncs = trace_.host_sync;
    for (Id sync = 0; sync < syncs.size(); ++sync) {
      const Id process = trace_.process_of_thread(syncs.thread_id[sync]);
      const bool simulated =
          process < trace_.process.size() && trace_.process.clock[process] == trace::kVirtualClock;
      const bool hopeless =
          simulated && !is_query(syncs.kind[sync]) && syncs.result[sync] == kCodeUnknown;
      if (syncs.end_ns[sync] == kUnknownNs || hopeless)
        add_call(Kind::kSync, sync, syncs.thread_id[sync], syncs.start_ns[sync], hopeless);
    }
    const auto& calls = trace_.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      if (calls.end_ns[call] == kUnknownNs)
        add_call(Kind::kCall, call, calls.thread_id[call], calls.start_ns[call], false);
    }
    for (Id process = 0; process < in_scope_.size(); ++process) {
      // Pending work of a simulated device is no sign of a hang.
      if (trace_.process.clock[process] == trace::kVirtualClock) snapshots_[process] = {};
      if (snapshots_[process].known()) in_scope_[process] = true;
    }
    find_polls();
  }

  // A thread whose last query before the sample was recent and found "not ready" is still polling.
  void find_polls() {
    constexpr Ns kRecentNs = 2'000'000'000;
    const auto& syncs = trace_.host_sync;
    std::map<Id, Id> last;  // by thread
    for (Id sync = 0; sync < syncs.size(); ++sync) {
      const Id process = trace_.process_of_thread(syncs.thread_id[sync]);
      if (process < snapshots_.size() && snapshots_[process].known())
        last[syncs.thread_id[sync]] = sync;
    }
    for (const auto& [thread, sync] : last) {
      const Id process = trace_.process_of_thread(thread);
      if (syncs.result[sync] != trace::kResultNotReady ||
          snapshots_[process].at_ns - syncs.end_ns[sync] > kRecentNs)
        continue;
      // It has polled since the first of the consecutive "not ready" queries.
      Ns since = syncs.start_ns[sync];
      for (Id earlier = sync; earlier-- > 0;) {
        if (syncs.thread_id[earlier] != thread) continue;
        if (syncs.result[earlier] != trace::kResultNotReady) break;
        since = syncs.start_ns[earlier];
      }
      calls_.push_back({Kind::kSync, sync, thread, process, since, false});
    }
  }

  // What has ended, per stream: ops with an end, and everything that these or the host's
  // synchronizations prove. Work before something that has ended has ended: one boundary is enough.
  void find_pending() {
    struct Op {
      Id id;
      size_t next_place;  // of the item after it
    };
    std::vector<std::vector<Op>> ops(streams_.size());  // in order of issue
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      const Id process = trace_.process_of_stream(stream);
      if (process >= in_scope_.size() || !in_scope_[process]) continue;
      streams_[stream].in_scope = true;
      streams_[stream].seen_still = snapshots_[process].known();
    }
    std::vector<size_t> record_places(trace_.event_record.size(), 0);
    const auto items = order_.items();
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind() == Issued::kRecord) record_places[items[i].id()] = i + 1;
      if (items[i].kind() != Issued::kOp) continue;
      const Id stream = order_.stream(items[i].id());
      if (!streams_[stream].in_scope) continue;
      ops[stream].push_back({items[i].id(), i + 1});
    }
    std::vector<Id> ended;  // the last op with an end of each stream
    std::vector<size_t> first_open(streams_.size(), 0);
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      for (size_t i = ops[stream].size(); i-- > 0;) {
        if (trace_.op.end_ns[ops[stream][i].id] == kUnknownNs) continue;
        ended.push_back(ops[stream][i].id);
        first_open[stream] = i + 1;
        break;
      }
    }
    const auto has_ended = [&](Id op) {
      for (const Id later : ended) {
        if (before_.ordered(op, later)) return true;
      }
      const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
      for (Id thread = 0; thread < trace_.thread.size(); ++thread) {
        if (trace_.thread.process_id[thread] == process &&
            before_.known_to_thread(op, thread, std::numeric_limits<Ns>::max())) {
          return true;
        }
      }
      return false;
    };
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      const auto begin = ops[stream].begin();
      const auto open =
          std::ranges::partition_point(begin + static_cast<ptrdiff_t>(first_open[stream]),
                                       ops[stream].end(), has_ended, &Op::id);
      if (open != begin) streams_[stream].ended = std::prev(open)->next_place;
    }
    apply_probes(record_places);
  }

  // Results of the probes in the process itself.
  void apply_probes(const std::vector<size_t>& record_places) {
    for (const HangSnapshot& snapshot : snapshots_) {
      for (const Id probe : snapshot.probes) {
        const Id stream = trace_.probe.stream_id[probe], record = trace_.probe.record_id[probe];
        if (trace_.probe.kind[probe] == trace::kWordProbe &&
            trace_.probe.value[probe] != trace::kNoInt)
          words_[{trace_.probe.process_id[probe], trace_.probe.address[probe]}] =
              trace_.probe.value[probe];
        if (stream >= streams_.size() || trace_.probe.result[probe] != 0) continue;
        size_t& ended = streams_[stream].ended;
        if (trace_.probe.kind[probe] == trace::kStreamProbe) ended = order_.items().size();
        if (trace_.probe.kind[probe] == trace::kEventProbe && record < record_places.size())
          ended = std::max(ended, record_places[record]);
      }
    }
  }

  // The node of the current item in a stream, linked to what it waits for; kNone if it has ended.
  WaitFor::Index place(Kind kind, Id id, Id stream, Ns at) {
    Stream& state = streams_[stream];
    Index node = kNone;
    if (state.in_scope && place_ >= state.ended) {
      node = add(kind, id, stream);
      link(node, state.last, Why::kStreamOrder);
      for (const Link& joined : joined_) link(node, joined.to, joined.why);
      state.last = node;
      state.pending.push_back({at, node});
    }
    joined_.clear();
    return node;
  }

  void place_op(Id op, Id stream, const Issue& issue) {
    const Index node = place(Kind::kOp, op, stream, issue.end_ns);
    const trace::Small kind = trace_.op.kind[op];
    const Id call = trace_.op.api_call_id[op];
    if (!streams_[stream].in_scope || call >= trace_.api_call.size()) return;
    const Address address{trace_.process_of_stream(stream), trace_.api_call.object[call]};
    if (kind == trace::kMemoryWrite)
      writes_[address].push_back(
          {trace_.api_call.value[call], node, trace_.api_call.thread_id[call]});
    // The addresses in batches of memory operations are not known: batches are ignored.
    if (kind == trace::kMemoryWait && node != kNone && address.second != trace::kNoInt &&
        trace_.api_call.value[call] != trace::kNoInt) {
      memory_waits_.push_back({node, address});
    }
  }

  // It is in no stream, so only waits for its event wait for it.
  void place_context_record(Id record, Id, std::span<const Id> streams) {
    for (const Id stream : streams) {
      const Index last = streams_[stream].last;
      if (last == kNone) continue;
      if (record_node_[record] == kNone) record_node_[record] = add(Kind::kRecord, record, kNoId);
      link(record_node_[record], last, Why::kStreamOrder);
    }
  }

  // Links each call to what was pending when it began.
  void link_calls() {
    const auto last_before = [&](Id stream, Ns at) {
      const auto& pending = streams_[stream].pending;
      const auto next = std::ranges::upper_bound(pending, at, {}, &std::pair<Ns, Index>::first);
      return next == pending.begin() ? kNone : std::prev(next)->second;
    };
    for (const Call& call : calls_) {
      const Index node = add(call.kind, call.id, kNoId);
      const auto wait_for = [&](Id stream, Why why) {
        if (stream < streams_.size() && streams_[stream].in_scope)
          link(node, last_before(stream, call.start_ns), why);
      };
      const auto wait_for_streams = [&](Why why, auto counts) {
        for (Id stream = 0; stream < streams_.size(); ++stream) {
          if (counts(stream)) wait_for(stream, why);
        }
      };
      const auto wait_for_stream = [&](Id stream, bool is_item) {
        wait_for(stream, Why::kSynchronize);
        if (stream >= streams_.size()) return;
        const StreamRole own = role_of(trace_, stream);
        wait_for_streams(Why::kLegacyStream, [&](Id other) {
          const StreamRole role = role_of(trace_, other);
          return role.context == own.context &&
                 ((own.legacy && role.blocking) || (own.blocking && role.legacy && is_item));
        });
      };
      const auto wait_for_process = [&](Why why) {
        wait_for_streams(
            why, [&](Id stream) { return trace_.process_of_stream(stream) == call.process; });
      };
      if (call.kind == Kind::kCall) {
        if (waits_for_device(trace_, call.id)) {
          wait_for_process(Why::kDevice);
        } else if (!snapshots_[call.process].known()) {
          wait_for_stream(trace_.api_call.stream_id[call.id], false);
        }
      } else {
        const Awaited awaited = awaited_by(trace_, call.id);
        switch (awaited.what) {
          case Awaited::What::kNothing:
            if (trace_.host_sync.kind[call.id] == trace::kDeviceSynchronize)
              wait_for_process(Why::kSynchronize);  // of a context that is not known
            break;
          case Awaited::What::kContext:
            wait_for_streams(Why::kSynchronize, [&](Id stream) {
              return trace_.stream.context_id[stream] == awaited.id;
            });
            break;
          case Awaited::What::kStream:
            // A copy is an item of its stream; a synchronization is not.
            wait_for_stream(awaited.id, trace_.host_sync.kind[call.id] == trace::kSynchronousCopy);
            break;
          case Awaited::What::kRecord:
            link(node, record_node_[awaited.id], Why::kSynchronize);
            break;
        }
      }
      const Ns held = end_of(call.process) - call.start_ns;
      graph_.blocked_.push_back({node, call.thread, held, call.proved});
      graph_.thread_nodes_[call.thread] = node;
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Call& call = calls_[i];
      if (call.kind == Kind::kCall && snapshots_[call.process].known() &&
          !waits_for_device(trace_, call.id))
        link_issuing_call(call, graph_.blocked_[i].node);
    }
  }

  Ns end_of(Id process) const {
    if (snapshots_[process].known()) return snapshots_[process].at_ns;
    if (trace_.process.end_ns[process] != kUnknownNs) return trace_.process.end_ns[process];
    const Ns duration = trace::meta_integer(trace_, "duration_ns").value_or(0);
    return std::max(trace_.end_ns(), std::min(duration, trace::kMostNs));
  }

  // A blocked call that should return immediately: its stream is full, another call holds the
  // context, or code must be loaded first (measured on an H200: a stream holds 1020 operations).
  void link_issuing_call(const Call& call, Index node) {
    constexpr size_t kFullStream = 1000;
    const auto queued = [&](const Call& of) -> const std::vector<std::pair<Ns, Index>>* {
      const Id stream = of.kind == Kind::kCall ? trace_.api_call.stream_id[of.id] : kNoId;
      return stream < streams_.size() ? &streams_[stream].pending : nullptr;
    };
    const auto is_full = [&](const Call& of) {
      const auto* pending = queued(of);
      return pending != nullptr && pending->size() >= kFullStream;
    };
    if (is_full(call)) return link(node, queued(call)->front().second, Why::kQueueFull);
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Call& other = calls_[i];
      if (other.kind == Kind::kCall && other.process == call.process &&
          other.thread != call.thread && other.start_ns <= call.start_ns &&
          (waits_for_device(trace_, other.id) || is_full(other)))
        return link(node, graph_.blocked_[i].node, Why::kContext);
    }
    for (const Stream& stream : streams_) {
      if (stream.seen_still && stream.last != kNone) link(node, stream.last, Why::kDevice);
    }
  }

  // Threads outside of calls, the owners of the mutexes they wait for, and the threads that run
  // host functions.
  void link_threads() {
    std::vector<Index> serving;
    for (const HangSnapshot& snapshot : snapshots_) {
      for (const Id sample : snapshot.samples) {
        const Id thread = trace_.thread_sample.thread_id[sample];
        if (!graph_.thread_nodes_.contains(thread))
          graph_.thread_nodes_[thread] = add(Kind::kThread, thread, kNoId);
        if (serves_the_driver(trace_, sample)) serving.push_back(graph_.thread_nodes_[thread]);
      }
      for (const Id sample : snapshot.samples) {
        const auto owner = graph_.thread_nodes_.find(trace_.thread_sample.lock_owner_id[sample]);
        if (owner == graph_.thread_nodes_.end()) continue;
        const Id thread = trace_.thread_sample.thread_id[sample];
        const Index node = graph_.thread_nodes_[thread];
        link(node, owner->second, Why::kLock);
        if (graph_.nodes_[node].kind == Kind::kThread)
          graph_.blocked_.push_back({node, thread, kPatienceNs, false});
      }
    }
    if (serving.size() != 1) return;  // it is not known which thread runs which function
    for (Index node = 0; node < graph_.nodes_.size(); ++node) {
      const Node& op = graph_.nodes_[node];
      if (op.kind == Kind::kOp && trace_.op.kind[op.id] == trace::kHostFunction)
        link(node, serving.front(), Why::kRunsIn);
    }
  }

  void link_memory() {
    for (const auto& [node, address] : memory_waits_) {
      const Id op = graph_.nodes_[node].id;
      const trace::Int value = trace_.api_call.value[trace_.op.api_call_id[op]];
      bool satisfied = false;
      Id last_writer = kNoId;
      const auto found = writes_.find(address);
      const auto unknown = writes_.find({address.first, trace::kNoInt});
      for (const auto& list : {found, unknown}) {
        if (list == writes_.end()) continue;
        for (const Write& write : list->second) {
          last_writer = write.thread;
          if (list == found && !can_satisfy(write.value, value)) continue;
          satisfied |= write.node == kNone;
          link(node, write.node, Why::kMemory);
        }
      }
      // The current value of the word is better evidence than the writes. It is compared as "at
      // least", as nearly all waits do.
      if (const auto seen = words_.find(address); seen != words_.end())
        satisfied = seen->second - value >= 0;
      graph_.unsatisfied_[node] = !satisfied;
      auto& links = graph_.links_[node];
      const auto is_write = [](const Link& l) { return l.why == Why::kMemory; };
      if (satisfied) std::erase_if(links, is_write);
      if (satisfied || std::any_of(links.begin(), links.end(), is_write)) continue;
      const auto writer = graph_.thread_nodes_.find(last_writer);
      if (writer != graph_.thread_nodes_.end()) link(node, writer->second, Why::kNotIssued);
    }
  }

  Index add(Kind kind, Id id, Id stream) {
    graph_.nodes_.push_back({.kind = kind, .id = id, .stream = stream});
    graph_.links_.emplace_back();
    graph_.unsatisfied_.push_back(false);
    return static_cast<Index>(graph_.nodes_.size() - 1);
  }
  void link(Index from, Index to, Why why) {
    if (to != kNone && to != from) graph_.links_[from].push_back({to, why});
  }
  void begin(size_t index, Issued) {
    place_ = index;
    joined_.clear();
  }
  void join_legacy(Id, const StreamRole& role, bool is_new) {
    if (is_new) join(barriers_[role.context], Why::kLegacyStream);
  }
  void join_blocking(Id, const StreamRole&, std::span<const Id> streams) {
    for (const Id stream : streams) join(streams_[stream].last, Why::kLegacyStream);
  }
  void join_record(Id, Id record, Id) { join(record_node_[record], Why::kEvent); }
  void place_launch(std::span<const Issued> ops, Id stream, const Issue& issue) {
    for (const Issued op : ops) {
      place_op(op.id(), stream, issue);
      ++place_;
    }
  }
  void place_record(Id record, Id stream) {
    record_node_[record] = place(Kind::kRecord, record, stream, trace_.event_record.end_ns[record]);
  }
  void place_wait(Id wait, Id stream) {
    place(Kind::kWait, wait, stream, trace_.event_wait.end_ns[wait]);
  }
  void leave(Id stream, const StreamRole& role) {
    if (role.legacy) barriers_[role.context] = streams_[stream].last;
  }

  void join(Index node, Why why) {
    if (node != kNone) joined_.push_back({node, why});
  }

  WaitFor& graph_;
  const IssueOrder& order_;
  const Trace& trace_;
  const HappensBefore& before_;
  std::vector<HangSnapshot> snapshots_;  // per process
  std::vector<bool> in_scope_;  // per process: one of its calls never returned, or it was sampled
  std::vector<Call> calls_;
  std::vector<Stream> streams_;
  std::vector<Index> barriers_;  // per context: the last item of its legacy stream
  std::vector<Index> record_node_;
  size_t place_ = 0;          // of the current item
  std::vector<Link> joined_;  // what it waits for in addition to its stream
  std::map<Address, std::vector<Write>> writes_;
  std::map<Address, trace::Int> words_;  // sampled values
  std::vector<std::pair<Index, Address>> memory_waits_;
};

WaitFor::WaitFor(const IssueOrder& order, const HappensBefore& guaranteed) {
  Builder(*this, order, guaranteed).run();
  release();
}

}  // namespace streamscope::analysis
