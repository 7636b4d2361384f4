// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_time.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/large_vector.h"
#include "analysis/usage/host_syncs.h"
#include "change.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kBlockCalls = 16;

// A call that waited for another call returns at most this long after it.
constexpr Ns kAfterLockNs = 20'000;

// Calls that return only once a small copy to the host is done, and so wait for all work before it.
Marks reading_calls(const Trace& trace) {
  Marks calls;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const trace::Small memory = trace.op.memory_kinds[op];
    if (memory != trace::kNoSmall && destination_of(memory) == MemoryKind::kPageable &&
        reads_value(trace, op) && trace.op.api_call_id[op] != kNoId)
      calls.add(trace.op.api_call_id[op]);
  }
  return calls;
}

// Overheads of the driver that also occur without a profiler.
bool loads_code(std::string_view overhead) {
  return overhead == "lazy function loading" || overhead == "runtime-triggered module loading" ||
         overhead == "driver compiler";
}
// A launch that waits for space in the queue to the device: part of the call itself.
bool belongs_to_call(std::string_view overhead) { return overhead == "command buffer full"; }

Ns overlap(Ns start, Ns end, Ns from, Ns to) {
  return std::max<Ns>(0, trace::difference_of(std::min(end, to), std::max(start, from)));
}

void add(HostState state, Ns duration, std::vector<HostPart>& parts, Id host_sync = kNoId,
         Id call_name = kNoId) {
  if (duration <= 0) return;
  for (HostPart& part : parts) {
    if (part.state != state) continue;
    if (state == HostState::kLock && part.call_name != call_name) continue;
    trace::add_to(part.duration_ns, duration);
    if (host_sync != kNoId) part.host_sync = host_sync;
    if (part.call_name == kNoId) part.call_name = call_name;
    return;
  }
  parts.push_back({state, duration, host_sync, call_name});
}

}  // namespace

HostTime::HostTime(const Trace& trace) : trace_(trace), threads_(trace.thread.size()) {
  add_calls();
  add_overheads();
  add_locks();
  add_memory_calls();
  for (ThreadCalls& thread : threads_) {
    thread.specials = without_overlaps(std::move(thread.specials));
    make_blocks(thread);
  }
}

// If two states overlap, the one listed first in HostState wins; of one state, the first.
std::vector<HostTime::Special> HostTime::without_overlaps(std::vector<Special> all) {
  std::ranges::sort(all, {},
                    [](const Special& s) { return std::tuple(s.state, s.start_ns, s.end_ns); });
  std::vector<Special> kept;  // by start, disjoint
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].state == all[i].state) ++end;
    std::vector<Special> merged;
    merged.reserve(kept.size() + end - i);
    size_t next = 0;
    Ns free_from = kUnknownNs;
    const auto keep_until = [&](Ns until) {
      for (; next < kept.size() && kept[next].start_ns < until; ++next) {
        free_from = std::max(free_from, kept[next].end_ns);
        merged.push_back(kept[next]);
      }
    };
    for (; i < end; ++i) {
      Special special = all[i];
      // The pieces of it that are free.
      while (special.start_ns < special.end_ns) {
        keep_until(special.start_ns + 1);
        special.start_ns = std::max(special.start_ns, free_from);
        if (special.start_ns >= special.end_ns) break;
        keep_until(special.start_ns + 1);
        if (free_from > special.start_ns) continue;
        const Ns stop =
            next < kept.size() ? std::min(special.end_ns, kept[next].start_ns) : special.end_ns;
        Special piece = special;
        piece.end_ns = stop;
        merged.push_back(piece);
        special.start_ns = free_from = stop;
      }
    }
    keep_until(std::numeric_limits<Ns>::max());
    kept = std::move(merged);
  }
  return kept;
}

template <class Column>
auto HostTime::value(Call call, Column column) const {
  switch (call.table()) {
    case Call::kApiCall:
      return (*column(trace_.api_call))[call.id()];
    case Call::kEventRecord:
      return (*column(trace_.event_record))[call.id()];
    case Call::kEventWait:
      return (*column(trace_.event_wait))[call.id()];
    case Call::kHostSync:
      break;
  }
  return (*column(trace_.host_sync))[call.id()];
}

Ns HostTime::start_ns(Call call) const {
  return value(call, [](const auto& rows) { return &rows.start_ns; });
}

Ns HostTime::end_ns(Call call) const {
  return value(call, [](const auto& rows) { return &rows.end_ns; });
}

Id HostTime::name_id(Call call) const {
  return value(call, [](const auto& rows) { return &rows.name_id; });
}

bool HostTime::is_sync(Call call) const {
  if (call.table() != Call::kHostSync) return false;
  const trace::Small kind = trace_.host_sync.kind[call.id()];
  // A row of several queries is a polling loop.
  return is_blocking(kind) || kind == trace::kSynchronousCopy ||
         trace::call_count(trace_.host_sync, call.id()) > 1;
}

void HostTime::add_calls() {
  const auto each = [&](Call::Table table, const auto& rows, auto visit) {
    for (Id row = 0; row < rows.size(); ++row) {
      const Id thread = rows.thread_id[row];
      if (thread < threads_.size() && rows.start_ns[row] != kUnknownNs &&
          rows.end_ns[row] != kUnknownNs && rows.end_ns[row] > rows.start_ns[row]) {
        visit(thread, Call(table, row));
      }
    }
  };
  const auto each_call = [&](auto visit) {
    each(Call::kApiCall, trace_.api_call, visit);
    each(Call::kEventRecord, trace_.event_record, visit);
    each(Call::kEventWait, trace_.event_wait, visit);
    each(Call::kHostSync, trace_.host_sync, visit);
  };
  std::vector<size_t> counts(threads_.size(), 0);
  each_call([&](Id thread, Call) { ++counts[thread]; });
  for (Id thread = 0; thread < threads_.size(); ++thread)
    reserve_large(threads_[thread].calls, counts[thread]);
  std::vector<std::array<size_t, 5>> ends(threads_.size());  // of each table's calls in `calls`
  each_call([&](Id thread, Call call) {
    auto& calls = threads_[thread].calls;
    calls.push_back(call);
    for (size_t table = call.table(); table < 4; ++table) ends[thread][table + 1] = calls.size();
  });
  const auto before = [&](Call a, Call b) { return start_ns(a) < start_ns(b); };
  for (Id thread = 0; thread < threads_.size(); ++thread) {
    // Each table's calls are usually in order already.
    auto& calls = threads_[thread].calls;
    const auto place = [&](size_t table) {
      return calls.begin() + static_cast<ptrdiff_t>(ends[thread][table]);
    };
    for (size_t table = 0; table < 4; ++table) {
      if (!std::is_sorted(place(table), place(table + 1), before))
        std::stable_sort(place(table), place(table + 1), before);
      std::inplace_merge(calls.begin(), place(table), place(table + 1), before);
    }
  }
}

void HostTime::add_overheads() {
  const auto& overheads = trace_.overhead;
  for (Id row = 0; row < overheads.size(); ++row) {
    const Id thread = overheads.thread_id[row];
    const std::string_view name = trace_.text(overheads.name_id[row]);
    if (thread >= threads_.size() || overheads.start_ns[row] == kUnknownNs ||
        overheads.end_ns[row] == kUnknownNs || belongs_to_call(name)) {
      continue;
    }
    threads_[thread].specials.push_back(
        {overheads.start_ns[row], overheads.end_ns[row],
         loads_code(name) ? HostState::kCodeLoading : HostState::kProfiler,
         overheads.name_id[row]});
  }
}

// The driver's internal locks are not visible. Their effect is: a long call that returns right
// after another thread's call that began earlier. Synchronizations hold no lock while they wait.
// Time spent waiting for a module load counts as code loading.
void HostTime::add_locks() {
  struct Long {
    Ns start_ns, end_ns;
    Id thread;
    Call call;
  };
  std::map<Id, std::vector<Long>> by_process;
  for (Id thread = 0; thread < threads_.size(); ++thread) {
    for (const Call call : threads_[thread].calls) {
      const Ns start = start_ns(call), end = end_ns(call);
      if (end - start < kLongCallNs || is_sync(call)) continue;
      by_process[trace_.process_of_thread(thread)].push_back({start, end, thread, call});
    }
  }
  for (auto& [process, calls] : by_process) {
    std::ranges::sort(calls, {}, &Long::end_ns);
    for (size_t i = 0; i < calls.size(); ++i) {
      const Long& held = calls[i];
      const bool loads = held.call.table() == Call::kApiCall &&
                         trace_.api_call.kind[held.call.id()] == CallKind::kModuleLoad;
      if (loads) {
        threads_[held.thread].specials.push_back(
            {held.start_ns, held.end_ns, HostState::kCodeLoading, name_id(held.call)});
        continue;
      }
      for (size_t j = i; j-- > 0 && calls[j].end_ns >= held.end_ns - kAfterLockNs;) {
        const Long& holder = calls[j];
        if (holder.thread == held.thread || holder.start_ns >= held.start_ns ||
            holder.end_ns - held.start_ns < kLongCallNs) {
          continue;
        }
        threads_[held.thread].specials.push_back(
            {held.start_ns, holder.end_ns, HostState::kLock, name_id(holder.call)});
        break;
      }
    }
  }
}

void HostTime::add_memory_calls() {
  const auto& calls = trace_.api_call;
  const Marks reading = reading_calls(trace_);
  for (Id call = 0; call < calls.size(); ++call) {
    const trace::Small kind = calls.kind[call];
    const Ns start = calls.start_ns[call], end = calls.end_ns[call];
    if (calls.thread_id[call] >= threads_.size() || start == kUnknownNs || end <= start) continue;
    const bool copies = kind == CallKind::kMemcpy || kind == CallKind::kMemcpyAsync,
               is_long = trace::difference_of(end, start) >= kLongCallNs;
    if (!(copies && is_long) && !is_allocation(kind)) continue;
    threads_[calls.thread_id[call]].specials.push_back({start, end,
                                                        !copies             ? HostState::kMemory
                                                        : reading.has(call) ? HostState::kRead
                                                                            : HostState::kCopy,
                                                        is_long ? calls.name_id[call] : kNoId});
  }
}

void HostTime::add_to(Sums& sums, Call call, Ns duration) const {
  if (is_sync(call)) {
    trace::add_to(sums.sync_ns, duration);
    sums.last_sync = call.id();
  } else {
    trace::add_to(sums.call_ns, duration);
  }
}

// A thread is in one call at a time; malformed data must not count time twice.
void HostTime::make_blocks(ThreadCalls& thread) {
  Sums sums;
  Ns free_from = kUnknownNs;
  for (uint32_t i = 0; i < thread.calls.size(); ++i) {
    const Call call = thread.calls[i];
    if (i % kBlockCalls == 0) {
      thread.blocks.push_back({start_ns(call), free_from, sums});
    }
    const Ns end = end_ns(call);
    const Ns duration =
        std::max<Ns>(0, trace::difference_of(end, std::max(start_ns(call), free_from)));
    free_from = std::max(free_from, end);
    add_to(sums, call, duration);
    if (duration >= kLongCallNs && !is_sync(call)) thread.long_calls.push_back(call);
  }
}

// How many blocks begin by then. Searches from `nearby`, doubling the step.
size_t HostTime::blocks_until(const ThreadCalls& thread, Ns at, size_t nearby) {
  const auto& blocks = thread.blocks;
  size_t low = nearby, high = nearby, step = 1;
  while (low > 0 && blocks[low - 1].start_ns > at) {
    high = low;
    low -= std::min(low, step);
    step *= 2;
  }
  for (; high < blocks.size() && blocks[high].start_ns <= at; step *= 2) {
    low = high;
    high = std::min(blocks.size(), high + step);
  }
  const auto found = std::ranges::upper_bound(blocks.begin() + static_cast<ptrdiff_t>(low),
                                              blocks.begin() + static_cast<ptrdiff_t>(high), at, {},
                                              &Block::start_ns);
  return static_cast<size_t>(found - blocks.begin());
}

HostTime::Sums HostTime::until(const ThreadCalls& thread, Ns at, size_t& nearby) const {
  const size_t begun = nearby = blocks_until(thread, at, nearby);
  if (begun == 0) return {};
  const Block* block = &thread.blocks[begun - 1];
  Sums sums = block->before;
  Ns free_from = block->free_from_ns;
  const size_t first = (begun - 1) * kBlockCalls;
  for (size_t i = first; i < std::min(first + kBlockCalls, thread.calls.size()); ++i) {
    const Call call = thread.calls[i];
    const Ns start = start_ns(call), end = end_ns(call);
    if (start >= at) break;
    const Ns duration = overlap(start, end, std::max(start, free_from), at);
    free_from = std::max(free_from, end);
    add_to(sums, call, duration);
  }
  return sums;
}

Id HostTime::long_call(const ThreadCalls& thread, Ns from, Ns to) const {
  constexpr int kMostLookedAt = 64;
  auto call =
      std::ranges::lower_bound(thread.long_calls, to, {}, [&](Call c) { return start_ns(c); });
  Ns longest_ns = 0;
  Id name = kNoId;
  for (int i = 0; i < kMostLookedAt && call != thread.long_calls.begin(); ++i) {
    --call;
    const Ns duration = overlap(start_ns(*call), end_ns(*call), from, to);
    if (duration == 0) break;
    if (duration <= longest_ns) continue;
    longest_ns = duration;
    name = name_id(*call);
  }
  return name;
}

void HostTime::split_plain(const ThreadCalls& thread, Ns from, Ns to, std::vector<HostPart>& parts,
                           std::pair<size_t, size_t>& nearby) const {
  const Sums before = until(thread, from, nearby.first), after = until(thread, to, nearby.second);
  const Ns sync = std::clamp<Ns>(after.sync_ns - before.sync_ns, 0, to - from);
  const Ns call = std::clamp<Ns>(after.call_ns - before.call_ns, 0, to - from - sync);
  add(HostState::kSync, sync, parts, after.last_sync);
  const bool named = call >= kLongCallNs;
  add(HostState::kCall, call, parts, kNoId, named ? long_call(thread, from, to) : kNoId);
  add(HostState::kOutside, to - from - sync - call, parts);
}

template <class Between>
void HostTime::split_at_specials(const ThreadCalls& thread, Ns from, Ns to, bool in_call,
                                 std::vector<HostPart>& parts, Between between) {
  const auto& specials = thread.specials;
  auto special = std::ranges::upper_bound(specials, from, {}, &Special::end_ns);
  Ns at = from;
  for (; special != specials.end() && special->start_ns < to; ++special) {
    if (in_call && (special->state == HostState::kMemory || special->state == HostState::kCopy ||
                    special->state == HostState::kRead))
      continue;
    const Ns begin = std::max(special->start_ns, from), end = std::min(special->end_ns, to);
    if (begin > at) between(at, begin);
    add(special->state, end - begin, parts, kNoId, special->call_name);
    at = end;
  }
  if (at < to) between(at, to);
}

void HostTime::split(Id thread, Ns from, Ns to, std::vector<HostPart>& parts,
                     Nearby& nearby) const {
  if (from >= to) return;
  if (thread >= threads_.size()) return add(HostState::kOutside, to - from, parts);
  split_at_specials(threads_[thread], from, to, false, parts, [&](Ns start, Ns end) {
    split_plain(threads_[thread], start, end, parts, nearby.blocks_[thread]);
  });
}

std::pair<Ns, Ns> HostTime::last_call(Id thread, Ns at) const {
  const auto& calls = threads_[thread].calls;
  const auto next =
      std::ranges::lower_bound(calls, at, {}, [&](Call call) { return start_ns(call); });
  if (next == calls.begin()) return {kUnknownNs, kUnknownNs};
  return {start_ns(*std::prev(next)), end_ns(*std::prev(next))};
}

void HostTime::split_call(Id thread, Ns from, Ns to, std::vector<HostPart>& parts) const {
  if (from >= to || thread >= threads_.size()) return;
  split_at_specials(threads_[thread], from, to, true, parts, [](Ns, Ns) {});
}

}  // namespace streamscope::analysis
