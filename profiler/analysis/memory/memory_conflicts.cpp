// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_conflicts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/usage/cost_windows.h"
#include "memory_shadow.h"
#include "signal_words.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/graph_node_kind.h"

namespace streamscope::analysis {
namespace {

// How many of the latest memory waits are checked for a pair: keeps a racing loop from quadratic
// cost.
constexpr size_t kWaitsLookedAt = 4096;

class Walk {
 public:
  Walk(const IssueOrder& order, const HappensBefore& before, const MemoryUses& uses)
      : trace_(order.trace()),
        order_(order),
        before_(before),
        uses_(uses),
        signal_words_(order.trace(), uses.of_ops, before),
        captures_(order.trace()) {}

  std::vector<MemoryConflict> run() {
    plan_host_events();
    for (Id row = 0; row < trace_.operation_op.size(); ++row) {
      const Id operation = trace_.operation_op.operation_id[row];
      if (operation < trace_.operation.size())
        operation_names_[trace_.operation_op.op_id[row]] = trace_.operation.name_id[operation];
    }
    const auto parameters = std::ranges::count_if(uses_.of_ops, &MemoryUse::is_parameter);
    if (parameters > 0) walk();
    parameters_.reserve(static_cast<size_t>(parameters));
    shadows_.clear();
    find_blind_spots();
    judging_ = true;
    walk();
    return std::move(conflicts_);
  }

 private:
  struct Shadows {
    MemoryShadow certain, all;
    MemoryLives lives;
    bool more_memory = false;  // in addition to what calls allocate; see find_blind_spots
    std::vector<std::pair<Ns, Ns>> pauses, module_loads;
    void forget(uint64_t begin, uint64_t end) {
      certain.forget(begin, end);
      all.forget(begin, end);
    }
  };
  struct HostEvent {
    Ns at_ns;
    enum { kUse, kMalloc, kFree, kReset } kind;
    Id id;  // index of the host's use, or api_call
  };

  void plan_host_events() {
    const auto& calls = trace_.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      if (calls.result[call] != 0) continue;
      if (calls.kind[call] == CallKind::kDeviceReset)
        host_events_.push_back({calls.start_ns[call], HostEvent::kReset, call});
      if (calls.object[call] == trace::kNoInt) continue;
      if (calls.kind[call] == CallKind::kMalloc && calls.end_ns[call] != kUnknownNs)
        host_events_.push_back({calls.end_ns[call], HostEvent::kMalloc, call});
      if (calls.kind[call] == CallKind::kFree)
        host_events_.push_back({calls.start_ns[call], HostEvent::kFree, call});
    }
    const auto& host = uses_.of_host;
    for (size_t i = 0; i < host.size(); ++i)
      host_events_.push_back({at_ns(host[i]), HostEvent::kUse, static_cast<Id>(i)});
    std::ranges::stable_sort(host_events_, {}, &HostEvent::at_ns);
  }

  void host_events_before(Ns at) {
    for (; next_host_event_ < host_events_.size() && host_events_[next_host_event_].at_ns < at;
         ++next_host_event_) {
      const HostEvent& event = host_events_[next_host_event_];
      switch (event.kind) {
        case HostEvent::kUse:
          on_host_use(uses_.of_host[event.id]);
          break;
        case HostEvent::kMalloc:
          on_alloc(event.id, false);
          break;
        case HostEvent::kFree:
          on_free(event.id, false);
          break;
        case HostEvent::kReset:
          on_reset(event.id);
          break;
      }
    }
  }

  // Graph nodes and variables of loaded modules may add memory at addresses that the trace does not
  // contain, and memory may change while recording is paused.
  void find_blind_spots() {
    const auto& calls = trace_.api_call;
    for (Id call = 0; call < calls.size(); ++call) {
      if (calls.kind[call] == CallKind::kModuleLoad && calls.end_ns[call] != kUnknownNs)
        shadows_[trace_.process_of_thread(calls.thread_id[call])].module_loads.push_back(
            {calls.start_ns[call], calls.end_ns[call]});
    }
    for (Id node = 0; node < trace_.graph_node.size(); ++node) {
      const Id graph = trace_.graph_node.graph_id[node];
      if (trace_.graph_node.kind[node] == kAllocationNode && graph < trace_.graph.size())
        shadows_[trace_.graph.process_id[graph]].more_memory = true;
    }
    for (Id loss = 0; loss < trace_.loss.size(); ++loss) {
      if (trace_.text(trace_.loss.name_id[loss]) != "paused") continue;
      const Ns until = trace_.loss.end_ns[loss];
      shadows_[trace_.loss.process_id[loss]].pauses.push_back(
          {trace_.loss.start_ns[loss],
           until == kUnknownNs ? std::numeric_limits<Ns>::max() : until});
    }
    const auto off = off_windows(trace_);
    for (Id process = 0; process < off.size(); ++process) {
      for (const OffWindow& window : off[process])
        shadows_[process].pauses.push_back({window.start_ns, window.end_ns});
    }
  }

  void walk() {
    next_host_event_ = 0;
    const auto items = order_.items();
    const auto& uses = uses_.of_ops;
    std::unordered_set<Id> awaited;  // writes that a stream waits for
    for (const auto& [wait, write] : order_.writers()) awaited.insert(write);
    size_t next = 0;
    for (uint32_t i = 0; i < items.size(); ++i) {
      const Id id = items[i].id();
      if (items[i].kind() == Issued::kMemory) {
        host_events_before(trace_.api_call.end_ns[id]);
        on_memory(id);
        continue;
      }
      if (items[i].kind() != Issued::kOp) continue;
      const trace::Small kind = trace_.op.kind[id];
      if (judging_ && kind == trace::kMemoryWait) open_waits_.push_back(id);
      if (judging_ && kind == trace::kMemoryWrite && !awaited.contains(id))
        host_signals_.push_back(id);
      if (judging_ && kind == trace::kHostFunction) host_functions_.push_back(id);
      const bool used = next < uses.size() && uses[next].item == i;
      if (used) host_events_before(order_.issue(id).end_ns);
      for (; next < uses.size() && uses[next].item == i; ++next) {
        const MemoryUse& use = uses[next];
        if (before_.placed(use.first_op) && before_.placed(use.last_op)) on_use(use);
      }
    }
    host_events_before(std::numeric_limits<Ns>::max());
  }

  void on_memory(Id call) {
    const bool captured = captures_.contains(call);
    if (trace_.api_call.kind[call] == CallKind::kMallocAsync) {
      on_alloc(call, captured);
    } else if (!captured) {
      on_free(call, true);
    }
  }

  void on_use(const MemoryUse& use) {
    if (!judging_ && !use.is_parameter()) return;
    Shadows& shadows = shadows_[trace_.access.process_id[use.access]];
    MemoryLife* life = shadows.lives.find(use.begin, use.space);
    if (use.is_parameter()) {  // covers the piece it points into
      if (life == nullptr) return;
      const bool alive = life->free_call == kNoId;
      if (!judging_) {
        if (alive) pieces_.add(*life, use.begin);
        return;
      }
      MemoryUse& kept = parameters_.emplace_back(use);
      kept.end = pieces_.end_of(*life, use.begin);
      live(shadows, *life, kept);
      if (alive) touch(shadows, kept, kept.begin, kept.end);
      return;
    }
    if (life == nullptr && trace_.access.source[use.access] == 0 &&
        is_staged_unless_pinned(trace_, use.last_op, use.write))
      return;
    if (life != nullptr) live(shadows, *life, use);
    const trace::Int rows = trace_.access.rows[use.access];
    if (rows == trace::kNoInt || rows <= 1) {
      touch(shadows, use, use.begin, use.end);
      return;
    }
    const auto pitch = static_cast<uint64_t>(trace_.access.pitch_bytes[use.access]);
    const auto count = static_cast<uint64_t>(rows);
    if (rows > kMostRows) {
      touch(shadows, use, use.begin, use.end + (count - 1) * pitch);
      return;
    }
    for (uint64_t row = 0; row < count; ++row)
      touch(shadows, use, use.begin + row * pitch, use.end + row * pitch);
  }

  void on_host_use(const MemoryUse& use) {
    if (judging_) touch(shadows_[trace_.access.process_id[use.access]], use, use.begin, use.end);
  }

  void touch(Shadows& shadows, const MemoryUse& use, uint64_t begin, uint64_t end) {
    const auto compare = [&](const MemoryUse& earlier, Overlap overlap, bool among_certain) {
      bool possible = earlier.possible || use.possible;
      if (among_certain == possible || !may_be_same(earlier.space, use.space) ||
          ordered(earlier, use))
        return;
      possible |= any_between(shadows.pauses, at_ns(earlier), at_ns(use));
      const auto kind = earlier.by_host() || use.by_host() ? MemoryConflict::kHostRace
                                                           : MemoryConflict::kStreamRace;
      overlap = {std::max(overlap.begin, begin), std::min(overlap.end, end)};
      report(kind, earlier, &use, kNoId, overlap, possible);
    };
    const auto passed = [&](const MemoryUse& earlier) { return ordered(earlier, use); };
    const uint32_t chain = chain_of(use);
    if (!use.possible) {
      shadows.certain.use(
          use, begin, end, chain,
          [&](const MemoryUse& earlier, Overlap overlap) { compare(earlier, overlap, true); },
          passed);
    }
    if (!uses_.any_possible) return;
    shadows.all.use(
        use, begin, end, chain,
        [&](const MemoryUse& earlier, Overlap overlap) { compare(earlier, overlap, false); },
        passed);
  }

  bool ordered(const MemoryUse& earlier, const MemoryUse& later) const {
    if (earlier.by_host() && later.by_host()) return true;  // out of scope
    if (later.by_host()) {
      return before_.known_to_thread(before_.point_of_op(earlier.last_op),
                                     trace_.access.thread_id[later.access], at_ns(later));
    }
    if (earlier.by_host()) {
      const Ns at = at_ns(earlier);
      return order_.issue(later.first_op).start_ns >= at ||
             behind_write(later, [&](Id write) { return order_.issue(write).start_ns >= at; });
    }
    if (earlier.last_op == later.last_op || earlier.last_op == later.first_op) return true;
    if (trace_.access.operation_id[earlier.access] != kNoId &&
        trace_.access.operation_id[earlier.access] == trace_.access.operation_id[later.access])
      return true;
    return before_.ordered(earlier.last_op, later.first_op) ||
           behind_write(later, [&](Id write) { return before_.ordered(earlier.last_op, write); });
  }

  // True if the use is behind a memory wait whose write is accepted. The write may be issued later,
  // or never run.
  template <class Accepted>
  bool behind_write(const MemoryUse& later, Accepted accepted) const {
    if (!order_.has_writers()) return false;
    const size_t looked_at = std::min(open_waits_.size(), kWaitsLookedAt);
    return std::any_of(open_waits_.rbegin(),
                       open_waits_.rbegin() + static_cast<ptrdiff_t>(looked_at), [&](Id wait) {
                         const Id write = order_.writer_of(wait);
                         return write != kNoId && accepted(write) &&
                                before_.ordered(wait, later.first_op);
                       });
  }

  // A host store that releases a memory wait, or a host that read what the device wrote, may order
  // the two: neither is recorded.
  bool may_be_ordered_by_memory(const MemoryUse& earlier, const MemoryUse& later) const {
    if (!later.by_host()) {
      return std::any_of(open_waits_.begin(), open_waits_.end(), [&](Id wait) {
        return before_.ordered(wait, later.first_op) &&
               (earlier.by_host() ||
                (order_.writer_of(wait) == kNoId && !before_.ordered(wait, earlier.last_op)));
      });
    }
    return std::ranges::any_of(host_signals_,
                               [&](Id write) { return before_.ordered(earlier.last_op, write); });
  }

  // A host function behind the earlier use may release the host, unless that use was still running
  // when the later one was issued: this is not recorded.
  bool may_be_ordered_by_host_function(const MemoryUse& earlier, const MemoryUse& later) const {
    if (earlier.by_host()) return false;
    const Ns ended = trace_.op.end_ns[earlier.last_op];
    const Ns at = later.by_host() ? at_ns(later) : order_.issue(later.first_op).end_ns;
    if (ended != kUnknownNs && ended >= at) return false;
    const Ns issued = order_.issue(earlier.last_op).start_ns;
    size_t left = kWaitsLookedAt;
    for (auto function = host_functions_.rbegin(); function != host_functions_.rend(); ++function) {
      if (order_.issue(*function).end_ns < issued || left-- == 0) return false;
      if (before_.ordered(earlier.last_op, *function)) return true;
    }
    return false;
  }

  void live(Shadows& shadows, MemoryLife& life, const MemoryUse& use) {
    const Overlap overlap{use.begin, std::min(use.end, life.end)};
    if (life.free_call != kNoId) {
      const Issue issue = order_.issue(use.first_op);
      const Ns freed = trace_.api_call.end_ns[life.free_call];
      if (issue.start_ns < freed && !life.stream_ordered) return;
      // Other memory may have these addresses now, unless the use is known to be of device memory
      // and no unrecorded memory was created.
      const bool is_device = use.space == MemorySpace::kDevice || use.space == MemorySpace::kEither;
      report(MemoryConflict::kAfterFree, use, nullptr, life.free_call, overlap,
             use.possible || !is_device || shadows.more_memory ||
                 any_between(shadows.module_loads, freed, issue.end_ns) ||
                 any_between(shadows.pauses, freed, issue.end_ns));
      return;
    }
    if (!life.stream_ordered) return;
    if (life.allocated.placed() &&
        !before_.ordered(life.allocated, before_.point_of_op(use.first_op))) {
      // It is probably not ordered with the release either: one finding is enough.
      report(MemoryConflict::kBeforeAllocation, use, nullptr, life.alloc_call, overlap,
             use.possible ||
                 any_between(shadows.pauses, trace_.api_call.end_ns[life.alloc_call], at_ns(use)));
      return;
    }
    const uint32_t chain = chain_of(use);
    for (auto& [known, last] : life.last_uses) {
      if (known != chain) continue;
      if (last->possible || !use.possible) last = &use;
      return;
    }
    life.last_uses.push_back({chain, &use});
  }

  void on_alloc(Id call, bool captured) {
    const auto& calls = trace_.api_call;
    const bool is_array = trace_.text(calls.name_id[call]).find("Array") != std::string_view::npos;
    if (is_array || calls.object[call] == trace::kNoInt) return;
    MemoryLife life = life_of_call(trace_, call, captured);
    Shadows& shadows = shadows_[trace_.process_of_thread(calls.thread_id[call])];
    if (life.stream_ordered) life.allocated = before_.point_of_call(call);
    shadows.forget(life.begin, life.end);
    shadows.lives.add(std::move(life));
  }

  void on_free(Id call, bool stream_ordered) {
    const auto& calls = trace_.api_call;
    Shadows& shadows = shadows_[trace_.process_of_thread(calls.thread_id[call])];
    const trace::Int bytes = calls.value[call];  // size if memory is unmapped
    for (MemoryLife* life :
         shadows.lives.alive_at(static_cast<uint64_t>(calls.object[call]),
                                bytes == trace::kNoInt ? 0 : static_cast<uint64_t>(bytes)))
      end(shadows, *life, call, stream_ordered);
  }

  void end(Shadows& shadows, MemoryLife& life, Id call, bool stream_ordered) {
    const auto& calls = trace_.api_call;
    life.free_call = call;
    // Later uses of these addresses are of other memory.
    shadows.forget(life.begin, life.end);
    // cudaFree waits for the device. Host memory may come back from another allocator, or stay.
    if (!life.stream_ordered) {
      if (life.space == MemorySpace::kHost) shadows.lives.forget(life.begin);
      return;
    }
    if (!judging_) return;
    const Point freed = before_.point_of_call(call);
    if (stream_ordered && life.allocated.placed() && !before_.ordered(life.allocated, freed))
      report_early_free(life, call);
    for (const auto& [chain, use] : life.last_uses) {
      const Point last = before_.point_of_op(use->last_op);
      const bool ordered = stream_ordered ? before_.ordered(last, freed)
                                          : before_.known_to_thread(last, calls.thread_id[call],
                                                                    calls.start_ns[call]);
      if (!ordered)
        report(MemoryConflict::kAfterFree, *use, nullptr, call, {life.begin, life.end},
               use->possible || any_between(shadows.pauses, at_ns(*use), calls.end_ns[call]));
    }
    life.last_uses.clear();
  }

  // Ends all memory of a device. The device is unknown, so all lives of the process end unjudged.
  void on_reset(Id call) {
    Shadows& shadows = shadows_[trace_.process_of_thread(trace_.api_call.thread_id[call])];
    shadows.lives.clear();
    shadows.forget(0, std::numeric_limits<uint64_t>::max());
  }

  void describe(ConflictingPair& pair, const MemoryUse& first, const MemoryUse* second,
                Overlap overlap) {
    pair.first_access = first.access;
    pair.first_op = first.last_op;
    pair.first_writes = first.write;
    pair.begin = overlap.begin;
    pair.end = overlap.end;
    if (second == nullptr) return;
    pair.second_access = second->access;
    pair.second_op = second->first_op;
    pair.second_writes = second->write;
    Shadows& shadows = shadows_[trace_.access.process_id[first.access]];
    if (const MemoryLife* life = shadows.lives.find(overlap.begin, first.space))
      pair.alloc_call = life->alloc_call;
  }

  void report(MemoryConflict::Kind kind, const MemoryUse& first, const MemoryUse* second,
              Id memory_call, Overlap overlap, bool possible) {
    possible = possible || (second && may_be_ordered_by_host_function(first, *second));
    // The key identifies the same two places in the program, in either order. Possible conflicts of
    // a kernel that runs on many streams are one conflict.
    const auto place = [&](const MemoryUse& use) -> std::vector<uint64_t> {
      if (use.by_host()) return {0, trace_.access.thread_id[use.access]};
      const Id op = use.last_op;
      const auto operation = operation_names_.find(op);
      return {1,
              possible ? kNoId : order_.stream(op),
              static_cast<uint64_t>(trace_.op.kind[op]),
              trace_.op.name_id[op],
              static_cast<uint64_t>(trace_.op.detail[op]),
              operation == operation_names_.end() ? kNoId : operation->second};
    };
    std::vector<uint64_t> key = place(first);
    std::vector<uint64_t> other =
        second ? place(*second)
               : std::vector<uint64_t>{2, possible ? kNoId : trace_.api_call.stream_id[memory_call],
                                       trace_.api_call.name_id[memory_call]};
    if (other < key) std::swap(key, other);
    key.insert(key.end(), other.begin(), other.end());
    key.push_back(kind);
    key.push_back(possible);
    const Ns at = second ? at_ns(*second) : at_ns(first);
    const std::pair<Id, Id> pair{first.by_host() ? first.access : first.last_op,
                                 second == nullptr   ? memory_call
                                 : second->by_host() ? second->access
                                                     : second->last_op};
    const auto [known, is_new] = known_.try_emplace(std::move(key), conflicts_.size());
    if (!is_new) {
      MemoryConflict& conflict = conflicts_[known->second];
      // One pair of ops may conflict in several pieces of memory.
      if (std::exchange(last_pairs_[known->second], pair) == pair) return;
      if (++conflict.count == 2) describe(conflict.again, first, second, overlap);
      conflict.last_ns = std::max(conflict.last_ns, at);
      return;
    }
    last_pairs_.push_back(pair);
    MemoryConflict& conflict = conflicts_.emplace_back();
    describe(conflict, first, second, overlap);
    conflict.kind = kind;
    conflict.memory_call = memory_call;
    if (kind == MemoryConflict::kStreamRace) {
      auto word = signal_words_.between(first, *second);
      if (!word) word = signal_words_.between(*second, first);
      conflict.signal_word = word.value_or(0);
    }
    conflict.possible = possible || conflict.signal_word != 0 ||
                        (second != nullptr && may_be_ordered_by_memory(first, *second));
    conflict.count = 1;
    conflict.first_ns = conflict.last_ns = at;
  }

  void report_early_free(const MemoryLife& life, Id call) {
    const auto& calls = trace_.api_call;
    const Ns at = calls.end_ns[call];
    const auto [known, is_new] = known_.try_emplace(
        {calls.stream_id[life.alloc_call], calls.stream_id[call]}, conflicts_.size());
    if (is_new) {
      MemoryConflict& added = conflicts_.emplace_back();
      added.kind = MemoryConflict::kBeforeAllocation;
      added.memory_call = life.alloc_call;
      added.free_call = call;
      added.begin = life.begin;
      added.end = life.end;
      added.first_ns = at;
      last_pairs_.emplace_back();
    }
    MemoryConflict& conflict = conflicts_[known->second];
    ++conflict.count;
    conflict.last_ns = at;
  }

  static bool any_between(const std::vector<std::pair<Ns, Ns>>& times, Ns from, Ns to) {
    return std::ranges::any_of(
        times, [&](const auto& time) { return from <= time.second && to >= time.first; });
  }

  uint32_t chain_of(const MemoryUse& use) const {
    if (use.by_host()) return host_chain(trace_.access.thread_id[use.access]);
    return before_.point_of_op(use.last_op).chain;
  }
  // Threads count down from the end, chains of streams up.
  static uint32_t host_chain(Id thread) { return kNoId - thread - 1; }
  Ns at_ns(const MemoryUse& use) const {
    return use.by_host() ? trace_.access.start_ns[use.access] : order_.issue(use.last_op).end_ns;
  }

  const Trace& trace_;
  const IssueOrder& order_;
  const HappensBefore& before_;
  const MemoryUses& uses_;
  const SignalWords signal_words_;
  const Captures captures_;
  bool judging_ = false;  // otherwise the walk only finds the pieces of each allocation
  MemoryPieces pieces_;
  std::map<Id, Shadows> shadows_;  // by process
  std::vector<HostEvent> host_events_;
  size_t next_host_event_ = 0;
  std::vector<Id> open_waits_;         // memory waits so far
  std::vector<Id> host_signals_;       // memory writes so far that no stream waits for
  std::vector<Id> host_functions_;     // so far
  std::vector<MemoryUse> parameters_;  // created from kernel parameters
  std::map<std::vector<uint64_t>, size_t> known_;
  std::vector<MemoryConflict> conflicts_;
  std::vector<std::pair<Id, Id>> last_pairs_;   // per conflict
  std::unordered_map<Id, Id> operation_names_;  // by op
};

}  // namespace

MemoryConflicts find_memory_conflicts(const IssueOrder& order, const HappensBefore& observed) {
  const MemoryUses uses = memory_uses(order);
  MemoryConflicts result{.unknown_kernels = uses.unknown_kernels,
                         .observed = uses.observed,
                         .host_reported = !uses.of_host.empty()};
  if (!uses.of_ops.empty() || result.host_reported)
    result.found = Walk(order, observed, uses).run();
  return result;
}

bool is_race_of(const MemoryConflicts& conflicts, const Trace& trace, Id first_call,
                Id second_call) {
  const auto has_op = [&](Id op, Id call) {
    return op != kNoId && call != kNoId && trace.op.api_call_id[op] == call;
  };
  const auto matches = [&](const ConflictingPair& pair) {
    return has_op(pair.first_op, first_call) && has_op(pair.second_op, second_call);
  };
  return std::ranges::any_of(conflicts.found, [&](const MemoryConflict& conflict) {
    return conflict.kind == MemoryConflict::kStreamRace &&
           (matches(conflict) || matches(conflict.again));
  });
}

}  // namespace streamscope::analysis
