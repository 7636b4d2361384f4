// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "flight_recorder.h"

#include <algorithm>
#include <functional>

#include "record/run/progress.h"
#include "ring/calls.h"
#include "ring/process.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using ring::RecordKind;

// What records of other rings may refer to: facts, and calls that make or end an event's history.
bool is_needed_by_others(const ring::Record& record) {
  const auto call = ring::kind_of_call(record);
  return call ? ring::changes_identity(*call) : KnownFacts::holds(record);
}

bool is_call(const ring::Record& record) { return record.head.kind == RecordKind::kCall; }

// All records of the ring, and in `head` the number after the last. A ring that was overwritten as
// a whole while it was copied is copied again; none are left only if that happens each time.
std::vector<ring::Record> copy_all(ring::Consumer& ring, uint64_t* head) {
  constexpr int kTries = 10;
  std::vector<ring::Record> records;
  for (int i = 0; i < kTries && records.empty() && (i == 0 || *head > 0); ++i) {
    *head = 0;
    records = ring.copy(head);
  }
  return records;
}

}  // namespace

void FlightRecorder::scan() {
  for (const std::string& name : trace::names_in(rings_)) {
    if (!name.ends_with(".ring") || opened_.contains(name)) continue;
    std::string why;
    auto ring = ring::Consumer::open(rings_ / name, &why);
    if (!ring) continue;  // incomplete
    opened_.insert(name);
    lanes_.push_back({std::move(*ring)});
  }
}

void FlightRecorder::look(Lane& lane) {
  const ring::RingHeader& header = lane.ring.header();
  const uint64_t expected = lane.read;
  const std::vector<ring::Record> copied = lane.ring.copy(&lane.read);
  if (lane.read - copied.size() > expected) lane.is_latest_sure = false;
  const size_t taken = facts_[ProcessIdentity::of(header)].add(copied);
  lane.read -= copied.size() - taken;
  for (const ring::Record& record : std::span(copied).first(taken)) {
    moved_ += is_progress(record);
    if (is_call(record)) {
      lane.latest_call = as<ring::CallRecord>(record);
      lane.is_latest_sure = true;
    }
    if (record.head.kind == RecordKind::kDump) requested_ = true;
    if (record.head.kind == RecordKind::kAnswer)
      answers_.emplace_back(header.pid, as<ring::AnswerRecord>(record));
  }
}

double FlightRecorder::step() {
  scan();
  double most = 0;
  for (Lane& lane : lanes_) {
    const uint64_t before = lane.read;
    look(lane);
    most = std::max(most, static_cast<double>(lane.read - before) /
                              static_cast<double>(lane.ring.most_records()));
  }
  return most;
}

bool FlightRecorder::all_finished() const {
  return std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return ring::process_alive(lane.ring.header().pid, lane.ring.header().process_start);
  });
}

// Until when a ring may have had calls that are overwritten now; 0: it has had none. `records` are
// left of it, the first of which has the number `oldest`.
ring::CollectingRecord FlightRecorder::lost_until(const Lane& lane,
                                                  const std::vector<ring::Record>& records,
                                                  uint64_t oldest) {
  ring::CollectingRecord until{};
  if (oldest == 0) return until;
  const auto set = [&until](const ring::CallRecord& call, uint64_t time) {
    until.flags = call.flags & ring::kVirtualTime;
    until.call_number = call.call_number;
    until.begin = time;
  };
  if (const auto left = std::ranges::find_if(records, is_call); left != records.end()) {
    const auto call = as<ring::CallRecord>(*left);
    set(call, call.begin);
  } else if (!lane.is_latest_sure || oldest > lane.read) {
    until.begin = ring::read_clock(lane.ring.header().clock);
    until.call_number = ring::kNone32;
  } else if (lane.latest_call) {
    set(*lane.latest_call, last_end(*lane.latest_call));
  }
  return until;
}

void FlightRecorder::copy_to(const fs::path& to) {
  struct First {
    const ring::RingHeader* header;
    ring::CollectingRecord lost_until;  // of the ring that lost the newest calls
  };
  std::map<ProcessIdentity, First> first;
  // The program goes on while its rings are copied, one after the other. All that happened before
  // this moment is in the copies; of what happened later, only what that refers to.
  std::vector<uint64_t> heads;
  for (const Lane& lane : lanes_)
    heads.push_back(lane.ring.header().head.load(std::memory_order_acquire));
  scan();
  heads.resize(lanes_.size());  // rings of threads that have just started
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const ring::RingHeader& header = lane.ring.header();
    const auto open = header.open_call.read();  // if it ends now, it is copied, too
    uint64_t head = 0;
    std::vector<ring::Record> records = copy_all(lane.ring, &head);
    const uint64_t oldest = head - records.size();
    ring::CollectingRecord& lost =
        first.try_emplace(ProcessIdentity::of(header), First{&header, {}}).first->second.lost_until;
    if (const auto until = lost_until(lane, records, oldest); until.begin > lost.begin)
      lost = until;
    const auto later =
        records.begin() + static_cast<ptrdiff_t>(std::clamp(heads[i], oldest, head) - oldest);
    records.erase(std::remove_if(later, records.end(), std::not_fn(is_needed_by_others)),
                  records.end());
    head = oldest + records.size();
    write_ring(to / ring_file(header, header.index), header, header.index, head, oldest, records,
               open);
  }
  for (const auto& [process, from] : first) {
    const auto& [header, lost_until] = from;
    std::vector<ring::Record> facts;
    if (const auto known = facts_.find(process); known != facts_.end()) facts = known->second.all();
    if (lost_until.begin != 0) {
      // Earlier records of events are unknown.
      auto& collecting = reinterpret_cast<ring::CollectingRecord&>(facts.emplace_back());
      collecting = lost_until;
      collecting.kind = RecordKind::kCollecting;
      collecting.on = ring::kHistoryOverwritten;
    }
    const uint32_t index = process.image * ring::kRingsPerImage + kFactsIndex;
    write_ring(to / ring_file(*header, index), *header, index, facts.size(), 0, facts);
  }
}

}  // namespace streamscope::record
