// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "branches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/delay/shared_capacity.h"
#include "analysis/memory/memory_uses.h"
#include "issued_work.h"
#include "iteration_series.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

struct Touched {
  uint64_t begin = 0, end = 0;
  bool write = false;
};

// Which ops used memory last.
class LastUses {
 public:
  /// Calls `conflict(op)` for the last ones that conflict with this use, then adds it.
  template <class Conflict>
  void use(const Touched& touched, Id op, Conflict conflict) {
    split(touched.begin);
    split(touched.end);
    uint64_t at = touched.begin;
    auto next = segments_.lower_bound(at);
    while (at < touched.end) {
      if (next == segments_.end() || next->first > at) {  // a gap
        const uint64_t end =
            next == segments_.end() ? touched.end : std::min(touched.end, next->first);
        next = segments_.emplace_hint(next, at, Segment{.end = end});
      }
      Segment& segment = next->second;
      if (segment.writer != kNoId) conflict(segment.writer);
      if (touched.write) {
        for (const Id reader : segment.readers) conflict(reader);
        segment.writer = op;
        segment.readers.clear();
      } else if (segment.readers.empty() || segment.readers.back() != op) {
        segment.readers.push_back(op);
      }
      at = segment.end;
      ++next;
    }
  }
  void clear() { segments_.clear(); }

 private:
  struct Segment {
    uint64_t end = 0;
    Id writer = kNoId;
    std::vector<Id> readers{};  // since then
  };

  void split(uint64_t at) {
    auto found = segments_.upper_bound(at);
    if (found == segments_.begin() || (--found)->first == at || found->second.end <= at) return;
    segments_.emplace(at, found->second);
    found->second.end = at;
  }

  std::map<uint64_t, Segment> segments_;  // by begin
};

// What memory was allocated when an op was issued; ops come in order of issue.
class Allocations {
 public:
  Allocations(const Trace& trace, Id process) : trace_(trace) {
    const auto& calls = trace.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      const trace::Small kind = calls.kind[call];
      if (calls.result[call] != 0 || calls.object[call] == trace::kNoInt ||
          calls.end_ns[call] == kUnknownNs ||
          trace.process_of_thread(calls.thread_id[call]) != process)
        continue;
      if (kind == CallKind::kMalloc || kind == CallKind::kMallocAsync) mallocs_.push_back(call);
    }
    std::ranges::stable_sort(mallocs_, {}, [&](Id call) { return calls.end_ns[call]; });
  }
  /// The allocation at an address; nothing if it is unknown.
  std::optional<Touched> find(uint64_t address, Ns issued_ns) {
    for (; next_ < mallocs_.size() && trace_.api_call.end_ns[mallocs_[next_]] <= issued_ns; ++next_)
      lives_.add(life_of_call(trace_, mallocs_[next_], false));
    const MemoryLife* life = lives_.find(address, MemorySpace::kUnknown);
    if (life == nullptr) return std::nullopt;
    return Touched{life->begin, life->end, false};
  }

 private:
  const Trace& trace_;
  std::vector<Id> mallocs_;
  MemoryLives lives_;
  size_t next_ = 0;
};

class BranchSearch {
 public:
  BranchSearch(Analyses& analyses, const Iterations& iterations, Id stream)
      : trace_(analyses.trace()),
        iterations_(iterations),
        stream_(stream),
        work_(analyses, IssuedWork::With::kTimes),
        uses_(memory_uses(analyses.order())),
        allocations_(trace_, iterations.process_id),
        shares_(trace_) {
    for (Id row = 0; row < trace_.operation_op.size(); ++row)
      operation_of_[trace_.operation_op.op_id[row]] = trace_.operation_op.operation_id[row];
    for (const MemoryUse& use : uses_.of_ops) {
      const auto operation = operation_of_.find(use.first_op);
      if (use.first_op == use.last_op || operation == operation_of_.end()) {
        of_op_[use.last_op].push_back(&use);
      } else {
        of_operation_[operation->second].push_back(&use);
      }
    }
  }

  Branches run(size_t most) {
    IterationSlots slots = IterationSlots::of_host(iterations_);
    uint32_t slot = 0;
    found_.iterations = std::min(most, iterations_.steady_count());
    const size_t until = iterations_.steady_from + found_.iterations;
    const size_t last = work_.first_issued(iterations_.issued_until_ns(until));
    for (size_t i = work_.first_issued(iterations_.issued_from_ns()); i < last; ++i) {
      if (trace_.op.stream_id[work_.id(i)] != stream_) continue;
      if (slots.of(work_.issued_ns(i)) != slot) begin_iteration();
      slot = slots.of(work_.issued_ns(i));
      place(work_.id(i), work_.issued_ns(i), work_.duration_ns(i));
    }
    begin_iteration();
    return std::move(found_);
  }

 private:
  // When an op would run, and how much of the device it fills.
  struct Run {
    Id op = kNoId;
    Ns start_ns = 0, end_ns = 0;
    double share = 0;
  };
  // One of the two streams.
  struct Lane {
    std::vector<Run> runs;  // in order

    Id last() const { return runs.empty() ? kNoId : runs.back().op; }
    Ns end_ns() const { return runs.empty() ? 0 : runs.back().end_ns; }
  };
  struct Place {
    size_t lane = 0;
    Ns end_ns = 0;
  };

  // All work of an iteration waits for all work of the one before.
  void begin_iteration() {
    trace::add_to(found_.beside_ns, serial_ns_ - std::max(lanes_[0].end_ns(), lanes_[1].end_ns()));
    serial_ns_ = 0;
    last_uses_.clear();
    places_.clear();
    barrier_ = kNoId;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].last() != kNoId) before_[lane] = lanes_[lane].last();
      lanes_[lane] = {};
    }
  }

  // The memory that an op accesses; false if that is not known.
  bool find_touched(Id op, Ns issued_ns) {
    touched_.clear();
    const trace::Small kind = trace_.op.kind[op];
    if (kind == trace::kKernel ? trace_.op.launch_shape_id[op] == kNoId
                               : !is_memory_operation(kind))
      return false;
    const auto add_all = [&](const auto& uses, Id key) {
      const auto found = uses.find(key);
      if (found == uses.end()) return true;
      return std::ranges::all_of(found->second,
                                 [&](const MemoryUse* use) { return add(*use, issued_ns); });
    };
    const auto operation = operation_of_.find(op);
    return add_all(of_op_, op) &&
           (operation == operation_of_.end() || add_all(of_operation_, operation->second)) &&
           !touched_.empty();
  }
  bool add(const MemoryUse& use, Ns issued_ns) {
    found_.possible |= use.possible;
    if (!use.is_parameter()) {
      touched_.push_back({use.begin, use.end, use.write});
      return true;
    }
    const std::optional<Touched> allocation = allocations_.find(use.begin, issued_ns);
    if (!allocation) return false;
    touched_.push_back({allocation->begin, allocation->end, use.write});
    return true;
  }

  // Puts an op on the stream on which it starts first, behind what it depends on.
  void place(Id op, Ns issued_ns, Ns duration_ns) {
    std::array<Id, 2> latest{kNoId, kNoId};  // what it depends on, by lane
    const auto depend = [&](Id other) {
      if (other == op) return;
      const Place& place = places_.at(other);
      Id& known = latest[place.lane];
      if (known == kNoId || place.end_ns > places_.at(known).end_ns) known = other;
    };
    if (barrier_ != kNoId) depend(barrier_);
    const bool known = find_touched(op, issued_ns);
    if (known) {
      for (const Touched& touched : touched_) last_uses_.use(touched, op, depend);
    } else {
      for (const Lane& lane : lanes_) {
        if (lane.last() != kNoId) depend(lane.last());
      }
      last_uses_.clear();
      barrier_ = op;
    }
    Ns ready = 0;
    for (const Id other : latest)
      ready = std::max(ready, other == kNoId ? 0 : places_.at(other).end_ns);
    Run run{.op = op,
            .start_ns = ready,
            .end_ns = trace::sum_of(ready, duration_ns),
            .share = share_of(op)};
    // With the work that it waits for longest, if it starts as early there.
    size_t lane = known && latest[1] != kNoId && places_.at(latest[1]).end_ns == ready ? 1 : 0;
    Run there = run;
    Id behind = fit(run, lane);
    if (const Id behind_there = fit(there, 1 - lane); there.start_ns < run.start_ns) {
      lane = 1 - lane;
      run = there;
      behind = behind_there;
    }
    if (behind != kNoId) depend(behind);
    hold(op, lane, latest[1 - lane]);
    lanes_[lane].runs.push_back(run);
    places_[op] = {lane, run.end_ns};
    trace::add_to(serial_ns_, duration_ns);
    if (lane == 0) return;
    if (found_.first == kNoId) found_.first = op;
    ++found_.count;
  }

  double share_of(Id op) const {
    return trace_.op.kind[op] == trace::kKernel
               ? shares_.of(trace_.op.launch_shape_id[op], trace_.device_of_stream(stream_))
               : 0;
  }

  // Moves a run behind the last one of a lane, and to where the device has room for it. Returns
  // the run of the other lane that made the room; kNoId if there was enough.
  Id fit(Run& run, size_t lane) const {
    constexpr double kRounding = 1e-6;
    const Ns lasts = run.end_ns - run.start_ns;
    run.start_ns = std::max(run.start_ns, lanes_[lane].end_ns());
    const std::vector<Run>& others = lanes_[1 - lane].runs;
    Id behind = kNoId;
    auto other = std::ranges::upper_bound(others, run.start_ns, {}, &Run::end_ns);
    for (; other != others.end() && other->start_ns < trace::sum_of(run.start_ns, lasts); ++other) {
      if (other->share + run.share <= 1 + kRounding) continue;
      run.start_ns = other->end_ns;
      behind = other->op;
    }
    run.end_ns = trace::sum_of(run.start_ns, lasts);
    return behind;
  }

  void hold(Id op, size_t lane, Id other) {
    std::vector<Id>& held = found_.change.held_only_by[op];
    if (lanes_[lane].last() != kNoId) {
      held.push_back(lanes_[lane].last());
    } else if (before_[0] == kNoId && before_[1] == kNoId) {
      // The first iteration: behind all that the stream ran before.
      found_.change.held_only_by.erase(op);
      return;
    } else {
      for (const Id before : before_) {
        if (before != kNoId) held.push_back(before);
      }
    }
    if (other != kNoId) held.push_back(other);
    found_.change.beside_op.add(op);
  }

  const Trace& trace_;
  const Iterations& iterations_;
  const Id stream_;
  const IssuedWork work_;
  const MemoryUses uses_;
  Allocations allocations_;
  const DeviceShares shares_;
  std::unordered_map<Id, Id> operation_of_;
  std::unordered_map<Id, std::vector<const MemoryUse*>> of_op_, of_operation_;
  // Of the current iteration:
  LastUses last_uses_;
  std::unordered_map<Id, Place> places_;
  std::array<Lane, 2> lanes_;
  std::array<Id, 2> before_{kNoId, kNoId};  // the last ops of the iteration before
  Id barrier_ = kNoId;                      // what all later ops depend on
  Ns serial_ns_ = 0;                        // how long all ops take
  std::vector<Touched> touched_;
  Branches found_;
};

}  // namespace

Branches find_branches(Analyses& analyses, const Iterations& iterations, Id stream, size_t most) {
  const Trace& trace = analyses.trace();
  if (trace.access.empty() || trace.device_of_stream(stream) >= trace.device.size()) return {};
  return BranchSearch(analyses, iterations, stream).run(most);
}

}  // namespace streamscope::analysis
