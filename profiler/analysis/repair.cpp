// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace streamscope::analysis {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::min() / 2;  // before everything

// An instant on both clocks: as recorded, and with the change.
struct Twin {
  Ns was = kNever, now = kNever;
  void wait_for(const Twin& other) {
    was = std::max(was, other.was);
    now = std::max(now, other.now);
  }
};

// Something that several ops share. It remembers the last few users: more than run at once.
class Resource {
 public:
  // The first instant from `at` on, on both clocks, at which `share` of it is free. What runs at
  // `at` is never interrupted; what would start later is passed by if it is less urgent. CUDA's
  // priorities: lower is more urgent.
  Twin room(Twin at, double share, Twin priority) const {
    if (count_ == 0) return at;
    return {room_on(&Twin::was, at.was, share, priority.was),
            room_on(&Twin::now, at.now, share, priority.now)};
  }
  void use(const Twin& start, const Twin& end, double share, Twin priority) {
    users_[next_] = {start, end, priority, share};
    next_ = (next_ + 1) % kUsers;
    count_ = std::min(count_ + 1, kUsers);
  }

 private:
  static constexpr size_t kUsers = 64;
  static constexpr double kRounding = 1e-6;

  Ns room_on(Ns Twin::*clock, Ns at, double share, Ns priority) const {
    const Ns ready = at;
    for (;;) {
      double used = 0;
      Ns first_end = std::numeric_limits<Ns>::max();
      for (size_t i = 0; i < count_; ++i) {
        const User& user = users_[i];
        if (user.start.*clock > at || user.end.*clock <= at) continue;
        if (user.start.*clock > ready && user.priority.*clock > priority) continue;
        used += user.share;
        first_end = std::min(first_end, user.end.*clock);
      }
      if (used == 0 || used + share <= 1 + kRounding) return at;
      at = first_end;
    }
  }

  struct User {
    Twin start, end, priority;
    double share;
  };
  std::array<User, kUsers> users_;
  size_t next_ = 0, count_ = 0;
};

// How much of a device a kernel fills: by its blocks, and how many of them a multiprocessor holds.
double share_of_device(const Trace& trace, Id op, Id device) {
  const Id shape = trace.op.launch_shape_id[op];
  if (shape >= trace.launch_shape.size() || device >= trace.device.size()) return 0;
  const auto& shapes = trace.launch_shape;
  const auto known = [](auto value, double otherwise) {
    return value > 0 ? static_cast<double>(value) : otherwise;
  };
  // Of every GPU since Ampere; only their order of magnitude matters.
  constexpr double kThreads = 2048, kBlocks = 32, kRegisters = 65536, kSharedBytes = 227 << 10;
  constexpr double kSimulatedThreads = 128;  // coord::KernelSpec: the simulator tells no block
  const bool simulated = trace.device.simulated[device] == 1;
  const double threads = simulated
                             ? kSimulatedThreads
                             : known(shapes.block_x[shape], 1) * known(shapes.block_y[shape], 1) *
                                   known(shapes.block_z[shape], 1);
  const double blocks = known(shapes.grid_x[shape], 1) * known(shapes.grid_y[shape], 1) *
                        known(shapes.grid_z[shape], 1);
  double held = std::min(kBlocks, kThreads / threads);
  if (shapes.registers[shape] > 0)
    held = std::min(held, kRegisters / (threads * static_cast<double>(shapes.registers[shape])));
  const double shared =
      known(shapes.static_shared_bytes[shape], 0) + known(shapes.dynamic_shared_bytes[shape], 0);
  if (shared > 0) held = std::min(held, kSharedBytes / shared);
  held = std::max(1.0, std::floor(held));
  const double processors = known(trace.device.sm_count[device], 132);
  return std::min(1.0, blocks / (processors * held));
}

}  // namespace

class RepairReplay::Walk {
 public:
  Walk(const IssueOrder& order, const Repair& change, std::vector<Readiness>* readiness)
      : order_(order),
        trace_(order.trace()),
        change_(change),
        readiness_(readiness),
        streams_(trace_.stream.size()),
        contexts_(trace_.context.size()),
        threads_(trace_.thread.size()),
        records_(trace_.event_record.size()),
        engines_(trace_.device.size() * kEngines) {
    for (Id stream = 0; stream < streams_.size(); ++stream) {
      Stream& state = streams_[stream];
      state.context = trace_.stream.context_id[stream];
      if (state.context >= contexts_.size()) continue;
      state.device = trace_.device_of_stream(stream);
      const auto kind = trace_.stream.kind[stream];
      state.legacy = kind == trace::kLegacyStream;
      state.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
    }
    for (const Issued item : order.items()) {
      if (item.kind() != Issued::kOp) continue;
      if (const Id writer = order.writer_of(item.id()); writer != kNoId) written_[writer] = {};
    }
    for (const auto& [sync, op] : change.narrowed_sync) awaited_[op] = {};
    const auto& syncs = trace_.host_sync;
    for (Id sync = 0; sync < syncs.size(); ++sync) {
      if (is_query(syncs.kind[sync]) && syncs.result[sync] == trace::kResultNotReady &&
          syncs.thread_id[sync] < threads_.size()) {
        threads_[syncs.thread_id[sync]].polls.push_back(syncs.start_ns[sync]);
      }
    }
    for (Thread& thread : threads_) std::sort(thread.polls.begin(), thread.polls.end());
  }

  void run() {
    for (const Issued item : order_.items()) item.tell(*this);
    for (const Thread& thread : threads_) {
      if (thread.began) saw(thread.free.was, thread.free.now);
    }
  }
  Ns recorded_ns() const { return first_ == kUnknownNs ? 0 : last_.was - first_; }
  Ns gain_ns() const { return first_ == kUnknownNs ? 0 : last_.was - last_.now; }

 private:
  friend Issued;
  void on_memory(Id) {}  // takes no time
  enum { kToDevice, kToHost, kProcessors, kEngines };

  struct Stream {
    Id context = kNoId, device = kNoId;
    bool legacy = false, blocking = false;
    Twin done;            // when all it holds so far has ended
    Id launch = kNoId;    // call of its newest graph launch
    Ns launch_shift = 0;  // how much earlier that began with the change
  };
  struct Context {
    Twin blocking, legacy;  // all work of blocking streams; the newest item of the legacy stream
    Twin all;
  };
  struct Thread {
    bool began = false;
    Twin free;             // when it is done with its last call
    Ns call_was = kNever;  // entry of that call, and the same with the change
    Ns call_now = kNever;
    Ns floor_now = kNever;    // what it issues runs after this: syncs that the device does instead
    std::vector<Ns> polls{};  // when it asked in vain
  };

  static bool is_query(trace::Small kind) {
    return kind == trace::kEventQuery || kind == trace::kStreamQuery;
  }
  void saw(Ns was, Ns now) {
    last_.was = std::max(last_.was, was);
    last_.now = std::max(last_.now, now);
  }
  void began(Ns was) {
    if (first_ == kUnknownNs || was < first_) first_ = was;
  }

  // The thread enters a call; when, with the change. `made`: it still makes the call.
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
    const Ns entry = host.free.now + (start - host.free.was);
    host.call_was = start;
    host.call_now = entry;
    host.free = {end, made ? entry + std::max<Ns>(0, end - start - saved) : entry};
    return entry;
  }
  // The call returns only when something else has happened.
  void held_until(Id thread, Ns end, const Twin& until) {
    if (thread >= threads_.size()) return;
    Thread& host = threads_[thread];
    const Ns tail = std::max<Ns>(0, end - std::max(host.call_was, until.was));
    host.free.now = std::max(host.call_now, until.now) + tail;
  }

  // Something takes its place in a stream.
  void join_context(Stream& stream, bool barrier) {
    if (stream.context >= contexts_.size()) return;
    Context& context = contexts_[stream.context];
    if (stream.blocking) stream.done.wait_for(context.legacy);
    if (stream.legacy) {
      const Ns alone = stream.done.now;
      stream.done.wait_for(context.blocking);
      if (!barrier) stream.done.now = alone;
    }
  }
  void leave_context(const Stream& stream, bool barrier) {
    if (stream.context >= contexts_.size()) return;
    Context& context = contexts_[stream.context];
    if (stream.blocking) context.blocking.wait_for(stream.done);
    if (stream.legacy) {
      const Ns before = context.legacy.now;
      context.legacy.wait_for(stream.done);
      if (!barrier) context.legacy.now = before;
    }
    context.all.wait_for(stream.done);
  }

  void on_op(Id op) {
    const Id id = order_.stream(op);
    const Issue issue = order_.issue(op);
    if (id >= streams_.size() || issue.start_ns == kUnknownNs) return;
    Stream& stream = streams_[id];
    const bool timed = is_timed(trace_, op);
    const Id call = trace_.op.api_call_id[op];
    if (trace_.op.graph_node[op] != trace::kNoInt && call != kNoId) {
      if (call == stream.launch) {
        // Nodes of a launch keep their place in it.
        if (timed)
          finish(op, stream, {trace_.op.end_ns[op], trace_.op.end_ns[op] - stream.launch_shift});
        return;
      }
      stream.launch = call;
    }
    const Ns entry = enter(issue.thread_id, issue.start_ns, issue.end_ns);
    const bool barrier = !change_.no_barrier_op.has(op);
    join_context(stream, barrier);
    Twin held = stream.done;
    if (const auto writer = written_.find(order_.writer_of(op)); writer != written_.end())
      held.wait_for(writer->second);
    if (issue.thread_id < threads_.size())
      held.now = std::max(held.now, threads_[issue.thread_id].floor_now);
    if (!timed) {
      finish(op, stream, held);
      leave_context(stream, barrier);
      return;
    }
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    const Ns latency = std::clamp<Ns>(start - issue.start_ns, 0, kLaunchLatencyNs);
    const Twin launched{issue.start_ns + latency, entry + latency};
    held = {held.was + kSuccessorGapNs, held.now + kSuccessorGapNs};
    Twin ready = launched;
    ready.wait_for(held);
    const Twin ordered = ready;

    const auto length = change_.length_ns.find(op);
    const Ns lasts = length == change_.length_ns.end() ? end - start : length->second;
    Resource* resource = nullptr;
    double share = 0;
    if (stream.device < trace_.device.size()) {
      if (trace_.op.kind[op] == trace::kKernel) {
        resource = &engines_[stream.device * kEngines + kProcessors];
        share = share_of_device(trace_, op, stream.device);
      } else if (trace_.op.kind[op] == trace::kMemcpy &&
                 (trace_.op.detail[op] == 1 || trace_.op.detail[op] == 2)) {
        resource =
            &engines_[stream.device * kEngines + (trace_.op.detail[op] == 1 ? kToDevice : kToHost)];
        share = 1;
      }
    }
    const Ns urgency =
        trace_.stream.priority[id] == trace::kNoSmall ? 0 : trace_.stream.priority[id];
    const Twin priority{urgency, change_.prompt_op.has(op) ? kMostUrgent : urgency};
    if (resource) ready = resource->room(ready, share, priority);
    Ns lag = start - ready.was;
    if (readiness_) (*readiness_)[op] = {std::min(ordered.was, start), std::min(ready.was, start)};
    if (lag > 0) lag -= std::min(lag, stamps_within(ready.was, start));
    Ns start_now = ready.now + lag;
    if (lag > 0 && ready.was == ordered.was) {
      // What came after the launch need not come after what is ahead in the stream, and vice versa.
      Twin late = ordered;
      late.now = launched.was >= held.was ? std::max(launched.now + lag, held.now)
                                          : std::max(launched.now, held.now + lag);
      start_now = resource ? resource->room(late, share, priority).now : late.now;
    }
    if (change_.prompt_op.has(op)) start_now = ready.now + std::min<Ns>(lag, 0);
    const Twin begin{start, start_now}, stop{end, start_now + lasts};
    if (resource) resource->use(begin, stop, share, priority);
    stream.launch_shift = start - start_now;
    finish(op, stream, stop);
    leave_context(stream, barrier);
    // Synchronous copies, and asynchronous ones that the driver could only make synchronously.
    const bool copies =
        trace_.op.kind[op] == trace::kMemcpy || trace_.op.kind[op] == trace::kMemset;
    if (copies && end <= issue.end_ns && issue.thread_id < threads_.size()) {
      if (change_.async_op.has(op)) {
        threads_[issue.thread_id].free.now = entry + kCopyCallNs;
      } else {
        held_until(issue.thread_id, issue.end_ns, stop);
      }
    } else if (change_.async_op.has(op) && issue.thread_id < threads_.size()) {
      threads_[issue.thread_id].free.now =
          entry + std::min(kCopyCallNs, issue.end_ns - issue.start_ns);
    }
  }

  void finish(Id op, Stream& stream, const Twin& stop) {
    stream.done.wait_for(stop);
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

  void on_record(Id record) {
    const auto& rows = trace_.event_record;
    const bool untimed = change_.untimed_record.has(record);
    enter(rows.thread_id[record], rows.start_ns[record], rows.end_ns[record], true,
          untimed ? kTimedRecordCallNs : 0);
    const Id id = rows.stream_id[record];
    if (id >= streams_.size()) {
      const Id event = rows.event_id[record];
      const Id context = event < trace_.event.size() ? trace_.event.context_id[event] : kNoId;
      if (context < contexts_.size()) records_[record] = contexts_[context].all;
      return;
    }
    Stream& stream = streams_[id];
    const bool barrier = !change_.no_barrier_record.has(record);
    join_context(stream, barrier);
    leave_context(stream, barrier);
    records_[record] = stream.done;
    if (untimed) stamps_.push_back(std::max(stream.done.was, rows.start_ns[record]));
  }

  void on_wait(Id wait) {
    const auto& rows = trace_.event_wait;
    const bool made = !change_.without_wait.has(wait);
    enter(rows.thread_id[wait], rows.start_ns[wait], rows.end_ns[wait], made);
    const Id record = rows.record_id[wait], id = rows.stream_id[wait];
    if (record >= records_.size()) return;
    if (id >= streams_.size()) return;
    Stream& stream = streams_[id];
    const bool barrier = !change_.no_barrier_wait.has(wait);
    join_context(stream, barrier);
    const Ns before = stream.done.now;
    stream.done.wait_for(records_[record]);
    if (!made) stream.done.now = before;
    leave_context(stream, barrier);
  }

  Twin awaited_by(Id sync) const {
    const auto& rows = trace_.host_sync;
    switch (rows.kind[sync]) {
      case trace::kDeviceSynchronize:
        if (rows.context_id[sync] < contexts_.size()) return contexts_[rows.context_id[sync]].all;
        break;
      case trace::kStreamSynchronize:
      case trace::kStreamQuery:
        if (const Id id = rows.stream_id[sync]; id < streams_.size()) {
          const Stream& stream = streams_[id];
          Twin result = stream.done;
          if (stream.legacy && stream.context < contexts_.size())
            result.wait_for(contexts_[stream.context].blocking);
          return result;
        }
        break;
      default:
        if (rows.record_id[sync] < records_.size()) return records_[rows.record_id[sync]];
    }
    return {};
  }

  void on_sync(Id sync) {
    const auto& rows = trace_.host_sync;
    const Id thread = rows.thread_id[sync];
    const bool made = !change_.without_sync.has(sync);
    if (thread >= threads_.size()) return;
    Thread& host = threads_[thread];
    const Twin before = host.free;
    const Ns entry = enter(thread, rows.start_ns[sync], rows.end_ns[sync], made);
    if (!made) return;
    Twin until = awaited_by(sync);
    if (is_query(rows.kind[sync])) {
      // A thread that asked in vain before sat there as in a synchronization; otherwise it does not
      // wait.
      const auto poll = std::lower_bound(host.polls.begin(), host.polls.end(), before.was);
      if (poll == host.polls.end() || *poll >= rows.start_ns[sync]) return;
      const Ns asked_now = before.now + (*poll - before.was);
      host.free.now = std::max(asked_now, until.now) +
                      std::max<Ns>(0, rows.end_ns[sync] - std::max(*poll, until.was));
      return;
    }
    if (change_.deferred_sync.has(sync)) {
      host.floor_now = std::max(host.floor_now, until.now);
      host.free.now =
          entry + std::min<Ns>(kRecordAndWaitNs, rows.end_ns[sync] - rows.start_ns[sync]);
      return;
    }
    if (const auto op = change_.narrowed_sync.find(sync); op != change_.narrowed_sync.end()) {
      host.floor_now = std::max(host.floor_now, until.now);
      until.now = awaited_[op->second].now;
    }
    held_until(thread, rows.end_ns[sync], until);
  }

  // Of the lag before `to`, what records with timing took that the change leaves out.
  Ns stamps_within(Ns from, Ns to) const {
    if (stamps_.empty()) return 0;
    Ns count = 0;
    for (auto stamp = stamps_.rbegin(); stamp != stamps_.rend(); ++stamp) {
      if (*stamp >= from - kTimedRecordNs && *stamp < to) ++count;
      if (stamp - stamps_.rbegin() > kStampsLookedAt) break;
    }
    return count * kTimedRecordNs;
  }

  static constexpr Ns kMostUrgent = -1'000;
  static constexpr Ns kRecordAndWaitNs = 500;
  static constexpr Ns kCopyCallNs = 1'300;
  static constexpr ptrdiff_t kStampsLookedAt = 64;

  const IssueOrder& order_;
  const Trace& trace_;
  const Repair& change_;
  std::vector<Readiness>* readiness_;
  std::vector<Stream> streams_;
  std::vector<Context> contexts_;
  std::vector<Thread> threads_;
  std::vector<Twin> records_;
  std::vector<Resource> engines_;
  std::unordered_map<Id, Twin> written_, awaited_;
  std::vector<Ns> stamps_;
  Ns first_ = kUnknownNs;
  Twin last_;
};

RepairReplay::RepairReplay(const IssueOrder& order)
    : order_(order), readiness_(order.trace().op.size()) {
  const Repair nothing;
  Walk walk(order, nothing, &readiness_);
  walk.run();
  recorded_ns_ = walk.recorded_ns();
}

RepairReplay::~RepairReplay() = default;

Ns RepairReplay::gain_ns(const Repair& change) const {
  Walk walk(order_, change, nullptr);
  walk.run();
  return walk.gain_ns();
}

Ns RepairReplay::lag_ns(Id op) const {
  const Ns ready = readiness_[op].ready_ns;
  return ready == kUnknownNs ? 0 : order_.trace().op.start_ns[op] - ready;
}

}  // namespace streamscope::analysis
