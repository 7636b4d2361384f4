// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The walk over the order of issue that finds what every chain knew, and when.

#include <algorithm>
#include <queue>

#include "happens_before_impl.h"
#include "large_vector.h"

namespace streamscope::analysis {
namespace {

struct StreamState {
  Id context = kNoId;
  bool legacy = false, blocking = false;
  bool dirty = false;  // listed in ContextState::dirty
  uint32_t epoch = 0;  // last item on the legacy stream that it knows of
};

struct ContextState {
  std::vector<ChainId> streams, dirty;  // dirty: blocking streams with news since the last epoch
  ChainId legacy = kNoId;
  uint32_t epoch = 0;
};

// How far back calls of other threads are looked up: a call during which so many synchronizations
// of others returned knows, for us, only what its own thread knew.
constexpr size_t kHostVersionsKept = 64;

// Walks the order of issue once and fills an Impl.
template <class Impl>
class Walk {
 public:
  Walk(Impl& impl, const IssueOrder& order, HappensBefore::Options options)
      : impl_(impl), order_(order), trace_(order.trace()), options_(options) {
    make_chains();
    records_ = large_vector(trace_.event_record.size(), Snapshot{});
    last_use_ = large_vector(records_.size(), kNoId);
    const auto items = order.items();
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (items[i].kind() == Issued::kWait) use(trace_.event_wait.record_id[items[i].id()], i);
      if (items[i].kind() == Issued::kSync) use(trace_.host_sync.record_id[items[i].id()], i);
    }
    for (const Issued item : items) {
      if (!order.has_writers()) break;
      if (item.kind() != Issued::kOp) continue;
      if (const Id writer = order.writer_of(item.id()); writer != kNoId) written_[writer] = {};
    }
  }

  void run() {
    const auto items = order_.items();
    for (now_ = 0; now_ < static_cast<Position>(items.size()); ++now_)
      items[static_cast<size_t>(now_)].tell(*this);
  }

 private:
  friend Issued;
  void make_chains();
  void use(Id record, uint32_t item) {
    if (record < last_use_.size()) last_use_[record] = item;
  }
  Chain& chain(ChainId id) { return impl_.chains[id]; }
  ClockPool& clocks() { return *impl_.clocks; }
  ChainId chain_of_stream(Id stream) const {
    return stream < chain_of_stream_.size() ? chain_of_stream_[stream] : kNoId;
  }
  ChainId chain_of_thread(Id thread) const {
    return thread < trace_.thread.size() ? first_thread_ + thread : kNoId;
  }
  Snapshot snapshot(ChainId id) {
    const Chain& of = chain(id);
    clocks().retain(of.clock);
    return {of.clock, id, of.position, static_cast<Version>(of.joins.size())};
  }
  void drop(Snapshot& s) {
    if (s.clock != ClockPool::kNone) clocks().release(s.clock);
    if (s.joined != ClockPool::kNone) clocks().release(s.joined);
    s = {};
  }
  // The chain learns what the snapshot knows; false if it knew that already.
  bool join(ChainId into, Snapshot& news, trace::EdgeKind kind, Id cause, bool copy = false);
  bool join_chain(ChainId into, ChainId from, trace::EdgeKind kind, Id cause = kNoId) {
    Snapshot news = snapshot(from);
    const bool learned = join(into, news, kind, cause);
    drop(news);
    return learned;
  }

  void enter(ChainId stream, Id thread, Ns call_start);
  void learn_from_thread(ChainId stream, Id thread, Ns call_start);
  void leave(ChainId stream);
  void learn_from_threads(ChainId thread, Ns call_start);
  void teach_thread(ChainId thread, ChainId stream, Id sync);
  void on_op(Id op);
  void on_record(Id record);
  void on_wait(Id wait);
  void on_sync(Id sync);
  void on_memory(Id call);
  void returned(ChainId thread, Ns at_ns);
  // Keeps the chain's clock for questions if there is room.
  ClockPool::Ref keep(ClockPool::Ref clock) {
    if (impl_.all_kept && clocks().live_bytes() > options_.clock_budget_bytes)
      impl_.all_kept = false;
    if (!impl_.all_kept) return ClockPool::kNone;
    clocks().retain(clock);
    return clock;
  }
  template <class Returns>
  void keep_return(Returns& returns, ChainId id, Ns at_ns) {
    returns.push_back({at_ns, static_cast<Version>(chain(id).joins.size()), keep(chain(id).clock)});
  }

  Impl& impl_;
  const IssueOrder& order_;
  const Trace& trace_;
  const HappensBefore::Options options_;
  Position now_ = 0;
  std::vector<ChainId> chain_of_stream_;
  std::vector<StreamState> streams_;    // per stream chain
  std::vector<ContextState> contexts_;  // per context
  ChainId first_thread_ = 0, first_context_ = 0, host_ = 0;
  std::vector<Version> handed_;  // per thread and stream chain: version of the thread it knows
  std::vector<Snapshot> records_;
  std::vector<uint32_t> last_use_;  // per record: item that needs it last
  std::unordered_map<Id, Snapshot> written_;
  std::vector<Id> last_call_;  // per stream chain: call of its newest op

  // Observed relation: what all threads together know, and what they will when calls return.
  struct Returning {
    Ns at_ns;
    Snapshot known;
    bool operator>(const Returning& other) const { return at_ns > other.at_ns; }
  };
  std::priority_queue<Returning, std::vector<Returning>, std::greater<>> returning_;
  struct HostVersion {
    Ns from_ns;
    Snapshot known;
  };
  std::deque<HostVersion> host_versions_;
};

template <class Impl>
void Walk<Impl>::make_chains() {
  const size_t stream_count = trace_.stream.size();
  std::vector<bool> used(stream_count);
  for (const Issued item : order_.items()) {
    Id stream = kNoId;
    if (item.kind() == Issued::kOp) stream = order_.stream(item.id());
    if (item.kind() == Issued::kRecord) stream = trace_.event_record.stream_id[item.id()];
    if (item.kind() == Issued::kWait) stream = trace_.event_wait.stream_id[item.id()];
    if (item.kind() == Issued::kMemory) stream = trace_.api_call.stream_id[item.id()];
    // Who synchronizes with the legacy stream learns of the blocking streams.
    if (item.kind() == Issued::kSync) {
      const Id synced = trace_.host_sync.stream_id[item.id()];
      if (synced < stream_count && trace_.stream.kind[synced] == trace::kLegacyStream)
        stream = synced;
    }
    if (stream < stream_count) used[stream] = true;
  }
  chain_of_stream_.assign(stream_count, kNoId);
  contexts_.resize(trace_.context.size());
  for (Id stream = 0; stream < stream_count; ++stream) {
    if (!used[stream]) continue;
    const ChainId id = static_cast<ChainId>(streams_.size());
    chain_of_stream_[stream] = id;
    impl_.stream_of_chain.push_back(stream);
    StreamState& state = streams_.emplace_back();
    state.context = trace_.stream.context_id[stream];
    if (state.context >= contexts_.size()) continue;
    const auto kind = trace_.stream.kind[stream];
    state.legacy = kind == trace::kLegacyStream;
    state.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
    contexts_[state.context].streams.push_back(id);
    if (state.legacy) contexts_[state.context].legacy = id;
  }
  impl_.stream_chains = streams_.size();
  first_thread_ = static_cast<ChainId>(streams_.size());
  first_context_ = first_thread_ + static_cast<ChainId>(trace_.thread.size());
  host_ = first_context_ + static_cast<ChainId>(contexts_.size());
  impl_.chains.resize(host_ + 1);
  impl_.clocks = std::make_unique<ClockPool>(streams_.size());
  for (size_t i = 0; i < impl_.chains.size(); ++i) impl_.clocks->retain(ClockPool::kNothing);
  handed_.assign(trace_.thread.size() * streams_.size(), 0);
  last_call_.assign(streams_.size(), kNoId);
  impl_.returns.resize(trace_.thread.size());
  impl_.first_thread = first_thread_;
  impl_.host = host_;
}

template <class Impl>
bool Walk<Impl>::join(ChainId into, Snapshot& news, trace::EdgeKind kind, Id cause, bool copy) {
  Chain& mine = chain(into);
  if (into == news.chain) return false;
  if (!clocks().join(&mine.clock, into, news.clock, news.chain, news.position, news.joined))
    return false;
  mine.joins.push_back(
      {now_, news.chain, news.position, news.version, cause, static_cast<uint8_t>(kind), copy});
  if (news.joined == ClockPool::kNone) {
    clocks().retain(mine.clock);
    news.joined = mine.clock;
  }
  return true;
}

// Before anything takes its place in a stream: what the legacy rule and the issuing thread bring.
template <class Impl>
void Walk<Impl>::enter(ChainId id, Id thread, Ns call_start) {
  StreamState& state = streams_[id];
  if (state.context < contexts_.size()) {
    ContextState& context = contexts_[state.context];
    if (state.blocking && state.epoch < context.epoch) {
      state.epoch = context.epoch;
      join_chain(id, context.legacy, trace::kLegacyEdge);
    }
    if (state.legacy) {
      for (ChainId blocking : context.dirty) {
        streams_[blocking].dirty = false;
        join_chain(id, blocking, trace::kLegacyEdge);
      }
      context.dirty.clear();
    }
  }
  learn_from_thread(id, thread, call_start);
}

template <class Impl>
void Walk<Impl>::learn_from_thread(ChainId id, Id thread, Ns call_start) {
  const ChainId caller = chain_of_thread(thread);
  if (caller == kNoId) return;
  if (options_.relation == Relation::kObserved) learn_from_threads(caller, call_start);
  Version& handed = handed_[size_t{thread} * streams_.size() + id];
  const Version version = static_cast<Version>(chain(caller).joins.size());
  if (handed == version) return;
  handed = version;
  join_chain(id, caller, trace::kHostEdge);
}

// After it: blocking streams and the legacy stream of the context have news for each other.
template <class Impl>
void Walk<Impl>::leave(ChainId id) {
  StreamState& state = streams_[id];
  if (state.context >= contexts_.size()) return;
  ContextState& context = contexts_[state.context];
  if (state.legacy) ++context.epoch;
  if (state.blocking && !state.dirty) {
    state.dirty = true;
    context.dirty.push_back(id);
  }
}

template <class Impl>
void Walk<Impl>::learn_from_threads(ChainId thread, Ns call_start) {
  while (!returning_.empty() && returning_.top().at_ns <= call_start) {
    Returning next = returning_.top();
    returning_.pop();
    if (join(host_, next.known, trace::kHostEdge, kNoId)) {
      host_versions_.push_back({next.at_ns, snapshot(host_)});
      keep_return(impl_.host_returns, host_, next.at_ns);
      if (host_versions_.size() > kHostVersionsKept) {
        drop(host_versions_.front().known);
        host_versions_.pop_front();
      }
    }
    drop(next.known);
  }
  // Items come in order of return; this call may have begun before others that were looked at.
  for (auto version = host_versions_.rbegin(); version != host_versions_.rend(); ++version) {
    if (version->from_ns > call_start) continue;
    join(thread, version->known, trace::kHostEdge, kNoId);
    return;
  }
}

template <class Impl>
void Walk<Impl>::on_op(Id op) {
  const ChainId id = chain_of_stream(order_.stream(op));
  if (id == kNoId) return;
  const Issue issue = order_.issue(op);
  const Id call = trace_.op.api_call_id[op];
  Chain& mine = chain(id);
  const bool same_launch =
      trace_.op.graph_node[op] != trace::kNoInt && call != kNoId && call == last_call_[id];
  if (!same_launch) {
    enter(id, issue.thread_id, issue.start_ns);
    if (const Id writer = order_.writer_of(op); writer != kNoId) {
      const auto found = written_.find(writer);
      if (found != written_.end() && found->second.clock != ClockPool::kNone)
        join(id, found->second, trace::kMemoryEdge, writer);
    }
    mine.position = now_;
    last_call_[id] = call;
  }
  impl_.ops[op] = {id, mine.position, keep(mine.clock)};
  leave(id);
  if (!written_.empty()) {
    const auto found = written_.find(op);
    if (found != written_.end()) found->second = snapshot(id);
  }
  // Synchronous copies (rule J): of these CUDA promises that the copy, or at least what came before
  // it in the stream, has ended when the call returns.
  const ChainId thread = chain_of_thread(issue.thread_id);
  if (thread == kNoId || trace_.op.kind[op] != trace::kMemcpy) return;
  const trace::Small call_kind = call < trace_.api_call.size() ? trace_.api_call.kind[call] : 0;
  constexpr trace::Small kSynchronousCopyCall = 2, kToHost = 2, kToDevice = 1, kPinned = 2,
                         kPageable = 1;
  const bool synchronous = order_.copy_sync(op) != kNoId || call_kind == kSynchronousCopyCall;
  if (!synchronous) return;
  const trace::Small direction = trace_.op.detail[op], memory = trace_.op.memory_kinds[op];
  const trace::Small source = memory == trace::kNoSmall ? 0 : memory >> 4;
  Snapshot known = snapshot(id);
  if (direction == kToDevice && source == kPageable) {
    known.position = now_ - 1;  // what came before; the copy itself may still be under way
  } else if (direction != kToHost && !(direction == kToDevice && source == kPinned)) {
    known.chain = kNoId;
  }
  if (known.chain != kNoId && join(thread, known, trace::kHostEdge, op, true))
    returned(thread, issue.end_ns);
  drop(known);
}

template <class Impl>
void Walk<Impl>::on_record(Id record) {
  const Id stream = trace_.event_record.stream_id[record];
  const Id thread = trace_.event_record.thread_id[record];
  const Ns start = trace_.event_record.start_ns[record];
  ChainId id = chain_of_stream(stream);
  if (id != kNoId) {
    enter(id, thread, start);
    leave(id);
  } else {
    // cuCtxRecordEvent: the work of all streams of the context.
    const Id event = trace_.event_record.event_id[record];
    const Id context = event < trace_.event.size() ? trace_.event.context_id[event] : kNoId;
    if (context >= contexts_.size()) return;
    id = first_context_ + context;
    for (ChainId member : contexts_[context].streams) {
      enter(member, thread, start);
      join_chain(id, member, trace::kEventEdge);
    }
  }
  if (last_use_[record] != kNoId && last_use_[record] > static_cast<uint32_t>(now_))
    records_[record] = snapshot(id);
}

template <class Impl>
void Walk<Impl>::on_wait(Id wait) {
  const Id record = trace_.event_wait.record_id[wait];
  const Id thread = trace_.event_wait.thread_id[wait];
  const Ns start = trace_.event_wait.start_ns[wait];
  const bool exact = trace_.event_wait.binding[wait] == trace::kBindingExact &&
                     record < records_.size() && records_[record].clock != ClockPool::kNone;
  const ChainId id = chain_of_stream(trace_.event_wait.stream_id[wait]);
  if (id != kNoId) {
    enter(id, thread, start);
    const bool learned = exact && join(id, records_[record], trace::kEventEdge, wait);
    impl_.redundant_wait[wait] = exact && !learned;
    leave(id);
  } else {
    // cuCtxWaitEvent: all later work of the context.
    const Id event = trace_.event_wait.event_id[wait];
    const Id context = event < trace_.event.size() ? trace_.event.context_id[event] : kNoId;
    bool learned = false;
    if (context < contexts_.size() && exact) {
      for (ChainId member : contexts_[context].streams) {
        enter(member, thread, start);
        learned |= join(member, records_[record], trace::kEventEdge, wait);
        leave(member);
      }
      impl_.redundant_wait[wait] = !learned;
    }
  }
  if (record < records_.size() && last_use_[record] == static_cast<uint32_t>(now_))
    drop(records_[record]);
}

template <class Impl>
void Walk<Impl>::teach_thread(ChainId thread, ChainId stream, Id sync) {
  const Chain& theirs = chain(stream);
  // Nothing since an op that the thread knows of: cheap, as a device has many idle streams.
  const bool known = clocks().entry(chain(thread).clock, stream) >= theirs.position &&
                     (theirs.joins.empty() || theirs.joins.back().at <= theirs.position);
  if (known) return;
  Snapshot news = snapshot(stream);
  join(thread, news, trace::kHostEdge, sync);
  drop(news);
}

template <class Impl>
void Walk<Impl>::on_sync(Id sync) {
  const Id thread_id = trace_.host_sync.thread_id[sync];
  const ChainId thread = chain_of_thread(thread_id);
  if (options_.relation == Relation::kObserved)
    learn_from_threads(thread, trace_.host_sync.start_ns[sync]);
  const size_t before = chain(thread).joins.size();
  // The legacy stream is done when the blocking streams are; a blocking stream is done when its own
  // work is, whatever the legacy stream still does.
  const auto teach_all = [&](ChainId id) {
    teach_thread(thread, id, sync);
    const StreamState& state = streams_[id];
    if (!state.legacy || state.context >= contexts_.size()) return;
    for (ChainId blocking : contexts_[state.context].dirty) teach_thread(thread, blocking, sync);
  };
  switch (trace_.host_sync.kind[sync]) {
    case trace::kDeviceSynchronize: {
      const Id context = trace_.host_sync.context_id[sync];
      if (context >= contexts_.size()) break;
      for (ChainId id : contexts_[context].streams) teach_thread(thread, id, sync);
      break;
    }
    case trace::kStreamSynchronize:
    case trace::kStreamQuery:
      if (const ChainId id = chain_of_stream(trace_.host_sync.stream_id[sync]); id != kNoId)
        teach_all(id);
      break;
    case trace::kEventSynchronize:
    case trace::kEventQuery: {
      const Id record = trace_.host_sync.record_id[sync];
      if (record >= records_.size()) break;
      if (trace_.host_sync.binding[sync] == trace::kBindingExact &&
          records_[record].clock != ClockPool::kNone) {
        join(thread, records_[record], trace::kHostEdge, sync);
      }
      if (last_use_[record] == static_cast<uint32_t>(now_)) drop(records_[record]);
      break;
    }
    default:
      break;
  }
  impl_.redundant_sync[sync] = chain(thread).joins.size() == before;
  impl_.sync_version[sync] = static_cast<Version>(chain(thread).joins.size());
  if (chain(thread).joins.size() > before) returned(thread, trace_.host_sync.end_ns[sync]);
}

// Stream-ordered memory begins and ends in the order of its stream. On the legacy stream it is no
// barrier (measured).
template <class Impl>
void Walk<Impl>::on_memory(Id call) {
  const auto& calls = trace_.api_call;
  const ChainId id = chain_of_stream(calls.stream_id[call]);
  if (id == kNoId) return;
  const bool legacy = streams_[id].legacy;
  if (legacy) {
    learn_from_thread(id, calls.thread_id[call], calls.start_ns[call]);
  } else {
    enter(id, calls.thread_id[call], calls.start_ns[call]);
  }
  chain(id).position = now_;
  impl_.memory_points[call] = {id, now_, keep(chain(id).clock), kNoId};
  if (!legacy) leave(id);
}

// The thread knows more from the return of a call on.
template <class Impl>
void Walk<Impl>::returned(ChainId thread, Ns at_ns) {
  keep_return(impl_.returns[thread - first_thread_], thread, at_ns);
  if (options_.relation == Relation::kObserved) returning_.push({at_ns, snapshot(thread)});
}

}  // namespace

HappensBefore::Impl::Impl(const IssueOrder& order, Options options)
    : ops(large_vector(order.trace().op.size(), Standing{})),
      sync_version(order.trace().host_sync.size(), 0),
      redundant_wait(order.trace().event_wait.size()),
      redundant_sync(order.trace().host_sync.size()),
      graph_nodes(order.trace()) {
  const Trace& trace = order.trace();
  if (!graph_nodes.empty()) {
    op_node.assign(trace.op.size(), kNoId);
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (trace.op.graph_node[op] == trace::kNoInt) continue;
      op_node[op] =
          graph_nodes.node(trace.process_of_stream(order.stream(op)), trace.op.graph_node[op]);
    }
  }
  sync_thread = trace.host_sync.thread_id;
  Walk<Impl>(*this, order, options).run();
}

}  // namespace streamscope::analysis
