// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "replay.h"

#include <algorithm>
#include <future>
#include <limits>
#include <span>

#include "analysis/order/ordering.h"
#include "analysis/usage/host_syncs.h"
#include "recorder_cost.h"
#include "shared_capacity.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/threads.h"

namespace streamscope::analysis {

using trace::difference_of;
using trace::sum_of;

// Streams, records and contexts store an instant on both clocks: when all of their work has ended.
// It only grows: a change may release work from one barrier that must still wait for the next one.
class Replay::Walk : public OrderingConsumer {
 public:
  /// `recorder`: the recorder's pace on each thread, whose overhead is removed; if empty, calls
  /// take as long as recorded. `readiness` and `runs`, if given, have one element per op.
  Walk(const Replay& replay, const Change& change, std::span<const double> recorder,
       std::vector<Readiness>* readiness = nullptr, std::vector<PredictedRun>* runs = nullptr)
      : Walk(replay.order_, replay.pauses_, change, recorder, readiness, runs) {}

  Walk(const IssueOrder& order, const HostPauses* pauses, const Change& change,
       std::span<const double> recorder, std::vector<Readiness>* readiness,
       std::vector<PredictedRun>* runs)
      : order_(order),
        pauses_(pauses),
        trace_(order.trace()),
        change_(change),
        readiness_(readiness),
        runs_(runs),
        streams_(trace_.stream.size()),
        contexts_(trace_.context.size()),
        threads_(trace_.thread.size()),
        records_(trace_.event_record.size()),
        engines_(trace_.device.size() * kEngines),
        shares_(trace_),
        stamps_(trace_.device.size()) {
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      Stream& state = streams_[stream];
      if (trace_.stream.context_id[stream] >= contexts_.size()) continue;
      state.device = trace_.device_of_stream(stream);
      state.spread = change.spread_stream.has(stream);
      state.recorded = !recorder.empty() && has_real_clock(trace_.process_of_stream(stream));
    }
    for (Id thread = 0; thread < recorder.size(); ++thread)
      threads_[thread].recorder = recorder[thread];
    for (const auto& [wait, write] : order.writers()) written_[write] = {};
    for (const auto& [sync, op] : change.narrowed_sync) awaited_[op] = {};
    for (const auto& [op, others] : change.held_only_by) {
      for (const Id other : others) awaited_[other] = {};
    }
    const auto& syncs = trace_.host_sync;
    for (Id sync = 0; sync < syncs.size(); ++sync) {
      if (is_query(syncs.kind[sync]) && syncs.result[sync] == trace::kResultNotReady &&
          syncs.thread_id[sync] < threads_.size()) {
        threads_[syncs.thread_id[sync]].polls.push_back(syncs.start_ns[sync]);
      }
    }
    for (Thread& thread : threads_) std::sort(thread.polls.begin(), thread.polls.end());
  }

  /// Stores when these ops end.
  void watch(const Marks& wanted, std::unordered_map<Id, Ns>& ends) {
    wanted_ = &wanted;
    ends_ = &ends;
  }

  void run(size_t items = std::numeric_limits<size_t>::max()) {
    OrderingWalk(order_, *this).run(items);
    for (const Thread& thread : threads_) {
      if (thread.began) saw(thread.free.was, thread.free.now);
    }
  }
  Ns recorded_ns() const { return first_ == kUnknownNs ? 0 : difference_of(last_.was, first_); }
  Ns gain_ns() const { return first_ == kUnknownNs ? 0 : difference_of(last_.was, last_.now); }

 private:
  friend OrderingWalk<Walk>;
  enum { kToDevice, kToHost, kProcessors, kEngines };
  struct Engine {
    SharedCapacity was, now;
  };

  struct Stream {
    Id device = kNoId;
    bool recorded = false;               // the recorder's overhead on its copies is removed
    bool spread = false;                 // its work runs on two streams
    Twin done;                           // when all its work so far has ended
    Ns joined_now = kNever;              // if spread: what both streams wait for,
    Ns lanes_now[2] = {kNever, kNever};  // and when each is free
  };
  struct Context {
    Twin blocking, legacy;  // all work of blocking streams; the newest item of the legacy stream
    Twin all;
  };
  struct Thread {
    bool began = false;
    double recorder = 0;   // the recorder's pace; its overhead is removed
    Twin free;             // when its last call returned
    Ns call_was = kNever;  // entry of that call, and the same with the change
    Ns call_now = kNever;
    Ns floor_now = kNever;    // its work runs after this: syncs moved to the device
    std::vector<Ns> polls{};  // "not ready" queries
  };

  void saw(Ns was, Ns now) {
    last_.was = std::max(last_.was, was);
    last_.now = std::max(last_.now, now);
  }
  void began(Ns was) {
    if (first_ == kUnknownNs || was < first_) first_ = was;
  }

  bool has_real_clock(Id process) const {
    return process < trace_.process.size() && trace_.process.clock[process] != trace::kVirtualClock;
  }
  // The recorder's share of a host time.
  static Ns less(const Thread& host, Ns time, Ns recorder) {
    return std::clamp<Ns>(time, 0, paced(host, recorder));
  }
  static Ns paced(const Thread& host, Ns recorder) {
    return static_cast<Ns>(host.recorder * static_cast<double>(recorder));
  }

  Ns cut(Id thread, Ns from, Ns to) const {
    return change_.cuts.empty() ? 0 : change_.cuts.cut_ns(thread, from, to);
  }

  // When a thread went on outside CUDA before a call: after its last one, or when another thread
  // that worked meanwhile handed over to it.
  Twin resumes_from(Id thread, const Thread& host, Ns start) const {
    if (pauses_ == nullptr || difference_of(start, host.free.was) < kLeastPauseNs) return host.free;
    const HostPause* pause = pauses_->ended_at(thread, start);
    if (pause == nullptr || pause->by_thread == kNoId) return host.free;
    const Thread& other = threads_[pause->by_thread];
    if (!other.began) return host.free;
    const Ns handed_over = pause->handed_over_ns;
    // Not before its own last call has returned.
    return {handed_over,
            std::max(sum_of(other.free.now, difference_of(handed_over, other.free.was)),
                     host.free.now)};
  }

  // The thread enters a call. Returns when it does with the change. `made`: it still makes the
  // call.
  Ns enter(Id thread, Ns start, Ns end, bool made = true, Ns saved = 0) {
    began(start);
    if (thread >= threads_.size()) {
      saw(end, end);
      return start;
    }
    Thread& host = threads_[thread];
    if (!host.began) {
      host.began = true;
      host.free = {start, start};
    }
    if (start == host.call_was && end == host.free.was) return host.call_now;  // the same call
    const Twin from = resumes_from(thread, host, start);
    const Ns gap = difference_of(start, from.was) - cut(thread, from.was, start);
    const Ns entry = sum_of(from.now, gap - less(host, gap, kRecorderBetweenNs));
    host.call_was = start;
    host.call_now = entry;
    const Ns whole = difference_of(end, start) - cut(thread, start, end);
    const Ns took = whole - less(host, whole, kRecorderInsideNs);
    host.free = {end, made ? sum_of(entry, std::max<Ns>(0, took - saved)) : entry};
    return entry;
  }
  // The call returns only after `until`.
  void held_until(Id thread, Ns end, const Twin& until) {
    if (thread >= threads_.size()) return;
    Thread& host = threads_[thread];
    const Ns tail = std::max<Ns>(0, difference_of(end, std::max(host.call_was, until.was)));
    host.free.now =
        sum_of(std::max(host.call_now, until.now), tail - less(host, tail, kRecorderInsideNs));
  }

  // The next item of the order, and whether it is still a barrier if it is on a legacy stream.
  void begin(size_t, Issued item) {
    const Id id = item.id();
    held_ = staged_ = {};
    switch (item.kind()) {
      case Issued::kOp:
        barrier_ = !change_.no_barrier_op.has(id);
        break;
      case Issued::kRecord: {
        const auto& rows = trace_.event_record;
        barrier_ = !change_.no_barrier_record.has(id);
        called_now_ = enter(rows.thread_id[id], rows.start_ns[id], rows.end_ns[id], true,
                            change_.untimed_record.has(id) ? kTimedRecordCallNs : 0);
        break;
      }
      case Issued::kWait: {
        const auto& rows = trace_.event_wait;
        barrier_ = !change_.no_barrier_wait.has(id);
        enter(rows.thread_id[id], rows.start_ns[id], rows.end_ns[id],
              !change_.without_wait.has(id));
        break;
      }
      default:
        barrier_ = true;
        break;
    }
  }
  Twin unless_released(const Twin& barrier) const {
    return {barrier.was, barrier_ ? barrier.now : kNever};
  }
  void join_legacy(Id stream, const StreamRole& role, bool) {
    hold(streams_[stream], contexts_[role.context].legacy);
  }
  void join_blocking(Id legacy, const StreamRole& role, std::span<const Id>) {
    hold(streams_[legacy], unless_released(contexts_[role.context].blocking));
  }
  // The threads' clocks cover what they wait for; this covers what the device waits for instead.
  void join_thread(Id stream, Id thread, Ns) {
    if (thread >= threads_.size() || threads_[thread].floor_now == kNever) return;
    held_.now = threads_[thread].floor_now;
    hold(streams_[stream], {kNever, held_.now});
  }
  void join_record(Id stream, Id record, Id wait) {
    hold(streams_[stream],
         {records_[record].was, change_.without_wait.has(wait) ? kNever : records_[record].now});
  }
  void join_write(Id, Id, Id write) {
    if (const auto found = written_.find(write); found != written_.end())
      held_.wait_for(found->second);
  }
  void leave(Id id, const StreamRole& role) {
    if (role.context == kNoId) return;
    Context& context = contexts_[role.context];
    const Twin& done = streams_[id].done;
    if (role.blocking) context.blocking.wait_for(done);
    if (role.legacy) context.legacy.wait_for(unless_released(done));
    context.all.wait_for(done);
  }
  // Later work of the stream waits for this.
  static void hold(Stream& stream, const Twin& until) {
    stream.done.wait_for(until);
    stream.joined_now = std::max(stream.joined_now, until.now);
  }
  // What the next op of a stream waits for.
  Twin holds(Id op, const Stream& stream) const {
    Twin held = stream.done;
    if (stream.spread)
      held.now = std::max(stream.joined_now, std::min(stream.lanes_now[0], stream.lanes_now[1]));
    if (const auto only = change_.held_only_by.find(op); only != change_.held_only_by.end()) {
      held.now = change_.beside_op.has(op) ? stream.joined_now : kNever;
      for (const Id other : only->second) held.now = std::max(held.now, awaited_.at(other).now);
    }
    return held;
  }

  // The device resource that an op uses: multiprocessors or a copy engine.
  struct Demand {
    Engine* engine = nullptr;  // null: it needs no capacity
    Share share;
    Twin priority;
    bool in_turn = false;  // scheduled by order, not by free capacity
    Ns start = 0;

    Ns room_was(Ns from) const {
      return engine ? first_room(engine->was, from, share.was, priority.was) : from;
    }
    Ns room_now(Ns from) const {
      return engine ? first_room(engine->now, from, share.now, priority.now) : from;
    }
    void use(Ns end, const Twin& begin, const Twin& stop) const {
      if (!engine) return;
      engine->was.use({start, end, priority.was, start, share.was});
      engine->now.use({begin.now, stop.now, priority.now, start, share.now});
    }

   private:
    Ns first_room(const SharedCapacity& room, Ns from, double part, Ns urgent) const {
      return in_turn ? room.turn(from, part, start) : room.room(from, part, urgent);
    }
  };

  Demand demand_of(Id op, Id id, Id device) {
    const trace::Small kind = trace_.op.kind[op], direction = trace_.op.detail[op];
    Demand demand;
    if (device < trace_.device.size()) {
      if (kind == trace::kKernel) {
        demand.engine = &engines_[device * kEngines + kProcessors];
        const double of_device = shares_.of(trace_.op.launch_shape_id[op], device);
        demand.share = {of_device, of_device};
      } else if (kind == trace::kMemcpy &&
                 (direction == CopyKind::kHostToDevice || direction == CopyKind::kDeviceToHost)) {
        demand.engine = &engines_[device * kEngines +
                                  (direction == CopyKind::kHostToDevice ? kToDevice : kToHost)];
        demand.share = {1, 1.0 / (1 + change_.more_copy_engines)};
      }
    }
    const Ns urgency =
        trace_.stream.priority[id] == trace::kNoSmall ? 0 : trace_.stream.priority[id];
    demand.priority = {urgency, change_.prompt_op.has(op) ? kMostUrgent : urgency};
    demand.in_turn = kind == trace::kMemcpy;
    demand.start = trace_.op.start_ns[op];
    return demand;
  }

  void place_op(Id op, Id id, const Issue& issue) {
    if (issue.start_ns == kUnknownNs) return;
    Stream& stream = streams_[id];
    const bool timed = is_timed(trace_, op);
    const bool made = !change_.without_op.has(op);
    const Ns entry = enter(issue.thread_id, issue.start_ns, issue.end_ns, made,
                           timed ? recorder_of_issue(issue) : 0);
    Twin held = holds(op, stream);
    held.wait_for(held_);
    if (!made) {
      const Ns done_now = std::max(held.now, entry);
      const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
      if (timed) demand_of(op, id, stream.device).use(end, {start, done_now}, {end, done_now});
      predict(op, done_now, done_now);
      finish(op, stream, {timed ? end : held.was, done_now});
      return;
    }
    if (!timed) {
      finish(op, stream, held);
      return;
    }
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    const Ns latency = std::clamp<Ns>(difference_of(start, issue.start_ns), 0, kLaunchLatencyNs);
    const Twin launched{issue.start_ns + latency,
                        sum_of(entry, latency - std::min(latency, recorder_of_issue(issue)))};
    held = {sum_of(held.was, kSuccessorGapNs), sum_of(held.now, kSuccessorGapNs)};
    Twin ordered = launched;
    ordered.wait_for(held);
    if (stream.device < stamps_.size()) stamps_[stream.device].delay(ordered);

    const Demand demand = demand_of(op, id, stream.device);
    const Ns start_now = start_of(op, demand, launched, held, ordered);
    const Ns recorder = stream.recorded ? recorder_of_copy(trace_, op) : 0;
    const Ns lasts = length_with_change(op, end - start - recorder);
    const Twin begin{start, start_now}, stop{end, sum_of(start_now, lasts)};
    predict(op, begin.now, stop.now);
    demand.use(end, begin, stop);
    launch_shift_ = difference_of(start, start_now);
    finish(op, stream, stop);
    let_host_go_on(op, issue, entry, stop);
  }

  // When the op starts with the change. `ordered`: when nothing ahead delays it, the later of
  // `launched` and `held`.
  Ns start_of(Id op, const Demand& demand, const Twin& launched, const Twin& held,
              const Twin& ordered) {
    const Ns start = demand.start, ready_was = demand.room_was(ordered.was);
    Ns lag = difference_of(start, ready_was);
    if (ready_was == ordered.was) lag = std::max(lag, -kSuccessorGapNs);
    if (readiness_) {  // both clocks agree
      (*readiness_)[op] = {std::min(ordered.was, start), std::min(ready_was, start)};
      return start;
    }
    if (change_.graph_op.has(op))
      return demand.room_now(std::max(launched.now, held.now - kSuccessorGapNs));
    if (change_.starts_at_once(op))
      return sum_of(demand.room_now(ordered.now), std::min<Ns>(lag, 0));
    if (lag > 0 && ready_was == ordered.was) {
      // The lag after the launch does not apply after work ahead in the stream, and vice versa.
      return demand.room_now(launched.was >= held.was
                                 ? std::max(sum_of(launched.now, lag), held.now)
                                 : std::max(launched.now, sum_of(held.now, lag)));
    }
    return sum_of(demand.room_now(ordered.now), lag);
  }

  // Synchronous copies, and asynchronous ones that the driver had to make synchronous, block the
  // calling thread.
  void let_host_go_on(Id op, const Issue& issue, Ns entry, const Twin& stop) {
    if (issue.thread_id >= threads_.size()) return;
    const bool copies = is_memory_operation(trace_.op.kind[op]);
    if (change_.async_op.has(op)) {
      threads_[issue.thread_id].free.now =
          sum_of(entry, std::min(kCopyCallNs, difference_of(issue.end_ns, issue.start_ns)));
    } else if (change_.page_locked_op.has(op)) {
      held_until(issue.thread_id, issue.end_ns, {issue.end_ns, sum_of(stop.now, kCopyCallNs)});
    } else if (copies && trace_.op.end_ns[op] <= issue.end_ns) {
      held_until(issue.thread_id, issue.end_ns, stop);
    } else if (staged_.was != kNever && staged_.was <= issue.end_ns) {
      held_until(issue.thread_id, issue.end_ns, staged_);
    }
  }

  Ns length_with_change(Id op, Ns recorded) const {
    if (change_.instant_op.has(op)) return 0;
    const auto length = change_.length_ns.find(op);
    return length == change_.length_ns.end() ? recorded : length->second;
  }

  // Graph nodes keep their position in the launch, but those that take no time are done at once.
  void place_launch(std::span<const Issued> nodes, Id id, const Issue& issue) {
    launch_shift_ = 0;
    place_op(nodes.front().id(), id, issue);
    const Ns launched = trace_.op.start_ns[nodes.front().id()];
    for (const Issued node : nodes.subspan(1)) {
      const Id op = node.id();
      if (trace_.op.graph_node[op] == trace::kNoInt) {
        place_op(op, id, issue);
        continue;
      }
      if (!is_timed(trace_, op)) continue;
      const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
      const bool instant = change_.instant_op.has(op);
      const Ns start_now = difference_of(instant ? launched : start, launch_shift_);
      const Ns end_now = instant ? start_now : difference_of(end, launch_shift_);
      predict(op, start_now, end_now);
      finish(op, streams_[id], {end, end_now});
    }
  }

  void predict(Id op, Ns start, Ns end) {
    if (runs_) (*runs_)[op] = {start, end};
    if (ends_ && wanted_->has(op)) (*ends_)[op] = end;
  }

  void finish(Id op, Stream& stream, const Twin& stop) {
    stream.done.wait_for(stop);
    if (change_.held_only_by.contains(op) && !change_.beside_op.has(op)) {
      stream.done.now = stop.now;
      stream.joined_now = kNever;
    }
    if (stream.spread) *std::min_element(stream.lanes_now, stream.lanes_now + 2) = stop.now;
    if (stop.was != kNever) {
      began(stop.was);
      saw(stop.was, stop.now);
    }
    if (!written_.empty()) {
      if (const auto found = written_.find(op); found != written_.end()) found->second = stop;
    }
    if (!awaited_.empty()) {
      if (const auto found = awaited_.find(op); found != awaited_.end()) found->second = stop;
    }
  }

  void place_record(Id record, Id id) {
    Stream& stream = streams_[id];
    // Readiness shows what an op waited for, not what slowed the device down.
    if (readiness_ == nullptr && stream.device < stamps_.size() &&
        takes_time_stamp(trace_, record)) {
      stamps_[stream.device].take(stream.done, {trace_.event_record.start_ns[record], called_now_},
                                  !change_.untimed_record.has(record));
    }
    records_[record] = stream.done;
  }
  void place_context_record(Id record, Id context, std::span<const Id>) {
    records_[record] = contexts_[context].all;
  }

  // A synchronous copy blocks its call until it ends, if the times show that; if it may still be
  // running, until the work before it has ended.
  void teach_copy(Id, Id stream, Id, const Issue&) { staged_ = streams_[stream].done; }
  void teach_streams(Id, Id context, bool all, std::span<const Id>, Id) {
    held_.wait_for(all ? contexts_[context].all : contexts_[context].blocking);
  }
  void teach_stream(Id, Id stream, Id) { held_.wait_for(streams_[stream].done); }
  void teach_record(Id, Id record, Id) { held_.wait_for(records_[record]); }
  void end(Issued item) {
    if (item.kind() == Issued::kSync) synchronize(item.id(), held_);
  }

  void synchronize(Id sync, Twin until) {
    const auto& rows = trace_.host_sync;
    const Id thread = rows.thread_id[sync];
    const bool made = !change_.without_sync.has(sync);
    Thread& host = threads_[thread];
    const Twin before = host.free;
    const Ns entry = enter(thread, rows.start_ns[sync], rows.end_ns[sync], made);
    if (!made) return;
    if (is_query(rows.kind[sync])) {
      // A thread that polled "not ready" before was waiting as in a synchronization; otherwise it
      // does not wait.
      const auto poll = std::lower_bound(host.polls.begin(), host.polls.end(), before.was);
      if (poll == host.polls.end() || *poll >= rows.start_ns[sync]) return;
      const Ns asked_now = sum_of(before.now, difference_of(*poll, before.was));
      const Ns answered = difference_of(rows.end_ns[sync], std::max(*poll, until.was));
      host.free.now = sum_of(std::max(asked_now, until.now), std::max<Ns>(0, answered));
      return;
    }
    if (change_.deferred_sync.has(sync)) {
      host.floor_now = std::max(host.floor_now, until.now);
      host.free.now = sum_of(
          entry, std::min(kRecordAndWaitNs, difference_of(rows.end_ns[sync], rows.start_ns[sync])));
      return;
    }
    if (const auto op = change_.narrowed_sync.find(sync); op != change_.narrowed_sync.end()) {
      host.floor_now = std::max(host.floor_now, until.now);
      until.now = awaited_[op->second].now;
    }
    held_until(thread, rows.end_ns[sync], until);
  }

  // Recording the work of a call and its times makes that call longer.
  Ns recorder_of_issue(const Issue& issue) const {
    return issue.thread_id < threads_.size() ? paced(threads_[issue.thread_id], kRecorderIssueNs)
                                             : 0;
  }

  static constexpr Ns kMostUrgent = -1'000;
  static constexpr Ns kRecordAndWaitNs = 500;
  static constexpr Ns kCopyCallNs = 1'300;

  const IssueOrder& order_;
  const HostPauses* pauses_;
  const Trace& trace_;
  const Change& change_;
  std::vector<Readiness>* readiness_;
  std::vector<PredictedRun>* runs_;
  const Marks* wanted_ = nullptr;
  std::unordered_map<Id, Ns>* ends_ = nullptr;
  std::vector<Stream> streams_;
  std::vector<Context> contexts_;
  std::vector<Thread> threads_;
  std::vector<Twin> records_;
  std::vector<Engine> engines_;
  DeviceShares shares_;
  std::unordered_map<Id, Twin> written_, awaited_;
  std::vector<Stamps> stamps_;  // by device
  // State of the current item:
  bool barrier_ = true;
  Twin held_;            // what an op waits for beyond its stream; what a synchronization waits for
  Twin staged_;          // what the call of a copy that may still run waited for
  Ns called_now_ = 0;    // when a record is called, with the change
  Ns launch_shift_ = 0;  // how much earlier a launch begins with the change
  Ns first_ = kUnknownNs;
  Twin last_;
};

Replay::Replay(const IssueOrder& order, const HostPauses* pauses)
    : order_(order), pauses_(pauses), readiness_(order.trace().op.size()) {
  const Change nothing;
  const auto walk_recorded = [&] {
    Walk recorded(*this, nothing, {}, &readiness_);
    recorded.run();
    recorded_ns_ = recorded.recorded_ns();
  };
  const auto& clocks = order.trace().process.clock;
  if (std::all_of(clocks.begin(), clocks.end(),
                  [](trace::Small clock) { return clock == trace::kVirtualClock; })) {
    walk_recorded();
    return;
  }
  std::future<void> recorded = run_beside(walk_recorded, worth_threads(order.trace()));
  recorder_paces_ = recorder_paces(order);
  Walk unrecorded(*this, nothing, recorder_paces_);
  unrecorded.run();
  recorder_ns_ = unrecorded.gain_ns();
  recorded.get();
}

Ns Replay::gain_ns(const Change& change) const {
  Walk walk(*this, change, recorder_paces_);
  walk.run();
  return difference_of(walk.gain_ns(), recorder_ns_);
}

std::vector<PredictedRun> Replay::predict(const Change& change) const {
  std::vector<PredictedRun> runs(readiness_.size());
  Walk(*this, change, {}, nullptr, &runs).run();
  return runs;
}

std::vector<Ns> Replay::predict_ends(const Change& change, std::span<const Id> ops) const {
  Marks wanted;
  for (const Id op : ops) wanted.add(op);
  // Nothing that is issued later moves them.
  const std::span<const Issued> items = order_.items();
  size_t count = items.size();
  while (count > 0 &&
         !(items[count - 1].kind() == Issued::kOp && wanted.has(items[count - 1].id())))
    --count;
  std::unordered_map<Id, Ns> ends;
  for (const Id op : ops) ends[op] = kUnknownNs;
  Walk walk(*this, change, recorder_paces_);
  walk.watch(wanted, ends);
  walk.run(count);
  std::vector<Ns> result;
  for (const Id op : ops) result.push_back(ends[op]);
  return result;
}

Ns Replay::lag_ns(Id op) const {
  const Ns ready = readiness_[op].ready_ns;
  return trace::between(ready, order_.trace().op.start_ns[op]);
}

}  // namespace streamscope::analysis
