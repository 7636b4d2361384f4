// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Computes what every chain knew, and when: a consumer of OrderingWalk.

#include <queue>

#include "analysis/large_vector.h"
#include "happens_before_impl.h"
#include "ordering.h"

namespace streamscope::analysis {
namespace {

// How many returned synchronizations of other threads are kept: a call during which more of them
// returned is assumed to know only what its own thread knew.
constexpr size_t kHostVersionsKept = 64;

}  // namespace

// Fills an Impl: streams, threads and records hold vector clocks.
class HappensBefore::Impl::ClockWalk : public OrderingConsumer {
 public:
  ClockWalk(Impl& impl, const IssueOrder& order, HappensBefore::Options options)
      : impl_(impl), order_(order), trace_(order.trace()), options_(options) {
    make_chains();
    records_ = large_vector(trace_.event_record.size(), Snapshot{});
    last_use_ = large_vector(records_.size(), kNoId);
    const auto items = order.items();
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (items[i].kind() == Issued::kWait) use(trace_.event_wait.record_id[items[i].id()], i);
      if (items[i].kind() == Issued::kSync) use(trace_.host_sync.record_id[items[i].id()], i);
    }
    for (const auto& [wait, write] : order.writers()) written_[write] = {};
  }

 private:
  friend OrderingWalk<ClockWalk>;

  void make_chains() {
    const auto streams = order_.streams();
    chain_of_stream_.assign(trace_.stream.size(), kNoId);
    for (ChainId id = 0; id < streams.size(); ++id) chain_of_stream_[streams[id]] = id;
    impl_.stream_of_chain.assign(streams.begin(), streams.end());
    impl_.stream_chains = streams.size();
    barriers_.resize(trace_.context.size());
    impl_.first_thread = static_cast<ChainId>(streams.size());
    first_context_ = impl_.first_thread + static_cast<ChainId>(trace_.thread.size());
    impl_.host = first_context_ + static_cast<ChainId>(trace_.context.size());
    impl_.chains.resize(impl_.host + 1);
    impl_.clocks = std::make_unique<ClockPool>(streams.size());
    for (size_t i = 0; i < impl_.chains.size(); ++i) impl_.clocks->retain(ClockPool::kNothing);
    handed_.assign(trace_.thread.size() * streams.size(), 0);
    impl_.returns.resize(trace_.thread.size());
  }

  // The chain learns what the snapshot knows; false if it already knew that.
  bool join(ChainId into, Snapshot& news, trace::EdgeKind kind, Id cause, bool copy = false) {
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

  void begin(size_t index, Issued item) {
    now_ = static_cast<Position>(index);
    if (item.kind() == Issued::kWait) joined_ = learned_ = false;
    if (item.kind() != Issued::kSync) return;
    const ChainId thread = chain_of_thread(trace_.host_sync.thread_id[item.id()]);
    if (options_.relation == Relation::kObserved)
      learn_from_threads(thread, trace_.host_sync.start_ns[item.id()]);
    joins_before_ = chain(thread).joins.size();
  }

  void end(Issued item) {
    const Id id = item.id();
    if (item.kind() == Issued::kWait) {
      impl_.redundant_wait[id] = joined_ && !learned_;
      drop_if_last_use(trace_.event_wait.record_id[id]);
    }
    if (item.kind() != Issued::kSync) return;
    drop_if_last_use(trace_.host_sync.record_id[id]);
    const ChainId thread = chain_of_thread(trace_.host_sync.thread_id[id]);
    const size_t joins = chain(thread).joins.size();
    impl_.redundant_sync[id] = joins == joins_before_;
    impl_.sync_version[id] = static_cast<Version>(joins);
    if (joins > joins_before_) returned(thread, trace_.host_sync.end_ns[id]);
  }

  void join_thread(Id stream, Id thread, Ns call_start) {
    const ChainId caller = chain_of_thread(thread);
    if (caller == kNoId) return;
    if (options_.relation == Relation::kObserved) learn_from_threads(caller, call_start);
    const ChainId id = chain_of_stream_[stream];
    Version& handed = handed_[size_t{thread} * impl_.stream_chains + id];
    const Version version = static_cast<Version>(chain(caller).joins.size());
    if (handed == version) return;
    handed = version;
    join_chain(id, caller, trace::kHostEdge);
  }

  void leave(Id stream, const StreamRole& role) {
    if (!role.legacy) return;
    Snapshot& barrier = barriers_[role.context];
    drop(barrier);
    barrier = snapshot(chain_of_stream_[stream]);
  }

  void learn_from_threads(ChainId thread, Ns call_start) {
    while (!returning_.empty() && returning_.top().at_ns <= call_start) {
      Returning next = returning_.top();
      returning_.pop();
      if (join(impl_.host, next.known, trace::kHostEdge, kNoId)) {
        host_versions_.push_back({next.at_ns, snapshot(impl_.host)});
        keep_return(impl_.host_returns, impl_.host, next.at_ns);
        if (host_versions_.size() > kHostVersionsKept) {
          drop(host_versions_.front().known);
          host_versions_.pop_front();
        }
      }
      drop(next.known);
    }
    // Items come in order of return; this call may have begun before earlier items.
    for (auto version = host_versions_.rbegin(); version != host_versions_.rend(); ++version) {
      if (version->from_ns > call_start) continue;
      join(thread, version->known, trace::kHostEdge, kNoId);
      return;
    }
  }

  void join_record(Id stream, Id record, Id wait) {
    if (records_[record].clock == ClockPool::kNone) return;
    joined_ = true;
    learned_ |= join(chain_of_stream_[stream], records_[record], trace::kEventEdge, wait);
  }

  void join_write(Id stream, Id, Id write) {
    const auto found = written_.find(write);
    if (found != written_.end() && found->second.clock != ClockPool::kNone)
      join(chain_of_stream_[stream], found->second, trace::kMemoryEdge, write);
  }

  void place_op(Id op, Id stream, const Issue&) {
    const ChainId id = chain_of_stream_[stream];
    Chain& mine = chain(id);
    mine.position = now_;
    impl_.ops[op] = {id, now_, keep(mine.clock)};
    if (written_.empty()) return;
    if (const auto found = written_.find(op); found != written_.end()) found->second = snapshot(id);
  }

  void place_launch(std::span<const Issued> ops, Id stream, const Issue& issue) {
    for (const Issued op : ops) place_op(op.id(), stream, issue);
  }

  void place_context_record(Id record, Id context, std::span<const Id> streams) {
    const ChainId id = first_context_ + context;
    for (const Id stream : streams) join_chain(id, chain_of_stream_[stream], trace::kEventEdge);
    stand_for(record, id);
  }

  void place_memory(Id call, Id stream) {
    const ChainId id = chain_of_stream_[stream];
    chain(id).position = now_;
    impl_.memory_points[call] = {id, now_, keep(chain(id).clock), kNoId};
  }

  void teach_copy(Id thread, Id stream, Id op, const Issue& issue) {
    const ChainId caller = chain_of_thread(thread);
    if (caller == kNoId) return;
    Snapshot known = snapshot(chain_of_stream_[stream]);
    if (join(caller, known, trace::kHostEdge, op, true)) returned(caller, issue.end_ns);
    drop(known);
  }

  void teach_stream(Id thread_id, Id stream, Id sync) {
    const ChainId thread = chain_of_thread(thread_id), id = chain_of_stream_[stream];
    if (id == kNoId) return;
    const Chain& theirs = chain(id);
    // No change since an op that the thread knows: a cheap check, as a device has many idle
    // streams.
    const bool known = clocks().entry(chain(thread).clock, id) >= theirs.position &&
                       (theirs.joins.empty() || theirs.joins.back().at <= theirs.position);
    if (known) return;
    join_chain(thread, id, trace::kHostEdge, sync);
  }

  // Keeps what the thread knows from the return of a call on.
  void returned(ChainId thread, Ns at_ns) {
    keep_return(impl_.returns[thread - impl_.first_thread], thread, at_ns);
    if (options_.relation == Relation::kObserved) returning_.push({at_ns, snapshot(thread)});
  }

  void join_legacy(Id stream, const StreamRole& role, bool is_new) {
    if (is_new) join(chain_of_stream_[stream], barriers_[role.context], trace::kLegacyEdge, kNoId);
  }
  void join_blocking(Id legacy, const StreamRole&, std::span<const Id> streams) {
    for (const Id stream : streams)
      join_chain(chain_of_stream_[legacy], chain_of_stream_[stream], trace::kLegacyEdge);
  }
  void place_record(Id record, Id stream) { stand_for(record, chain_of_stream_[stream]); }
  void teach_streams(Id thread, Id, bool, std::span<const Id> streams, Id sync) {
    for (const Id stream : streams) teach_stream(thread, stream, sync);
  }
  void teach_record(Id thread, Id record, Id sync) {
    if (records_[record].clock != ClockPool::kNone)
      join(chain_of_thread(thread), records_[record], trace::kHostEdge, sync);
  }

  void use(Id record, uint32_t item) {
    if (record < last_use_.size()) last_use_[record] = item;
  }
  void drop_if_last_use(Id record) {
    if (record < records_.size() && last_use_[record] == static_cast<uint32_t>(now_))
      drop(records_[record]);
  }
  Chain& chain(ChainId id) { return impl_.chains[id]; }
  ClockPool& clocks() { return *impl_.clocks; }
  ChainId chain_of_thread(Id thread) const {
    return thread < trace_.thread.size() ? impl_.first_thread + thread : kNoId;
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
  bool join_chain(ChainId into, ChainId from, trace::EdgeKind kind, Id cause = kNoId) {
    Snapshot news = snapshot(from);
    const bool learned = join(into, news, kind, cause);
    drop(news);
    return learned;
  }
  void stand_for(Id record, ChainId id) {
    if (last_use_[record] != kNoId && last_use_[record] > static_cast<uint32_t>(now_))
      records_[record] = snapshot(id);
  }
  // Keeps the chain's clock for queries if the budget allows.
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
  size_t joins_before_ = 0;                // of the thread of the current synchronization
  bool joined_ = false, learned_ = false;  // the current wait joined a record; learned anything
  std::vector<ChainId> chain_of_stream_;
  std::vector<Snapshot> barriers_;  // per context: after the last item of its legacy stream
  ChainId first_context_ = 0;
  std::vector<Version> handed_;  // per thread and stream chain: version of the thread it knows
  std::vector<Snapshot> records_;
  std::vector<uint32_t> last_use_;  // per record: the last item that needs it
  std::unordered_map<Id, Snapshot> written_;

  // Observed relation: what all threads together know, and what they learn when calls return.
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
  sync_thread.assign(trace.host_sync.thread_id.begin(), trace.host_sync.thread_id.end());
  ClockWalk clocks_of_all(*this, order, options);
  OrderingWalk(order, clocks_of_all).run();
}

}  // namespace streamscope::analysis
