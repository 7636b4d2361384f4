// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "process_drain.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "record/run/rings_folder.h"
#include "vocabulary/call_row.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;

// Records of all rings per cycle; few, so that a cycle is short: none is relieved meanwhile.
constexpr size_t kCycle = 65'536, kLeastPiece = 1024;
// A poll becomes a row after this time at the latest, so that an unfinished trace shows it.
constexpr auto kLongestPoll = std::chrono::milliseconds(100);

/// Where a change of identities lies among the others.
uint64_t when_it_matters(const ring::Record& record) {
  switch (record.head.kind) {
    case RecordKind::kCall:
      return as<ring::CallRecord>(record).end;
    case RecordKind::kContext:
      return as<ring::ContextRecord>(record).begin;
    case RecordKind::kStream:
      return as<ring::StreamRecord>(record).begin;
    case RecordKind::kCollecting:
      return as<ring::CollectingRecord>(record).begin;
    default:
      return 0;  // devices first
  }
}

/// A call whose stamps are of the run's clock.
bool is_timed_call(const ring::Record& record) {
  return record.head.kind == RecordKind::kCall && (record.head.flags & ring::kVirtualTime) == 0;
}

}  // namespace

ProcessDrain::ProcessDrain(RunState& run, const ProcessIdentity& identity)
    : ProcessDrain(run, identity, run.writer.append(trace::Process{})) {
  row_.os_pid = static_cast<trace::Small>(identity.pid);
  row_.clock = trace::kMonotonicClock;
  run_.writer.update(id_, row_);
  // Work that was issued before the part may still be reported in it.
  if (run_.options.on_demand) work_.pause(std::numeric_limits<trace::Ns>::min());
  paused_ = run_.options.on_demand;
}

ProcessDrain::ProcessDrain(RunState& run, const ProcessIdentity& identity, trace::Id row)
    : run_(run),
      identity_(identity),
      id_(row),
      objects_(run, row),
      operations_(run, objects_, row),
      stacks_(run, row),
      work_(run, objects_, row),
      correlations_(run, work_),
      annotations_(run, objects_, operations_),
      graphs_(run, row),
      questions_(run, row),
      calls_(run, objects_, operations_, stacks_, work_, correlations_, graphs_, questions_, row),
      accesses_(run, objects_, operations_, row),
      tensor_blocks_(run, objects_, stacks_, row),
      coord_waits_(run, objects_, operations_, row),
      cost_windows_(run, id_),
      tasks_(run, objects_, operations_, row),
      host_samples_(run, objects_, stacks_) {}

void ProcessDrain::add_ring(ring::Consumer ring, const RingPosition& stored) {
  auto lane = std::make_unique<Lane>(std::move(ring), static_cast<uint32_t>(lanes_.size()));
  lane->tid = lane->identity_tid = lane->ring.header().tid.load(std::memory_order_relaxed);
  const uint64_t tail = lane->ring.tail();
  lane->released = tail;
  if (stored.records > tail)
    lane->at = lane->identity_at =
        std::min<size_t>(stored.records - tail, lane->ring.pending().size());
  lane->dropped = stored.dropped;
  const ring::RingHeader& header = lane->ring.header();
  if (run_.options.on_demand && header.anchor.ticks < run_.began) {
    // What happened before belongs to no part.
    lane->dropped = header.dropped.load(std::memory_order_acquire);
    lane->submission_end = header.submission.ended.load(std::memory_order_acquire);
    lane->store_asked = header.stored.load(std::memory_order_relaxed);
  }
  if (!shown_.empty()) adopt_shown(*lane);
  lanes_.push_back(std::move(lane));
}

void ProcessDrain::restore(EarlierRows& rows, bool has_rings) {
  row_ = detail::row_at(rows.trace().process, id_);
  finished_ = !has_rings || row_.complete != trace::kNoSmall;
  if (finished_) return;
  objects_.restore(rows);
  operations_.restore(rows);
  tasks_.restore(rows);
  graphs_.restore(rows);
  annotations_.restore(rows, id_);
  stacks_.restore(rows);
  calls_.restore(rows);
  tensor_blocks_.restore(rows);
  restore_shown<trace::ApiCall>(rows);
  restore_shown<trace::HostSync>(rows);
  restore_shown<trace::EventWait>(rows);
}

template <class Row>
void ProcessDrain::restore_shown(EarlierRows& rows) {
  rows.each<Row>(id_, [&](trace::Id id, const Row& row) {
    const auto tid = static_cast<uint32_t>(rows.trace().thread.os_tid[row.thread_id]);
    if (row.end_ns == trace::kUnknownNs) shown_.push_back({row.start_ns, tid, id});
  });
}

void ProcessDrain::count_drops(uint64_t now) {
  for (auto& lane : lanes_) {
    const ring::RingHeader& header = lane->ring.header();
    const uint64_t dropped = header.dropped.load(std::memory_order_acquire);
    if (dropped <= lane->dropped) continue;
    const auto count = static_cast<int64_t>(dropped - lane->dropped);
    lane->dropped = dropped;
    const int error = header.growth_error.load(std::memory_order_relaxed);
    const char* kind = error == 0 ? "ring-full" : "ring-not-grown";
    const trace::Id detail = error == 0 ? trace::kNoId : run_.writer.intern(std::strerror(error));
    if (now == 0) {  // long ago
      run_.losses.add(id_, kind, count, trace::kUnknownNs, trace::kUnknownNs, detail);
      calls_.lose_history(0, kNoLimit);
      continue;
    }
    // Whatever was lost ended after the last watermark, or a wait bound before it would have waited
    // for it.
    const uint64_t until = std::max(now, ring::read_clock(header.clock));
    const uint64_t since = watermark_ != 0 && watermark_ < now ? watermark_ : header.anchor.ticks;
    run_.losses.add(id_, kind, count, run_.clock.to_ns(since), run_.clock.to_ns(until), detail);
    if (row_.clock == trace::kVirtualClock) {
      calls_.lose_history(0, kNoLimit);  // nobody knows which calls
    } else {
      calls_.lose_history(since, until);
    }
  }
}

bool ProcessDrain::is_identity(const ring::Record& record) const {
  if (const auto call = ring::kind_of_call(record)) return ring::changes_identity(*call);
  switch (record.head.kind) {
    case RecordKind::kDevice:
    case RecordKind::kContext:
    case RecordKind::kStream:
    case RecordKind::kCollecting:
      return true;
    default:
      return false;
  }
}

// A large backlog is read in pieces with similar end times, so that what is read together fits into
// the CPU caches. Returns where this lane wants the piece to end.
uint64_t ProcessDrain::end_of_piece(const Lane& lane) const {
  const size_t piece = std::clamp(kCycle / lanes_.size(), kLeastPiece, kPiece);
  const size_t first = lane.at + piece;
  for (size_t i = first; i < std::min(first + piece, lane.pending.size()); ++i) {
    if (is_timed_call(lane.pending[i])) return as<ring::CallRecord>(lane.pending[i]).end;
  }
  return kNoLimit;
}

// The first call that ended after the cut; ends ascend within a lane.
size_t ProcessDrain::identity_limit(const Lane& lane, uint64_t cut) const {
  size_t limit = std::max(lane.at, lane.identity_at);
  for (; limit < lane.pending.size(); ++limit) {
    const ring::Record& record = lane.pending[limit];
    if (is_timed_call(record) && as<ring::CallRecord>(record).end > cut) break;
  }
  return limit;
}

// Device work that began after the cut of a piece belongs to calls that are not read yet.
size_t ProcessDrain::work_limit(const Lane& lane, uint64_t cut) const {
  const int64_t cut_ns = run_.clock.to_monotonic(run_.clock.to_ns(cut));
  for (size_t i = lane.at; i < lane.visible; ++i) {
    const ring::Record& record = lane.pending[i];
    if (record.head.kind < RecordKind::kKernel || record.head.kind > RecordKind::kGraphLaunch)
      continue;
    if ((record.head.flags & ring::kVirtualTime) == 0 &&
        as<ring::OpRecord>(record).begin_ns > cut_ns)
      return i;
  }
  return lane.visible;
}

CallPlace ProcessDrain::place(Lane& lane, size_t index, uint32_t tid) {
  if (tid != lane.tid) return {lane.number, lane.released + index, tid, objects_.thread(tid)};
  if (lane.thread == trace::kNoId) lane.thread = objects_.thread(tid);
  return {lane.number, lane.released + index, tid, lane.thread};
}

void ProcessDrain::look_for_store_requests() {
  bool has_new = false;
  for (auto& lane : lanes_) {
    const uint32_t asked = lane->ring.header().store_asked.load(std::memory_order_acquire);
    has_new |= std::exchange(lane->store_asked, asked) != asked;
  }
  if (!has_new) return;
  for (auto& lane : lanes_)
    lane->store_until = lane->ring.header().head.load(std::memory_order_acquire);
}

bool ProcessDrain::can_answer_store() const {
  return std::ranges::any_of(lanes_,
                             [](const auto& lane) {
                               return lane->store_asked !=
                                      lane->ring.header().stored.load(std::memory_order_relaxed);
                             }) &&
         std::ranges::all_of(lanes_, [](const auto& lane) {
           return lane->released + lane->at >= lane->store_until;
         });
}

void ProcessDrain::answer_store() {
  for (auto& lane : lanes_) lane->ring.set_stored(lane->store_asked);
}

void ProcessDrain::look_first(bool ended) {
  for (auto& lane : lanes_)
    lane->first_read = lane->released + lane->ring.pending(ended || run_.finishing).size();
}

size_t ProcessDrain::cycle(uint64_t now, bool ended) {
  if (!ended) last_seen_ = std::max(last_seen_, now);
  look_for_store_requests();
  uint64_t cut = 0, watermark = 0, horizon = kNoLimit;
  watch_open_calls(now, ended, &cut, &watermark, &horizon);
  if (ended) look_first(true);  // the rings are complete, and are read in one piece after another
  uint64_t piece = kNoLimit;
  for (auto& lane : lanes_) {
    look(*lane, ended || run_.finishing);
    piece = std::min(piece, end_of_piece(*lane));
  }
  const bool in_pieces = piece < cut;
  cut = std::min(cut, piece);
  watermark = std::min(watermark, cut);
  std::vector<Lane*> active;
  for (auto& lane : lanes_) {
    lane->identity_limit = identity_limit(*lane, cut);
    lane->visible = std::min<size_t>(std::max(lane->first_read, lane->released) - lane->released,
                                     lane->identity_limit);
    if (in_pieces) lane->visible = work_limit(*lane, cut);
    watermark = std::min(watermark, record_behind(*lane));
    if (lane->at < lane->visible || lane->identity_at < lane->identity_limit)
      active.push_back(lane.get());
  }
  count_drops(now);
  calls_.set_watermark(watermark, horizon_);
  watermark_ = watermark;

  size_t before = 0, after = 0;
  for (Lane* lane : active) before += lane->at;
  // A single lane is sorted already: one pass does both.
  if (active.size() != 1 || !stuck_.empty()) {
    read_identities(active);
    open_stuck_records();
  }
  for (Lane* lane : active) read_lane(*lane);
  for (Lane* lane : active) after += lane->at;
  for (auto& lane : lanes_)
    operations_.describe(lane->ring.header().submission, &lane->submission_end);
  calls_.bind_deferred();
  // Calls that the next cycles read began after this, or are listed here.
  horizon_ = std::min(horizon, calls_.earliest_deferred());
  for (auto& lane : lanes_) horizon_ = std::min(horizon_, earliest_unread(*lane));
  if (now != 0) {
    const trace::Ns read_until = run_.clock.to_ns(std::min(now, horizon_));
    correlations_.give_up(read_until);
    work_.give_up_unmatched(read_until);
  }
  fill_process_texts(false);
  run_.records += after - before;
  return after - before;
}

void ProcessDrain::look(Lane& lane, bool seal) {
  lane.pending = lane.ring.pending(seal);
  const uint64_t poll = lane.ring.growing_poll();
  if (poll == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(lane.poll, poll) != poll) {
    lane.poll_seen = now;
  } else if (now - lane.poll_seen > kLongestPoll) {
    lane.pending = lane.ring.pending();
  }
}

// Only the first call after the cut can have begun before it.
uint64_t ProcessDrain::record_behind(const Lane& lane) const {
  for (size_t i = lane.identity_limit; i < lane.pending.size(); ++i) {
    const ring::Record& record = lane.pending[i];
    if (record.head.kind == RecordKind::kCall)
      return is_identity(record) ? as<ring::CallRecord>(record).begin : kNoLimit;
  }
  return kNoLimit;
}

uint64_t ProcessDrain::earliest_unread(Lane& lane) const {
  lane.next_call = std::max(lane.next_call, lane.at);
  for (; lane.next_call < lane.pending.size(); ++lane.next_call) {
    const ring::Record& record = lane.pending[lane.next_call];
    if (record.head.kind == RecordKind::kCall) return as<ring::CallRecord>(record).begin;
  }
  return lane.ring.growing_poll() != 0 ? lane.ring.growing_poll() : kNoLimit;
}

// Events may have been recorded that no call shows.
void ProcessDrain::note_unseen_records(const ring::Record& record) {
  if (record.head.kind == RecordKind::kLoss)
    note_unseen_thread(as<ring::LossRecord>(record));
  else if (ring::kind_of_call(record) == CallKind::kGraphLaunch)
    calls_.launched_graph(as<ring::CallRecord>(record).end);
}

void ProcessDrain::read_identities(const std::vector<Lane*>& lanes) {
  items_.clear();
  for (Lane* lane : lanes) {
    for (size_t i = lane->identity_at; i < lane->identity_limit; ++i) {
      const ring::Record& record = lane->pending[i];
      if (record.head.kind == RecordKind::kThread) {
        lane->identity_tid = record.head.word;
      } else if (is_identity(record)) {
        items_.push_back({when_it_matters(record), lane, i, lane->identity_tid});
      } else {
        note_unseen_records(record);
      }
    }
    lane->identity_at = std::max(lane->identity_at, lane->identity_limit);
  }
  if (!std::ranges::is_sorted(items_, {}, &IdentityItem::when))
    std::ranges::stable_sort(items_, {}, &IdentityItem::when);
  for (const IdentityItem& item : items_) take_identity(*item.lane, item.index, item.tid);
}

void ProcessDrain::take_identity(Lane& lane, size_t index, uint32_t tid) {
  const ring::Record& record = lane.pending[index];
  switch (record.head.kind) {
    case RecordKind::kDevice:
      return objects_.describe(as<ring::DeviceRecord>(record));
    case RecordKind::kContext:
      return objects_.describe(as<ring::ContextRecord>(record));
    case RecordKind::kStream:
      return objects_.describe(as<ring::StreamRecord>(record));
    case RecordKind::kCollecting:
      return describe(as<ring::CollectingRecord>(record));
    default:
      break;
  }
  const auto call = as<ring::CallRecord>(record);
  ++moved_;
  see(lane, call);
  CallPlace where = place(lane, index, tid);
  if (lane.open_row != trace::kNoId && call.begin == lane.open_since) {
    where.row = std::exchange(lane.open_row, trace::kNoId);
    if (row_of(ring::call_info(call.call).kind) == CallRow::kEventRecord)
      return calls_.close_record(where.row, call, where);
  }
  calls_.change_identity(call, where);
}

// Without read_identities() before, also what changes identities.
void ProcessDrain::read_lane(Lane& lane) {
  size_t i = lane.at;
  while (i < lane.visible) {
    size_t taken = 1;
    if (!is_identity(lane.pending[i])) {
      taken = read(lane, i, lane.visible);
    } else if (i >= lane.identity_at) {
      take_identity(lane, i, lane.tid);
    }
    if (taken == 0) break;
    i += taken;
  }
  lane.at = i;
  if (lane.identity_at < i) {
    lane.identity_at = i;
    lane.identity_tid = lane.tid;
  }
}

void ProcessDrain::read_call(Lane& lane, size_t index) {
  const auto call = as<ring::CallRecord>(lane.pending[index]);
  if (call.call >= ring::call_count()) return invalid();
  see(lane, call);
  CallPlace where = place(lane, index, lane.tid);
  if (lane.open_row != trace::kNoId && call.begin == lane.open_since)
    where.row = std::exchange(lane.open_row, trace::kNoId);
  calls_.add(call, where);
}

void ProcessDrain::see(Lane& lane, const ring::CallRecord& call) {
  lane.last_begin = call.begin;
  lane.last_end = ring::last_end(call);
  see(lane.last_end, call.flags);
}

void ProcessDrain::see(uint64_t stamp, uint8_t flags) {
  if ((flags & ring::kVirtualTime) == 0) {
    last_seen_ = std::max(last_seen_, stamp);
    return;
  }
  last_virtual_ = std::max(last_virtual_, stamp);
  if (row_.clock == trace::kVirtualClock) return;
  row_.clock = trace::kVirtualClock;
  row_.start_ns = 0;
  run_.writer.update(id_, row_);
}

std::vector<WatchedThread> ProcessDrain::issuing_threads(uint64_t now) const {
  constexpr trace::Ns kRecently = 1'000'000'000;
  std::vector<WatchedThread> threads;
  if (paused_ || row_.clock == trace::kVirtualClock) return threads;
  const trace::Ns since = run_.clock.to_ns(now) - kRecently;
  for (const auto& lane : lanes_) {
    if (lane->last_begin == 0 || run_.clock.to_ns(lane->last_begin) < since) continue;
    threads.push_back({.process = id_,
                       .pid = static_cast<pid_t>(pid()),
                       .tid = lane->tid,
                       .python = host_samples_.python(lane->tid)});
  }
  return threads;
}

void ProcessDrain::finish(Ending ending) {
  if (finished_) return;
  for (const auto& lane : lanes_) {
    const int unreadable = lane->ring.unreadable();
    check_shortage(lane->ring.file(), unreadable);
    if (unreadable == 0) continue;
    run_.losses.add(id_, "ring-torn", 1, trace::kUnknownNs, trace::kUnknownNs,
                    run_.writer.intern(lane->ring.file().filename().string() + " was truncated"));
  }
  finished_ = true;
  handed_over_ = ending == Ending::kHandedOver;
  for (auto& lane : lanes_) {
    const auto open = lane->open_call();
    if (handed_over_ || !open) continue;
    // Killed between publishing the record and clearing the slot.
    if (is_over(*lane, open->call)) continue;
    show(*lane, open->call, lane->at, lane->tid);
    run_.losses.add(id_, "call-not-finished", 1);
  }
  if (paused_ && !run_.options.on_demand) run_.losses.add_pause(id_, paused_since_ns_);
  correlations_.finish();
  cost_windows_.finish();
  work_.finish();
  stacks_.finish();
  count_stacks();
  fill_process_texts(true);
  if (row_.clock == trace::kVirtualClock) {
    row_.end_ns = static_cast<trace::Ns>(last_virtual_);
  } else if (row_.end_ns == trace::kUnknownNs && ending != Ending::kAbandoned && last_seen_ != 0) {
    row_.end_ns = run_.clock.to_ns(last_seen_);
  }
  row_.complete = complete();
  run_.writer.update(id_, row_);
  replaced_ = ending == Ending::kReplaced;
  if (ending == Ending::kAbandoned || complete()) return;
  reported_end_ = end_loss();
  run_.losses.add(id_, reported_end_, 1);
}

double ProcessDrain::fullest_ring() const {
  double fullest = 0;
  for (const auto& lane : lanes_)
    fullest = std::max(
        fullest, static_cast<double>(lane->at) / static_cast<double>(lane->ring.most_records()));
  return fullest;
}

void ProcessDrain::release(KnownFacts* facts) {
  std::vector<ring::Record> records;
  for (auto& lane : lanes_) {
    if (facts != nullptr) {
      records.clear();
      for (size_t i = 0; i < lane->at; ++i) records.push_back(lane->pending[i]);
      facts->add(records);
    }
    lane->ring.release(lane->at);
    lane->released += lane->at;
    lane->identity_at -= lane->at;
    lane->next_call -= std::min(lane->next_call, lane->at);
    lane->at = 0;
    lane->pending = {};
  }
}

void ProcessDrain::relieve_rings() {
  for (auto& lane : lanes_) {
    if (lane->ring.is_filling()) lane->ring.relieve();
  }
}

void ProcessDrain::describe_positions(std::string& text) const {
  for (const auto& lane : lanes_) {
    text += lane->ring.file().filename().string() + " " +
            std::to_string(lane->released + lane->at) + " " + std::to_string(lane->dropped) + " " +
            std::to_string(id_) + "\n";
  }
}

void ProcessDrain::describe_numbers(std::string& text) {
  work_.each_number([&](uint32_t correlation_id, uint32_t call_number) {
    text += std::to_string(id_) + " " + std::to_string(correlation_id) + " " +
            std::to_string(call_number) + "\n";
  });
}

void ProcessDrain::remove_rings() {
  for (auto& lane : lanes_) {
    std::error_code ignored;
    std::filesystem::remove(lane->ring.file(), ignored);
    std::filesystem::remove(lane->ring.backlog_file(), ignored);
  }
  lanes_.clear();
}

}  // namespace streamscope::record
