// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/nvtx/ranges.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "collect/coord/coord_observer.h"
#include "collect/process/gate.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "vocabulary/range_name.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ring::TextHash;

constexpr size_t kMaxOpenStarts = 64;

// The range that delimits what is recorded (--capture-range nvtx:NAME or nvtx:NAME@DOMAIN).

thread_local int depth = 0;                // push/pop ranges open in this thread
thread_local uint64_t matched_depths = 0;  // bit d: the range at depth d is the delimiting one
thread_local uint64_t counted_depths = 0;  // bit d: its end shows progress
constexpr uint64_t kCounted = 1;           // bit of our id of a start/end range: the same

// Ids of open start/end ranges, as many as there is room for.
class OpenStarts {
 public:
  bool add(uint64_t id) { return replace(0, id); }
  bool remove(uint64_t id) { return replace(id, 0); }

 private:
  bool replace(uint64_t before, uint64_t after) {
    std::lock_guard lock(mutex_);
    for (uint64_t& slot : ids_) {
      if (slot != before) continue;
      slot = after;
      return true;
    }
    return false;
  }
  std::mutex mutex_;
  uint64_t ids_[kMaxOpenStarts] = {};
};
constinit OpenStarts matched_starts;  // the delimiting ones
constinit OpenStarts counted_starts;  // whose ends show progress, where ids are another tool's

bool delimits(const Act& act) {
  if (!running() || session.control->capture_range != ring::CaptureRange::kNvtx) return false;
  const std::string_view wanted = session.control->capture_range_name;
  if (is_named(act.text, wanted)) return true;
  const size_t at = wanted.rfind('@');
  return at != wanted.npos && is_named(act.text, wanted.substr(0, at)) &&
         name_of_domain(act.domain) == wanted.substr(at + 1);
}

// Records.

bool recording() { return running() && collecting(); }

void push_record(RecordKind kind, const Act& act, uint64_t begin, uint64_t id,
                 ThreadState& thread) {
  ring::RangeRecord record{};
  record.kind = kind;
  if (coord_is_simulated()) record.flags = ring::kVirtualTime;
  record.category = act.category;
  record.color = act.color;
  record.begin = begin;
  record.name = send_text(thread, act.text);
  record.domain = send_text(thread, name_of_domain(act.domain));
  record.id = id;
  if (act.nccl.is_collective && kind == RecordKind::kRangePush) {
    record.flags |= ring::kCollective;
    record.id = act.nccl.peer;
    record.bytes = act.nccl.bytes;
  }
  record.tid = thread.tid;
  record.operation = name_of_domain(act.domain) == "coord" ? thread.operation() : ring::kNone32;
  record.payload = act.payload;
  thread.push(record);
}

// The ranges that the thread opened while nothing was recorded and that are still open.
void report_pending_ranges(ThreadState& thread) {
  PendingRanges* pending = pending_ranges(false);
  if (pending == nullptr || pending->count == 0) return;
  for (uint32_t i = 0; i < pending->count; ++i) {
    const PendingRange& range = pending->ranges[i];
    Act act;
    act.domain = range.domain;
    act.text = {range.text, range.text_bytes};
    act.payload = range.payload;
    act.nccl = {range.is_collective, range.payload, range.bytes, range.peer};
    act.color = range.color;
    act.category = range.category;
    push_record(RecordKind::kRangePush, act,
                coord_is_simulated() ? thread.virtual_now : range.begin, 0, thread);
  }
  // Ranges beyond the limit were not kept; their ends are recorded without beginnings, and the
  // writer drops them.
  pending->count = pending->overflow = 0;
}

// In a process with simulated devices, ranges are on the clock of the thread's calls.
void record(RecordKind kind, const Act& act, uint64_t id = 0) {
  const uint64_t begin = ticks();
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  report_pending_ranges(*thread);
  push_record(kind, act, coord_is_simulated() ? thread->virtual_now : begin, id, *thread);
}

void remember(const Act& act) {
  PendingRanges* pending = pending_ranges(true);
  if (pending == nullptr) return;
  if (pending->count == kMaxPendingRanges) {
    ++pending->overflow;
    return;
  }
  PendingRange& range = pending->ranges[pending->count++];
  range = {};
  range.begin = ticks();
  range.payload = act.payload;
  range.bytes = act.nccl.bytes;
  range.peer = act.nccl.peer;
  range.is_collective = act.nccl.is_collective;
  range.color = act.color;
  range.category = act.category;
  range.domain = act.domain;
  range.text_bytes = static_cast<uint16_t>(std::min(act.text.size(), sizeof range.text));
  std::memcpy(range.text, act.text.data(), range.text_bytes);
}

// True if a remembered range ended here, so that nothing must be recorded.
bool forget(const void* domain) {
  PendingRanges* pending = pending_ranges(false);
  if (pending == nullptr) return false;
  if (pending->overflow > 0) {
    --pending->overflow;
    return true;
  }
  for (uint32_t i = pending->count; i-- > 0;) {
    if (pending->ranges[i].domain != domain) continue;
    std::copy(pending->ranges + i + 1, pending->ranges + pending->count, pending->ranges + i);
    --pending->count;
    return true;
  }
  return false;
}

// Ids of ours that another tool gets too must not be its own.
constexpr uint64_t kOursAmongOthers = uint64_t{0x5353} << 48;

uint64_t new_range_id(bool counted) {
  static constinit std::atomic<uint64_t> next_id{2};
  return next_id.fetch_add(2, std::memory_order_relaxed) | (counted ? kCounted : 0) |
         (has_other_tool() ? kOursAmongOthers : 0);
}

}  // namespace

int range_push(const Act& act) {
  if (depth < 64 && delimits(act)) {
    matched_depths |= uint64_t{1} << depth;
    capture_range_opened();
  }
  if (depth < 64 && shows_progress(act.text)) counted_depths |= uint64_t{1} << depth;
  if (recording()) {
    record(RecordKind::kRangePush, act);
  } else {
    remember(act);
  }
  return depth++;
}

int range_pop(const void* domain) {
  if (depth == 0) return NVTX_NO_PUSH_POP_TRACKING;
  --depth;
  Act act;
  act.domain = domain;
  if (recording() || (!forget(domain) && running())) record(RecordKind::kRangePop, act);
  if (depth < 64 && (counted_depths >> depth & 1) != 0) {
    counted_depths &= ~(uint64_t{1} << depth);
    note_range_end();
  }
  if (depth < 64 && (matched_depths >> depth & 1) != 0) {
    matched_depths &= ~(uint64_t{1} << depth);
    capture_range_closed();
  }
  return depth;
}

nvtxRangeId_t range_start(std::optional<nvtxRangeId_t> others, const Act& act) {
  const bool counted = shows_progress(act.text);
  const uint64_t id = others.value_or(0) != 0 ? *others : new_range_id(counted);
  if (counted && has_other_tool()) counted_starts.add(id);
  if (delimits(act) && matched_starts.add(id)) capture_range_opened();
  if (recording()) record(RecordKind::kRangeStart, act, id);
  return id;
}

void range_end(const void* domain, nvtxRangeId_t id) {
  Act act;
  act.domain = domain;
  if (has_other_tool() ? counted_starts.remove(id) : (id & kCounted) != 0) note_range_end();
  if (running()) record(RecordKind::kRangeEnd, act, id);
  if (!running() || session.control->capture_range != ring::CaptureRange::kNvtx) return;
  if (matched_starts.remove(id)) capture_range_closed();
}

void mark(const Act& act) {
  if (recording()) record(RecordKind::kMark, act);
}

void name_object(ring::ObjectKind kind, uint64_t object, std::string_view text) {
  if (!running()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  ring::NameRecord name{};
  name.kind = RecordKind::kName;
  name.object_kind = static_cast<uint8_t>(kind);
  name.context = ring::kNone32;
  name.object = object;
  name.name = send_text(*thread, text);
  name.begin = ticks();
  thread->push(name);
}

void joined(const NcclCommunicator& communicator) {
  if (!running()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  ring::CommunicatorRecord record{};
  record.kind = RecordKind::kCommunicator;
  record.communicator = communicator.hash;
  record.rank_count = communicator.rank_count;
  record.rank = communicator.rank;
  thread->push(record);
}

}  // namespace streamscope::collect
