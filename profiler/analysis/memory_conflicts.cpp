// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_conflicts.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "memory_shadow.h"

namespace streamscope::analysis {
namespace {

// How many memory waits back a pair is looked up, so that a racing loop does not cost its square.
constexpr size_t kWaitsLookedAt = 4096;

// One life of allocated memory.
struct Life {
  uint64_t begin = 0, end = 0;
  bool stream_ordered = false;
  Point allocated;
  Id alloc_call = kNoId;
  Id free_call = kNoId;                                          // kNoId: alive
  std::vector<std::pair<uint32_t, const MemoryUse*>> last_uses;  // by chain
};

class Walk {
 public:
  Walk(const IssueOrder& order, const HappensBefore& before, const MemoryUses& uses)
      : trace_(order.trace()), order_(order), before_(before), uses_(uses) {}

  std::vector<MemoryConflict> run();

 private:
  struct Shadows {
    MemoryShadow certain, all;
    std::map<uint64_t, Life> lives;  // by begin; freed ones until their memory is given out again
  };
  struct HostEvent {
    Ns at_ns;
    enum { kUse, kMalloc, kFree } kind;
    Id id;  // index of the host's use, or api_call
  };

  void plan_host_events();
  void host_events_before(Ns at);
  void on_use(const MemoryUse& use);
  void on_host_use(const MemoryUse& use);
  void on_alloc(Id call, bool stream_ordered);
  void on_free(Id call, bool stream_ordered);
  void touch(Shadows& shadows, const MemoryUse& use, uint64_t begin, uint64_t end);
  void live(Shadows& shadows, const MemoryUse& use, uint64_t begin);
  bool ends_in_host_staging(const MemoryUse& use, const Life* life) const;
  bool ordered(const MemoryUse& earlier, const MemoryUse& later) const;
  template <class Accepted>
  bool behind_write(const MemoryUse& later, Accepted accepted) const;
  bool may_be_ordered_by_memory(const MemoryUse& earlier, const MemoryUse& later) const;
  void report_early_free(const Life& life, Id call);
  void report(MemoryConflict::Kind kind, const MemoryUse& first, const MemoryUse* second,
              Id memory_call, Overlap overlap, bool possible);

  Life* life_of(Shadows& shadows, uint64_t address) {
    auto found = shadows.lives.upper_bound(address);
    if (found == shadows.lives.begin()) return nullptr;
    Life& life = std::prev(found)->second;
    return address < life.end ? &life : nullptr;
  }
  Shadows& of(Id process) { return shadows_[process]; }
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
  std::map<Id, Shadows> shadows_;  // by process
  std::vector<HostEvent> host_events_;
  size_t next_host_event_ = 0;
  std::vector<Id> open_waits_;         // memory waits so far
  std::vector<Id> host_signals_;       // memory writes so far that no stream waits for
  std::vector<MemoryUse> parameters_;  // made from kernels' parameters
  std::map<std::vector<uint64_t>, size_t> known_;
  std::vector<MemoryConflict> conflicts_;
  std::vector<std::pair<Id, Id>> last_pairs_;   // per conflict
  std::unordered_map<Id, Id> operation_names_;  // by op
};

void Walk::plan_host_events() {
  const auto& calls = trace_.api_call;
  for (Id call = 0; call < calls.size(); ++call) {
    if (calls.result[call] != 0 || calls.object[call] == trace::kNoInt) continue;
    if (calls.kind[call] == kMallocCall && calls.end_ns[call] != kUnknownNs)
      host_events_.push_back({calls.end_ns[call], HostEvent::kMalloc, call});
    if (calls.kind[call] == kFreeCall)
      host_events_.push_back({calls.start_ns[call], HostEvent::kFree, call});
  }
  const auto host = uses_.of_host();
  for (size_t i = 0; i < host.size(); ++i)
    host_events_.push_back({at_ns(host[i]), HostEvent::kUse, static_cast<Id>(i)});
  std::stable_sort(host_events_.begin(), host_events_.end(),
                   [](const HostEvent& a, const HostEvent& b) { return a.at_ns < b.at_ns; });
}

void Walk::host_events_before(Ns at) {
  for (; next_host_event_ < host_events_.size() && host_events_[next_host_event_].at_ns < at;
       ++next_host_event_) {
    const HostEvent& event = host_events_[next_host_event_];
    switch (event.kind) {
      case HostEvent::kUse:
        on_host_use(uses_.of_host()[event.id]);
        break;
      case HostEvent::kMalloc:
        on_alloc(event.id, false);
        break;
      case HostEvent::kFree:
        on_free(event.id, false);
        break;
    }
  }
}

std::vector<MemoryConflict> Walk::run() {
  plan_host_events();
  for (Id row = 0; row < trace_.operation_op.size(); ++row) {
    const Id operation = trace_.operation_op.operation_id[row];
    if (operation < trace_.operation.size())
      operation_names_[trace_.operation_op.op_id[row]] = trace_.operation.name_id[operation];
  }
  parameters_.reserve(
      2 * static_cast<size_t>(std::count_if(uses_.of_ops().begin(), uses_.of_ops().end(),
                                            [](const MemoryUse& use) { return use.end == 0; })));
  const auto items = order_.items();
  const auto uses = uses_.of_ops();
  std::unordered_set<Id> awaited;  // writes that a stream waits for
  for (const Issued item : items) {
    if (!order_.has_writers()) break;
    if (item.kind() == Issued::kOp) awaited.insert(order_.writer_of(item.id()));
  }
  size_t next = 0;
  for (uint32_t i = 0; i < items.size(); ++i) {
    const Id id = items[i].id();
    if (items[i].kind() == Issued::kMemory) {
      host_events_before(trace_.api_call.end_ns[id]);
      if (trace_.api_call.kind[id] == kMallocAsyncCall) {
        on_alloc(id, true);
      } else {
        on_free(id, true);
      }
      continue;
    }
    if (items[i].kind() != Issued::kOp) continue;
    const trace::Small kind = trace_.op.kind[id];
    if (kind == trace::kMemoryWait) open_waits_.push_back(id);
    if (kind == trace::kMemoryWrite && !awaited.contains(id)) host_signals_.push_back(id);
    const bool used = next < uses.size() && uses[next].item == i;
    if (used) host_events_before(order_.issue(id).end_ns);
    for (; next < uses.size() && uses[next].item == i; ++next) {
      const MemoryUse& use = uses[next];
      if (before_.placed(use.first_op) && before_.placed(use.last_op)) on_use(use);
    }
  }
  host_events_before(std::numeric_limits<Ns>::max());
  return std::move(conflicts_);
}

// The host's end of a copy from pageable memory is read by the host, before the call returns.
bool Walk::ends_in_host_staging(const MemoryUse& use, const Life* life) const {
  constexpr trace::Small kToDevice = 1, kPageable = 1;
  const Id op = use.last_op;
  if (use.write || trace_.op.kind[op] != trace::kMemcpy || trace_.op.detail[op] != kToDevice)
    return false;
  const trace::Small kinds = trace_.op.memory_kinds[op];
  return kinds == trace::kNoSmall ? life == nullptr : kinds >> 4 == kPageable;
}

void Walk::on_use(const MemoryUse& use) {
  Shadows& shadows = of(uses_.process(use));
  if (use.end == 0) {  // a kernel's parameter: whatever it points into
    const Life* life = life_of(shadows, use.begin);
    if (life == nullptr) return;
    MemoryUse rest = use;
    rest.end = life->end;
    if (!use.write && use.begin + 1 < life->end) {
      MemoryUse first = use;
      first.end = use.begin + 1;
      first.possible = false;
      parameters_.push_back(first);
      live(shadows, parameters_.back(), first.begin);
      touch(shadows, parameters_.back(), first.begin, first.end);
      rest.begin = first.end;
    }
    parameters_.push_back(rest);
    const MemoryUse& kept = parameters_.back();
    if (use.write) live(shadows, kept, use.begin);
    touch(shadows, kept, kept.begin, kept.end);
    return;
  }
  const Life* life = life_of(shadows, use.begin);
  if (ends_in_host_staging(use, life)) return;
  live(shadows, use, use.begin);
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

void Walk::on_host_use(const MemoryUse& use) {
  touch(of(uses_.process(use)), use, use.begin, use.end);
}

void Walk::touch(Shadows& shadows, const MemoryUse& use, uint64_t begin, uint64_t end) {
  const auto compare = [&](const MemoryUse& earlier, Overlap overlap, bool among_certain) {
    const bool possible = earlier.possible || use.possible;
    if (among_certain == possible || ordered(earlier, use)) return;
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
  if (!uses_.any_possible()) return;
  shadows.all.use(
      use, begin, end, chain,
      [&](const MemoryUse& earlier, Overlap overlap) { compare(earlier, overlap, false); }, passed);
}

bool Walk::ordered(const MemoryUse& earlier, const MemoryUse& later) const {
  if (earlier.by_host() && later.by_host()) return true;  // not ours to judge
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

// True if the use is behind a memory wait whose write is as asked for. The write may be issued
// later, or never run.
template <class Accepted>
bool Walk::behind_write(const MemoryUse& later, Accepted accepted) const {
  if (!order_.has_writers()) return false;
  const size_t looked_at = std::min(open_waits_.size(), kWaitsLookedAt);
  return std::any_of(
      open_waits_.rbegin(), open_waits_.rbegin() + static_cast<ptrdiff_t>(looked_at), [&](Id wait) {
        const Id write = order_.writer_of(wait);
        return write != kNoId && accepted(write) && before_.ordered(wait, later.first_op);
      });
}

// A host store that lets a memory wait go on, or a host that saw what the device wrote, may order
// the two: nobody tells.
bool Walk::may_be_ordered_by_memory(const MemoryUse& earlier, const MemoryUse& later) const {
  if (!later.by_host()) {
    return std::any_of(open_waits_.begin(), open_waits_.end(), [&](Id wait) {
      return before_.ordered(wait, later.first_op) &&
             (earlier.by_host() ||
              (order_.writer_of(wait) == kNoId && !before_.ordered(wait, earlier.last_op)));
    });
  }
  return std::any_of(host_signals_.begin(), host_signals_.end(),
                     [&](Id write) { return before_.ordered(earlier.last_op, write); });
}

void Walk::live(Shadows& shadows, const MemoryUse& use, uint64_t begin) {
  Life* life = life_of(shadows, begin);
  if (life == nullptr) return;
  const Overlap overlap{begin, std::min(use.end, life->end)};
  if (life->free_call != kNoId) {
    if (order_.issue(use.first_op).start_ns >= trace_.api_call.end_ns[life->free_call] ||
        life->stream_ordered)
      report(MemoryConflict::kAfterFree, use, nullptr, life->free_call, overlap, use.possible);
    return;
  }
  if (!life->stream_ordered) return;
  if (life->allocated.placed() &&
      !before_.ordered(life->allocated, before_.point_of_op(use.first_op))) {
    // It is hardly ordered with the release either: one finding says what is missing.
    report(MemoryConflict::kBeforeAllocation, use, nullptr, life->alloc_call, overlap,
           use.possible);
    return;
  }
  const uint32_t chain = chain_of(use);
  for (auto& [known, last] : life->last_uses) {
    if (known != chain) continue;
    if (last->possible || !use.possible) last = &use;
    return;
  }
  life->last_uses.push_back({chain, &use});
}

void Walk::on_alloc(Id call, bool stream_ordered) {
  const auto& calls = trace_.api_call;
  const trace::Int bytes = calls.value[call];
  if (calls.object[call] == trace::kNoInt || bytes == trace::kNoInt || bytes <= 0) return;
  Shadows& shadows = of(trace_.process_of_thread(calls.thread_id[call]));
  Life life;
  life.begin = static_cast<uint64_t>(calls.object[call]);
  life.end = life.begin + static_cast<uint64_t>(bytes);
  life.stream_ordered = stream_ordered;
  life.alloc_call = call;
  if (stream_ordered) life.allocated = before_.point_of_call(call);
  auto at = shadows.lives.upper_bound(life.begin);
  if (at != shadows.lives.begin() && std::prev(at)->second.end > life.begin) --at;
  while (at != shadows.lives.end() && at->first < life.end) at = shadows.lives.erase(at);
  shadows.certain.forget(life.begin, life.end);
  shadows.all.forget(life.begin, life.end);
  shadows.lives.emplace(life.begin, std::move(life));
}

void Walk::on_free(Id call, bool stream_ordered) {
  const auto& calls = trace_.api_call;
  Shadows& shadows = of(trace_.process_of_thread(calls.thread_id[call]));
  const auto found = shadows.lives.find(static_cast<uint64_t>(calls.object[call]));
  if (found == shadows.lives.end() || found->second.free_call != kNoId) return;
  Life& life = found->second;
  life.free_call = call;
  if (!life.stream_ordered) {
    // cudaFree waits for the device; host memory may come back from another allocator, or stays.
    if (trace_.text(calls.name_id[call]).find("Host") != std::string_view::npos)
      shadows.lives.erase(found);
    return;
  }
  const Point freed = before_.point_of_call(call);
  if (stream_ordered && life.allocated.placed() && !before_.ordered(life.allocated, freed))
    report_early_free(life, call);
  for (const auto& [chain, use] : life.last_uses) {
    const Point last = before_.point_of_op(use->last_op);
    const bool ordered =
        stream_ordered ? before_.ordered(last, freed)
                       : before_.known_to_thread(last, calls.thread_id[call], calls.start_ns[call]);
    if (!ordered)
      report(MemoryConflict::kAfterFree, *use, nullptr, call, {life.begin, life.end},
             use->possible);
  }
  life.last_uses.clear();
}

void Walk::report(MemoryConflict::Kind kind, const MemoryUse& first, const MemoryUse* second,
                  Id memory_call, Overlap overlap, bool possible) {
  // What the program would call the same two places, in either order.
  const auto place = [&](const MemoryUse& use) -> std::vector<uint64_t> {
    if (use.by_host()) return {0, trace_.access.thread_id[use.access]};
    const Id op = use.last_op;
    const auto operation = operation_names_.find(op);
    return {1,
            order_.stream(op),
            static_cast<uint64_t>(trace_.op.kind[op]),
            trace_.op.name_id[op],
            static_cast<uint64_t>(trace_.op.detail[op]),
            operation == operation_names_.end() ? kNoId : operation->second};
  };
  std::vector<uint64_t> key = place(first);
  std::vector<uint64_t> other =
      second ? place(*second)
             : std::vector<uint64_t>{2, trace_.api_call.stream_id[memory_call],
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
    // One pair of ops may meet in several pieces of memory.
    if (std::exchange(last_pairs_[known->second], pair) == pair) return;
    ++conflict.count;
    conflict.last_ns = std::max(conflict.last_ns, at);
    return;
  }
  last_pairs_.push_back(pair);
  MemoryConflict& conflict = conflicts_.emplace_back();
  conflict.kind = kind;
  conflict.first_access = first.access;
  conflict.first_op = first.last_op;
  conflict.first_writes = first.write;
  if (second) {
    conflict.second_access = second->access;
    conflict.second_op = second->first_op;
    conflict.second_writes = second->write;
    possible = possible || may_be_ordered_by_memory(first, *second);
  }
  conflict.memory_call = memory_call;
  conflict.begin = overlap.begin;
  conflict.end = overlap.end;
  conflict.possible = possible;
  conflict.count = 1;
  conflict.first_ns = conflict.last_ns = at;
}

void Walk::report_early_free(const Life& life, Id call) {
  const auto& calls = trace_.api_call;
  const Ns at = calls.end_ns[call];
  const auto [known, is_new] = known_.try_emplace(
      {calls.stream_id[life.alloc_call], calls.stream_id[call]}, conflicts_.size());
  if (is_new) {
    conflicts_.push_back({.kind = MemoryConflict::kBeforeAllocation,
                          .memory_call = life.alloc_call,
                          .free_call = call,
                          .begin = life.begin,
                          .end = life.end,
                          .first_ns = at});
    last_pairs_.emplace_back();
  }
  MemoryConflict& conflict = conflicts_[known->second];
  ++conflict.count;
  conflict.last_ns = at;
}

}  // namespace

MemoryConflicts find_memory_conflicts(const IssueOrder& order, const HappensBefore& observed) {
  const MemoryUses uses(order);
  MemoryConflicts result;
  result.unknown_kernels = uses.unknown_kernels();
  result.host_told = !uses.of_host().empty();
  if (!uses.empty()) result.found = Walk(order, observed, uses).run();
  return result;
}

}  // namespace streamscope::analysis
