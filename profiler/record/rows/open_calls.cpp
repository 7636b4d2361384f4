// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls in progress: what a process does now, from the open slots of its rings.
#include <algorithm>
#include <cstdlib>

#include "record/drain/process_drain.h"
#include "vocabulary/call_row.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;

// Clocks of two processors may differ by less, and a stamp may be read this long before other
// processors see a later store of the same thread.
constexpr int64_t kSlackNs = 2'000;
// What a call waits for is determined soon after its entry, unless its thread was interrupted or
// waited for a lock of the driver before that.
constexpr int64_t kDeterminedNs = 10'000'000;
// A record that is in progress for longer no longer holds back waits of other threads.
constexpr int64_t kPatienceNs = 1'000'000'000;

bool records_event(const std::optional<ring::OpenCall::View>& open) {
  return open && (open->call.flags & ring::kVirtualTime) == 0 &&
         row_of(ring::call_info(open->call.call).kind) == CallRow::kEventRecord;
}

}  // namespace

void ProcessDrain::adopt_shown(Lane& lane) {
  constexpr trace::Ns kSame = 1'000;  // the clock's rate may have been corrected since
  const auto adopt = [&](uint64_t begin) {
    for (const Shown& shown : shown_) {
      if (shown.tid != lane.tid || std::abs(run_.clock.to_ns(begin) - shown.start_ns) > kSame)
        continue;
      lane.open_since = begin;
      lane.open_row = shown.row;
    }
  };
  if (const auto open = lane.open_call()) adopt(open->call.begin);
  const ring::Consumer::Pending pending = lane.ring.pending();
  for (size_t i = lane.at; i < pending.size() && lane.open_row == trace::kNoId; ++i) {
    if (pending[i].head.kind != RecordKind::kCall) continue;
    adopt(as<ring::CallRecord>(pending[i]).begin);
    break;  // a thread has one call open at a time
  }
}

// A call whose record is not published yet is in its open slot, or it has not taken effect. So
// everything that ended before `cut` can be read, and no unpublished record can have taken effect
// before `watermark`.
void ProcessDrain::watch_open_calls(uint64_t now, bool ended, uint64_t* cut, uint64_t* watermark,
                                    uint64_t* horizon) {
  if (ended) {
    *cut = *watermark = kNoLimit;
    // They will not end any more.
    for (auto& lane : lanes_) {
      const auto open = lane->open_call();
      if (records_event(open) && open->call.begin != lane->open_since)
        stuck_.push_back({lane.get(), open->call});
    }
    return;
  }
  const trace::Ns now_ns = run_.clock.to_ns(now);
  *cut = run_.clock.to_ticks(now_ns - kSlackNs);
  *watermark = *horizon = *cut;
  for (auto& lane : lanes_) {
    const auto open = lane->open_call();
    if (!open || (open->call.flags & ring::kVirtualTime) != 0) continue;
    *horizon = std::min(*horizon, open->call.begin);
    if (!records_event(open)) continue;
    if (open->leaving) *cut = std::min(*cut, open->call.begin);  // its end may be before `now`
    if (open->call.begin == lane->open_since) continue;
    if (now_ns - run_.clock.to_ns(open->call.begin) > kPatienceNs) {
      stuck_.push_back({lane.get(), open->call});
    } else {
      *watermark = std::min(*watermark, open->call.begin);
    }
  }
  *watermark = std::min(*watermark, *cut);
}

// Records that are in progress for long become candidates of the waits that overlap them.
void ProcessDrain::open_stuck_records() {
  for (const StuckRecord& stuck : stuck_) {
    Lane& lane = *stuck.lane;
    if (is_over(lane, stuck.call)) continue;  // has just ended
    show(lane, stuck.call, lane.pending.size(), lane.identity_tid);
  }
  stuck_.clear();
}

void ProcessDrain::show(Lane& lane, ring::CallRecord call, size_t index, uint32_t tid) {
  if (lane.open_row != trace::kNoId && lane.open_since == call.begin) return;
  call.end = (call.flags & ring::kVirtualTime) != 0
                 ? call.begin
                 : run_.clock.to_ticks(run_.clock.to_ns(call.begin) + kDeterminedNs);
  lane.open_since = call.begin;
  lane.open_row = calls_.show(call, place(lane, index, tid));
}

void ProcessDrain::show_unfinished() {
  for (auto& lane : lanes_) {
    const auto open = lane->open_call();
    if (!open || open->leaving || is_over(*lane, open->call)) continue;
    if ((open->call.flags & ring::kVirtualTime) == 0)
      show(*lane, open->call, lane->at, lane->ring.header().tid.load(std::memory_order_relaxed));
  }
  if (row_.clock != trace::kVirtualClock) work_.show();
  stacks_.finish();  // those of the calls' entries may be the only ones
}

bool ProcessDrain::in_call(uint32_t tid) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
    return lane->ring.header().tid.load(std::memory_order_relaxed) == tid &&
           lane->open_call().has_value();
  });
}

ProcessDrain::Progress ProcessDrain::progress() const {
  Progress progress;
  progress.moved = moved_;
  progress.issued = run_.records > 0;
  progress.watchable = !paused_;
  progress.simulated = row_.clock == trace::kVirtualClock;
  progress.answered = questions_.answered();
  progress.not_done = questions_.not_done();
  for (const auto& lane : lanes_) {
    const auto open = lane->open_call();
    if (!open) continue;
    ++progress.open_calls;
    // Beginnings of queries are no progress either.
    if (!ring::is_query(ring::call_info(open->call.call).kind)) progress.moved += open->call.begin;
  }
  return progress;
}

}  // namespace streamscope::record
