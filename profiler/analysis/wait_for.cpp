// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_for.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

namespace streamscope::analysis {
namespace {

constexpr WaitFor::Index kNone = std::numeric_limits<WaitFor::Index>::max();
// A call on a GPU that has waited for less may yet return; programs that wait longer for one thing
// are rare, and people who end a program wait longer before they do.
constexpr Ns kPatienceNs = 1'000'000'000;

bool needs_one(WaitFor::Why why) {
  return why == WaitFor::Why::kMemory || why == WaitFor::Why::kNotIssued;
}

}  // namespace

bool waits_for_device(const Trace& trace, Id call) {
  constexpr trace::Small kModuleLoadCall = 36;
  const trace::Small kind = trace.api_call.kind[call];
  const std::string_view name = trace.text(trace.api_call.name_id[call]);
  return kind == kFreeCall || kind == kModuleLoadCall || name.ends_with("SetLimit");
}

class WaitFor::Builder {
 public:
  Builder(WaitFor& graph, const IssueOrder& order, const HappensBefore& before)
      : graph_(graph),
        order_(order),
        trace_(order.trace()),
        before_(before),
        in_scope_(trace_.process.size()),
        streams_(trace_.stream.size()),
        contexts_(trace_.context.size()),
        record_node_(trace_.event_record.size(), kNone) {}

  void run() {
    find_blocked();
    if (calls_.empty()) return;
    find_pending();
    for (const Issued item : order_.items()) item.tell(*this);
    link_calls();
    link_memory();
  }

 private:
  friend Issued;

  struct Call {
    Kind kind;
    Id id, thread, process;
    Ns start_ns;
    bool proved;
  };
  struct Stream {
    Id context = kNoId;
    bool in_scope = false, legacy = false, blocking = false, dirty = false;
    size_t done = 0, seen = 0;  // items known to have ended, and walked
    Index last = kNone;
    uint32_t epoch = 0;
    std::vector<Index> gates;                   // context-wide waits that its next item needs
    std::vector<std::pair<Ns, Index>> pending;  // by return of their calls
  };
  struct Context {
    std::vector<Id> streams, dirty;
    Index legacy = kNone;
    uint32_t epoch = 0;
  };
  struct Write {
    trace::Int value;
    Index node;  // kNone: it has ended
    Id thread;
  };
  using Address = std::pair<Id, trace::Int>;  // process and address

  void find_blocked();
  void find_pending();
  void link_calls();
  void link_memory();

  Index add(Kind kind, Id id, Id stream) {
    graph_.nodes_.push_back({.kind = kind, .id = id, .stream = stream});
    graph_.links_.emplace_back();
    graph_.unsatisfied_.push_back(false);
    return static_cast<Index>(graph_.nodes_.size() - 1);
  }
  void link(Index from, Index to, Why why) {
    if (to != kNone && to != from) graph_.links_[from].push_back({to, why});
  }
  // The node of the next item of a stream, behind what holds it; kNone if it has ended.
  Index enter(Kind kind, Id id, Id stream, Ns at);
  void on_op(Id op);
  void on_record(Id record);
  void on_wait(Id wait);
  void on_sync(Id) {}    // returned
  void on_memory(Id) {}  // holds nothing up
  Id context_of_event(Id event) const {
    return event < trace_.event.size() ? trace_.event.context_id[event] : kNoId;
  }

  WaitFor& graph_;
  const IssueOrder& order_;
  const Trace& trace_;
  const HappensBefore& before_;
  std::vector<bool> in_scope_;  // per process: a call of it never returned
  std::vector<Call> calls_;
  std::vector<Stream> streams_;
  std::vector<Context> contexts_;
  std::vector<Index> record_node_;
  std::map<Address, std::vector<Write>> writes_;
  std::vector<std::pair<Index, Address>> memory_waits_;
};

void WaitFor::Builder::find_blocked() {
  constexpr trace::Small kCodeUnknown = 999;  // how the simulated device ends a hopeless wait
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
    const bool asks =
        syncs.kind[sync] == trace::kStreamQuery || syncs.kind[sync] == trace::kEventQuery;
    const bool hopeless = simulated && !asks && syncs.result[sync] == kCodeUnknown;
    if (syncs.end_ns[sync] == kUnknownNs || hopeless)
      add_call(Kind::kSync, sync, syncs.thread_id[sync], syncs.start_ns[sync], hopeless);
  }
  const auto& calls = trace_.api_call;
  for (Id call = 0; call < calls.size(); ++call) {
    if (calls.end_ns[call] == kUnknownNs)
      add_call(Kind::kCall, call, calls.thread_id[call], calls.start_ns[call], false);
  }
}

// What has ended, per stream: ops with an end, and whatever these or the host's synchronizations
// prove. What comes before something that has ended has ended, so one boundary says all.
void WaitFor::Builder::find_pending() {
  std::vector<std::vector<Id>> ops(streams_.size());  // in order of issue
  std::vector<std::vector<size_t>> place(streams_.size());
  std::vector<size_t> items(streams_.size(), 0);
  for (Id stream = 0; stream < streams_.size(); ++stream) {
    Stream& state = streams_[stream];
    const Id process = trace_.process_of_stream(stream);
    state.in_scope = process < in_scope_.size() && in_scope_[process];
    state.context = trace_.stream.context_id[stream];
    if (!state.in_scope || state.context >= contexts_.size()) continue;
    const auto kind = trace_.stream.kind[stream];
    state.legacy = kind == trace::kLegacyStream;
    state.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
    contexts_[state.context].streams.push_back(stream);
  }
  for (const Issued item : order_.items()) {
    Id stream = kNoId;
    if (item.kind() == Issued::kOp) stream = order_.stream(item.id());
    if (item.kind() == Issued::kRecord) stream = trace_.event_record.stream_id[item.id()];
    if (item.kind() == Issued::kWait) stream = trace_.event_wait.stream_id[item.id()];
    if (stream >= streams_.size() || !streams_[stream].in_scope) continue;
    ++items[stream];
    if (item.kind() != Issued::kOp) continue;
    ops[stream].push_back(item.id());
    place[stream].push_back(items[stream]);
  }
  std::vector<Id> ended;  // per stream its last op with an end
  std::vector<size_t> first_open(streams_.size(), 0);
  for (Id stream = 0; stream < streams_.size(); ++stream) {
    for (size_t i = ops[stream].size(); i-- > 0;) {
      if (trace_.op.end_ns[ops[stream][i]] == kUnknownNs) continue;
      ended.push_back(ops[stream][i]);
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
    const auto open = std::partition_point(begin + static_cast<ptrdiff_t>(first_open[stream]),
                                           ops[stream].end(), has_ended);
    if (open != begin) streams_[stream].done = place[stream][static_cast<size_t>(open - begin) - 1];
  }
}

WaitFor::Index WaitFor::Builder::enter(Kind kind, Id id, Id stream, Ns at) {
  Stream& state = streams_[stream];
  if (!state.in_scope || state.seen++ < state.done) return kNone;
  const Index node = add(kind, id, stream);
  link(node, state.last, Why::kStreamOrder);
  for (const Index gate : state.gates) link(node, gate, Why::kEvent);
  state.gates.clear();
  if (state.context < contexts_.size()) {
    Context& context = contexts_[state.context];
    if (state.blocking && state.epoch < context.epoch)
      link(node, context.legacy, Why::kLegacyStream);
    if (state.blocking) state.epoch = context.epoch;
    if (state.blocking && !state.dirty) {
      state.dirty = true;
      context.dirty.push_back(stream);
    }
    if (state.legacy) {
      for (const Id blocking : context.dirty) {
        streams_[blocking].dirty = false;
        link(node, streams_[blocking].last, Why::kLegacyStream);
      }
      context.dirty.clear();
      context.legacy = node;
      ++context.epoch;
    }
  }
  state.last = node;
  state.pending.push_back({at, node});
  return node;
}

void WaitFor::Builder::on_op(Id op) {
  const Id stream = order_.stream(op);
  if (stream >= streams_.size()) return;
  const Index node = enter(Kind::kOp, op, stream, order_.issue(op).end_ns);
  const trace::Small kind = trace_.op.kind[op];
  const Id call = trace_.op.api_call_id[op];
  if (!streams_[stream].in_scope || call >= trace_.api_call.size()) return;
  const Address address{trace_.process_of_stream(stream), trace_.api_call.object[call]};
  if (kind == trace::kMemoryWrite)
    writes_[address].push_back(
        {trace_.api_call.value[call], node, trace_.api_call.thread_id[call]});
  // Of batches of memory operations the addresses are not known: those are let pass.
  if (kind == trace::kMemoryWait && node != kNone && address.second != trace::kNoInt &&
      trace_.api_call.value[call] != trace::kNoInt) {
    memory_waits_.push_back({node, address});
  }
}

void WaitFor::Builder::on_record(Id record) {
  const Ns at = trace_.event_record.end_ns[record];
  const Id stream = trace_.event_record.stream_id[record];
  if (stream < streams_.size()) {
    record_node_[record] = enter(Kind::kRecord, record, stream, at);
    return;
  }
  const Id context = context_of_event(trace_.event_record.event_id[record]);
  if (context >= contexts_.size()) return;
  record_node_[record] = add(Kind::kRecord, record, kNoId);
  for (const Id member : contexts_[context].streams)
    link(record_node_[record], streams_[member].last, Why::kStreamOrder);
}

void WaitFor::Builder::on_wait(Id wait) {
  const Id record = trace_.event_wait.record_id[wait];
  const Index awaited = record < record_node_.size() ? record_node_[record] : kNone;
  const Id stream = trace_.event_wait.stream_id[wait];
  if (stream < streams_.size()) {
    const Index node = enter(Kind::kWait, wait, stream, trace_.event_wait.end_ns[wait]);
    if (node != kNone) link(node, awaited, Why::kEvent);
    return;
  }
  const Id context = context_of_event(trace_.event_wait.event_id[wait]);
  if (context >= contexts_.size() || awaited == kNone) return;
  const Index node = add(Kind::kWait, wait, kNoId);
  link(node, awaited, Why::kEvent);
  for (const Id member : contexts_[context].streams) streams_[member].gates.push_back(node);
}

// What was pending when the call began.
void WaitFor::Builder::link_calls() {
  const auto last_before = [&](Id stream, Ns at) {
    const auto& pending = streams_[stream].pending;
    const auto next = std::upper_bound(pending.begin(), pending.end(), at,
                                       [](Ns t, const auto& entry) { return t < entry.first; });
    return next == pending.begin() ? kNone : std::prev(next)->second;
  };
  Ns trace_end = trace_.end_ns();
  if (const auto found = trace_.meta.find("duration_ns"); found != trace_.meta.end()) {
    Ns duration = 0;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), duration);
    trace_end = std::max(trace_end, duration);
  }
  for (const Call& call : calls_) {
    const Index node = add(call.kind, call.id, kNoId);
    const auto wait_for = [&](Id stream, Why why) {
      if (stream < streams_.size() && streams_[stream].in_scope)
        link(node, last_before(stream, call.start_ns), why);
    };
    const auto wait_for_all = [&](Id context, Why why) {
      for (Id stream = 0; stream < streams_.size(); ++stream) {
        const bool counts = context == kNoId ? trace_.process_of_stream(stream) == call.process
                                             : streams_[stream].context == context;
        if (counts) wait_for(stream, why);
      }
    };
    const auto wait_for_stream = [&](Id stream) {
      wait_for(stream, Why::kSynchronize);
      if (stream >= streams_.size()) return;
      const Stream& own = streams_[stream];
      if (!own.legacy && !own.blocking) return;
      for (const Id other : contexts_[own.context].streams) {
        if (own.legacy ? streams_[other].blocking : streams_[other].legacy)
          wait_for(other, Why::kLegacyStream);
      }
    };
    if (call.kind == Kind::kCall) {
      if (waits_for_device(trace_, call.id)) {
        wait_for_all(kNoId, Why::kDevice);
      } else {
        wait_for_stream(trace_.api_call.stream_id[call.id]);
      }
    } else if (trace_.host_sync.kind[call.id] == trace::kDeviceSynchronize) {
      wait_for_all(trace_.host_sync.context_id[call.id], Why::kSynchronize);
    } else if (trace_.host_sync.kind[call.id] == trace::kEventSynchronize) {
      const Id record = trace_.host_sync.record_id[call.id];
      if (record < record_node_.size()) link(node, record_node_[record], Why::kSynchronize);
    } else {
      wait_for_stream(trace_.host_sync.stream_id[call.id]);
    }
    const Ns process_end = trace_.process.end_ns[call.process];
    const Ns held = (process_end == kUnknownNs ? trace_end : process_end) - call.start_ns;
    graph_.blocked_.push_back({node, call.thread, held, call.proved});
  }
}

void WaitFor::Builder::link_memory() {
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
    graph_.unsatisfied_[node] = !satisfied;
    auto& links = graph_.links_[node];
    const auto is_write = [](const Link& l) { return l.why == Why::kMemory; };
    if (satisfied) std::erase_if(links, is_write);
    if (satisfied || std::any_of(links.begin(), links.end(), is_write)) continue;
    for (const Blocked& call : graph_.blocked_) {
      if (call.thread == last_writer) link(node, call.node, Why::kNotIssued);
    }
  }
}

WaitFor::WaitFor(const IssueOrder& order, const HappensBefore& guaranteed) {
  Builder(*this, order, guaranteed).run();
  release();
  std::erase_if(blocked_, [](const Blocked& b) { return !b.proved && b.held_ns < kPatienceNs; });
}

void WaitFor::release() {
  std::vector<std::vector<Link>> waiters(nodes_.size());
  std::vector<size_t> missing(nodes_.size(), 0);
  for (Index from = 0; from < nodes_.size(); ++from) {
    for (const Link& link : links_[from]) {
      waiters[link.to].push_back({from, link.why});
      missing[from] += !needs_one(link.why);
    }
  }
  std::vector<bool> lacks_write = unsatisfied_;
  std::vector<Index> ready;
  for (Index node = 0; node < nodes_.size(); ++node) {
    nodes_[node].stuck = true;
    if (missing[node] == 0 && !lacks_write[node]) ready.push_back(node);
  }
  while (!ready.empty()) {
    const Index node = ready.back();
    ready.pop_back();
    if (!nodes_[node].stuck) continue;
    nodes_[node].stuck = false;
    released_.push_back(node);
    for (const Link& waiter : waiters[node]) {
      if (needs_one(waiter.why)) {
        lacks_write[waiter.to] = false;
      } else {
        --missing[waiter.to];
      }
      if (missing[waiter.to] == 0 && !lacks_write[waiter.to]) ready.push_back(waiter.to);
    }
  }
}

std::vector<bool> WaitFor::reachable(std::vector<Index> next) const {
  std::vector<bool> reached(nodes_.size());
  while (!next.empty()) {
    const Index node = next.back();
    next.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    for (const Link& link : links_[node]) next.push_back(link.to);
  }
  return reached;
}

std::vector<bool> WaitFor::reachable_from_blocked() const {
  std::vector<Index> calls;
  for (const Blocked& call : blocked_) calls.push_back(call.node);
  return reachable(std::move(calls));
}

std::vector<WaitFor::Index> WaitFor::lost_signals() const {
  const std::vector<bool> reached = reachable_from_blocked();
  std::vector<Index> lost;
  for (Index node = 0; node < nodes_.size(); ++node) {
    if (!reached[node] || !unsatisfied_[node] || !nodes_[node].stuck) continue;
    if (std::none_of(links_[node].begin(), links_[node].end(),
                     [](const Link& link) { return needs_one(link.why); })) {
      lost.push_back(node);
    }
  }
  return lost;
}

std::vector<WaitFor::Index> WaitFor::running(const Blocked& call) const {
  const std::vector<bool> reached = reachable({call.node});
  std::vector<bool> waits_for_op(nodes_.size());
  std::vector<Index> found;
  for (const Index node : released_) {
    if (!reached[node]) continue;
    for (const Link& link : links_[node])
      waits_for_op[node] =
          waits_for_op[node] || waits_for_op[link.to] || nodes_[link.to].kind == Kind::kOp;
    if (nodes_[node].kind == Kind::kOp && !waits_for_op[node]) found.push_back(node);
  }
  return found;
}

size_t WaitFor::held_by(Index index) const {
  std::vector<std::vector<Index>> waiters(nodes_.size());
  for (Index from = 0; from < nodes_.size(); ++from) {
    for (const Link& link : links_[from]) waiters[link.to].push_back(from);
  }
  std::vector<bool> reached(nodes_.size());
  std::vector<Index> next{index};
  size_t count = 0;
  while (!next.empty()) {
    const Index node = next.back();
    next.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    count += node != index && nodes_[node].kind == Kind::kOp;
    next.insert(next.end(), waiters[node].begin(), waiters[node].end());
  }
  return count;
}

// Every stuck node that is not a lost signal waits for another stuck one. Following them, and of
// several the first, leads into a cycle or to a lost signal; all ways are looked at.
std::vector<std::vector<WaitFor::Step>> WaitFor::cycles() const {
  // Strongly connected components of the stuck nodes, by Tarjan, without recursion.
  const std::vector<bool> reached = reachable_from_blocked();
  const auto relevant = [&](Index node) { return reached[node] && nodes_[node].stuck; };
  std::vector<Index> number(nodes_.size(), kNone), low(nodes_.size(), kNone);
  std::vector<Index> component(nodes_.size(), kNone);
  std::vector<Index> open;
  std::vector<std::pair<Index, size_t>> path;
  std::vector<std::vector<Index>> knots;
  Index count = 0;
  for (Index root = 0; root < nodes_.size(); ++root) {
    if (!relevant(root) || number[root] != kNone) continue;
    path.push_back({root, 0});
    while (!path.empty()) {
      const Index node = path.back().first;
      if (path.back().second == 0) {
        number[node] = low[node] = count++;
        open.push_back(node);
      }
      if (path.back().second < links_[node].size()) {
        const Index to = links_[node][path.back().second++].to;
        if (!relevant(to)) continue;
        if (number[to] == kNone) {
          path.push_back({to, 0});
        } else if (component[to] == kNone) {
          low[node] = std::min(low[node], number[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[node]);
      if (low[node] != number[node]) continue;
      std::vector<Index> members;
      do {
        members.push_back(open.back());
        component[open.back()] = node;
        open.pop_back();
      } while (members.back() != node);
      if (members.size() > 1) knots.push_back(std::move(members));
    }
  }
  std::vector<std::vector<Step>> result;
  for (std::vector<Index>& knot : knots) {
    // A shortest way from a memory wait back to itself, if one is there.
    std::sort(knot.begin(), knot.end());
    const auto wait =
        std::find_if(knot.begin(), knot.end(), [&](Index n) { return unsatisfied_[n]; });
    const Index start = wait == knot.end() ? knot.front() : *wait;
    std::map<Index, Step> came_by;  // node -> whom it was reached from, and why
    std::vector<Index> queue{start};
    for (size_t i = 0; i < queue.size() && !came_by.contains(start); ++i) {
      for (const Link& link : links_[queue[i]]) {
        if (component[link.to] != component[start] || !relevant(link.to)) continue;
        if (came_by.try_emplace(link.to, Step{queue[i], link.why}).second) queue.push_back(link.to);
      }
    }
    std::vector<Step> cycle;
    Index at = start;
    do {
      const Step& step = came_by.at(at);
      cycle.push_back(step);
      at = step.node;
    } while (at != start);
    std::reverse(cycle.begin(), cycle.end());
    result.push_back(std::move(cycle));
  }
  return result;
}

}  // namespace streamscope::analysis
