// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What each host thread did at every instant, as far as its calls show. waits.h uses it to split
// the host's part of a delay.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/stream_ops.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

/// What a thread was doing. If several states apply at one instant, the first one counts.
enum class HostState : uint8_t {
  kProfiler,     ///< delayed by the profiler
  kCodeLoading,  ///< loading code: a module load, or a kernel's code at its first launch
  kLock,         ///< in a call that was blocked until another thread's call ended
  kMemory,       ///< in a call that allocates or frees memory
  kCopy,         ///< in a call that copies and took kLongCallNs or more
  kRead,         ///< the same, if it waits for a value: a small copy to pageable memory
  kSync,         ///< blocked in a synchronization or a synchronous copy, or polling
  kCall,         ///< in another CUDA call
  kOutside,      ///< between CUDA calls
};

/// A part of an interval that a thread spent in one state.
struct HostPart {
  HostState state = HostState::kOutside;
  Ns duration_ns = 0;
  Id host_sync = kNoId;  ///< kSync: the last synchronization of the interval
  /// String id. kCall: the longest of the last calls that took kLongCallNs or more; kMemory: the
  /// first that did; kCopy, kRead: the first; kCodeLoading: what loads; kLock: the other thread's
  /// call.
  Id call_name = kNoId;
};

/// How long a thread is thought to have paused before its first call.
inline constexpr Ns kBeforeFirstNs = 1'000'000'000;

/// A call that takes at least this long is named.
inline constexpr Ns kLongCallNs = 20'000;

/// Immutable, thread-safe; keeps a reference to the trace. Built in O(calls), or O(calls log calls)
/// if they are out of order.
class HostTime {
 public:
  explicit HostTime(const Trace& trace);

  /// Where the last intervals of a caller began and ended: the next ones are usually nearby.
  class Nearby {
   public:
    explicit Nearby(const HostTime& host_time) : blocks_(host_time.threads_.size()) {}

   private:
    friend class HostTime;
    std::vector<std::pair<size_t, size_t>> blocks_;  // by thread
  };

  /// Appends the parts of [from, to) of a thread, at most one per state and other call; they sum to
  /// the interval. All of it is kOutside for an unknown thread. O(log calls).
  void split(Id thread, Ns from, Ns to, std::vector<HostPart>& parts, Nearby& nearby) const;
  void split(Id thread, Ns from, Ns to, std::vector<HostPart>& parts) const {
    Nearby nearby(*this);
    split(thread, from, to, parts, nearby);
  }
  /// The same within one call: lists only the parts that were kProfiler, kCodeLoading or kLock.
  void split_call(Id thread, Ns from, Ns to, std::vector<HostPart>& parts) const;
  /// Calls `visit(state, start, end)` for the parts of [from, to) of a known thread, in order; they
  /// are disjoint and sum to it. O(calls in it + log calls).
  template <class Visit>
  void each_part(Id thread, Ns from, Ns to, Visit visit) const;
  /// Calls `visit(start, end)` for the times of at least `least` between two calls of a thread, and
  /// for kBeforeFirstNs before its first.
  template <class Visit>
  void each_pause(Id thread, Ns least, Visit visit) const;
  /// The last call of a thread that began before `at`, as its entry and exit; unknown if none did.
  std::pair<Ns, Ns> last_call(Id thread, Ns at) const;

 private:
  // A row of one of the four tables of calls.
  class Call {
   public:
    enum Table : uint32_t { kApiCall, kEventRecord, kEventWait, kHostSync };
    Call(Table table, Id id) : bits_(id << 2 | table) {}
    Table table() const { return static_cast<Table>(bits_ & 3); }
    Id id() const { return bits_ >> 2; }

   private:
    uint32_t bits_;
  };
  // Over all calls of a thread until some time.
  struct Sums {
    Ns sync_ns = 0, call_ns = 0;
    Id last_sync = kNoId;
  };
  // One block per kBlockCalls calls.
  struct Block {
    Ns start_ns;      // of its first call
    Ns free_from_ns;  // end of the calls before it
    Sums before;
  };
  // An interval in which the state is not determined by the kind of the call.
  struct Special {
    Ns start_ns, end_ns;
    HostState state;
    Id call_name;
  };
  struct ThreadCalls {
    std::vector<Call> calls;  // by start
    std::vector<Block> blocks;
    std::vector<Call> long_calls;   // no synchronizations
    std::vector<Special> specials;  // by start, disjoint
  };

  template <class Column>
  auto value(Call call, Column column) const;
  Ns start_ns(Call call) const;
  Ns end_ns(Call call) const;
  Id name_id(Call call) const;
  bool is_sync(Call call) const;
  void add_calls();
  void add_overheads();
  void add_locks();
  void add_memory_calls();
  static std::vector<Special> without_overlaps(std::vector<Special> all);
  void add_to(Sums& sums, Call call, Ns duration) const;
  void make_blocks(ThreadCalls& thread);
  static size_t blocks_until(const ThreadCalls& thread, Ns at, size_t nearby);
  Sums until(const ThreadCalls& thread, Ns at, size_t& nearby) const;
  Id long_call(const ThreadCalls& thread, Ns from, Ns to) const;
  void split_plain(const ThreadCalls& thread, Ns from, Ns to, std::vector<HostPart>& parts,
                   std::pair<size_t, size_t>& nearby) const;
  // Calls `between(start, end)` for the time between specials, in order.
  template <class Between>
  static void split_at_specials(const ThreadCalls& thread, Ns from, Ns to, bool in_call,
                                std::vector<HostPart>& parts, Between between);

  const Trace& trace_;
  std::vector<ThreadCalls> threads_;
};

template <class Visit>
void HostTime::each_part(Id thread, Ns from, Ns to, Visit visit) const {
  const auto& [calls, blocks, long_calls, specials] = threads_[thread];
  auto special = std::ranges::upper_bound(specials, from, {}, &Special::end_ns);
  const auto lay_specials_over = [&](HostState state, Ns start, Ns end) {
    while (start < end) {
      while (special != specials.end() && special->end_ns <= start) ++special;
      const bool begins = special != specials.end() && special->start_ns <= start;
      const Ns stop = special == specials.end()
                          ? end
                          : std::min(end, begins ? special->end_ns : special->start_ns);
      visit(begins ? special->state : state, start, stop);
      start = stop;
    }
  };
  auto call = std::ranges::lower_bound(calls, from, {}, [&](Call c) { return start_ns(c); });
  if (call != calls.begin()) --call;  // it may reach into the interval
  Ns at = from;
  for (; call != calls.end() && start_ns(*call) < to; ++call) {
    const Ns start = std::max(start_ns(*call), at), end = std::min(end_ns(*call), to);
    if (start >= end) continue;
    lay_specials_over(HostState::kOutside, at, start);
    lay_specials_over(is_sync(*call) ? HostState::kSync : HostState::kCall, start, end);
    at = end;
  }
  lay_specials_over(HostState::kOutside, at, to);
}

template <class Visit>
void HostTime::each_pause(Id thread, Ns least, Visit visit) const {
  Ns free_from = kUnknownNs;
  for (const Call call : threads_[thread].calls) {
    const Ns start = start_ns(call);
    if (free_from == kUnknownNs) free_from = trace::difference_of(start, kBeforeFirstNs);
    if (start - free_from >= least) visit(free_from, start);
    free_from = std::max(free_from, end_ns(call));
  }
}

}  // namespace streamscope::analysis
