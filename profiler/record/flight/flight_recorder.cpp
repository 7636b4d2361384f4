// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "flight_recorder.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "record/run/progress.h"
#include "ring/process.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using ring::RecordKind;

// 4 MiB for each process: some tens of thousands of names.
constexpr size_t kMostFacts = 1 << 16;
// A separate ring for them, after all rings that a program creates.
constexpr uint32_t kFactsIndex = ring::kRingsPerImage - 1;

// Number of records of the fact that begins here.
size_t length_of(const ring::Record& record) {
  constexpr size_t kChars = sizeof ring::TextRecord{}.bytes;
  constexpr size_t kFrames = std::size(decltype(ring::StackRecord::frames){});
  if (record.head.kind == RecordKind::kText)
    return std::max<size_t>((as<ring::TextRecord>(record).total_bytes + kChars - 1) / kChars, 1);
  if (record.head.kind == RecordKind::kStack)
    return std::max<size_t>((as<ring::StackRecord>(record).total_frames + kFrames - 1) / kFrames,
                            1);
  return 1;
}

void write_ring(const fs::path& file, const ring::RingHeader& of, uint32_t index, uint64_t head,
                uint64_t tail, const std::vector<ring::Record>& records) {
  const uint64_t capacity = std::bit_ceil(std::max<uint64_t>(records.size(), 16));
  std::vector<char> bytes(ring::kRingHeaderBytes + capacity * sizeof(ring::Record));
  auto* header = new (bytes.data()) ring::RingHeader{};
  std::memcpy(header->magic, ring::kRingMagic, sizeof header->magic);
  header->layout_version = ring::kLayoutVersion;
  header->pid = of.pid;
  header->process_start = of.process_start;
  header->capacity = header->first_size = capacity;
  header->clock = of.clock;
  header->index = index;
  header->anchor = of.anchor;
  header->head.store(head);
  header->tail.store(tail);
  header->tid.store(of.tid.load());
  header->state.store(of.state.load());
  header->stacks.store(of.stacks.load());
  header->stack_ticks.store(of.stack_ticks.load());
  if (index % ring::kRingsPerImage != kFactsIndex) {
    std::memcpy(static_cast<void*>(&header->open_call), &of.open_call, sizeof of.open_call);
    header->submission.ended.store(of.submission.ended.load());
    header->submission.operation.store(of.submission.operation.load());
    header->submission.flags.store(of.submission.flags.load());
  }
  auto* places = reinterpret_cast<ring::Record*>(bytes.data() + ring::kRingHeaderBytes);
  for (size_t i = 0; i < records.size(); ++i)
    places[(head - records.size() + i) & (capacity - 1)] = records[i];
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Error(file, "cannot be written", remedy_for(errno), errno);
  ::chmod(file.c_str(), 0600);
}

std::string ring_name(const ring::RingHeader& header, uint32_t index) {
  return std::to_string(header.pid) + "-" + std::to_string(header.process_start) + "-" +
         std::to_string(index) + ".ring";
}

}  // namespace

std::optional<KnownFacts::Key> KnownFacts::key_of(const ring::Record& record) {
  const auto key = [&](uint64_t first, uint64_t second = 0) {
    return Key{record.head.kind, first, second};
  };
  switch (record.head.kind) {
    case RecordKind::kText: {
      const auto text = as<ring::TextRecord>(record);
      return text.offset == 0 ? std::optional(key(text.hash)) : std::nullopt;
    }
    case RecordKind::kStack: {
      const auto stack = as<ring::StackRecord>(record);
      return stack.first_frame == 0 ? std::optional(key(stack.hash)) : std::nullopt;
    }
    case RecordKind::kProcess:
      return key(0);
    case RecordKind::kThread:
    case RecordKind::kDevice:
    case RecordKind::kPool:
    case RecordKind::kTimeline:
    case RecordKind::kTaskQueue:
      return key(record.head.word);
    case RecordKind::kContext:
      return key(as<ring::ContextRecord>(record).context);
    case RecordKind::kStream:
      return key(as<ring::StreamRecord>(record).handle, as<ring::StreamRecord>(record).context);
    case RecordKind::kName:
      return key(as<ring::NameRecord>(record).object, as<ring::NameRecord>(record).object_kind);
    case RecordKind::kModule:
      return key(as<ring::ModuleRecord>(record).begin_address);
    case RecordKind::kLaunchShape:
      return key(as<ring::LaunchShapeRecord>(record).shape);
    default:
      return std::nullopt;
  }
}

void KnownFacts::forget(const Key& key) {
  const auto known = facts_.find(key);
  if (known == facts_.end()) return;
  count_ -= known->second.records.size();
  by_age_.erase(known->second.number);
  facts_.erase(known);
}

void KnownFacts::add(std::span<const ring::Record> records) {
  for (size_t i = 0; i < records.size();) {
    const std::optional<Key> key = key_of(records[i]);
    const size_t length = key ? length_of(records[i]) : 0;
    if (!key || length == 0 || length > records.size() - i) {
      ++i;
      continue;
    }
    forget(*key);
    const bool ends =
        key->kind == RecordKind::kStream && as<ring::StreamRecord>(records[i]).destroyed;
    if (!ends) {
      const auto fact = records.subspan(i, length);
      by_age_.emplace(next_, *key);
      facts_.emplace(*key, Fact{next_++, {fact.begin(), fact.end()}});
      count_ += length;
    }
    while (count_ > kMostFacts) forget(by_age_.begin()->second);
    i += length;
  }
}

std::vector<ring::Record> KnownFacts::all() const {
  std::vector<ring::Record> records;
  for (const auto& [age, key] : by_age_) {
    const auto& fact = facts_.at(key).records;
    records.insert(records.end(), fact.begin(), fact.end());
  }
  return records;
}

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
  const std::vector<ring::Record> records = lane.ring.copy(&lane.read);
  facts_[ProcessIdentity::of(header)].add(records);
  for (const ring::Record& record : records) {
    moved_ += is_progress(record);
    if (record.head.kind == RecordKind::kDump) requested_ = true;
    if (record.head.kind == RecordKind::kAnswer)
      answers_.emplace_back(header.pid, as<ring::AnswerRecord>(record));
  }
}

size_t FlightRecorder::step() {
  scan();
  size_t seen = 0;
  for (Lane& lane : lanes_) {
    const uint64_t before = lane.read;
    look(lane);
    seen += lane.read - before;
  }
  return seen;
}

bool FlightRecorder::all_finished() const {
  return std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return ring::process_alive(lane.ring.header().pid, lane.ring.header().process_start);
  });
}

void FlightRecorder::copy_to(const fs::path& to) {
  std::map<ProcessIdentity, std::pair<const ring::RingHeader*, uint64_t>> first;
  for (Lane& lane : lanes_) {
    const ring::RingHeader& header = lane.ring.header();
    uint64_t head = 0;
    const std::vector<ring::Record> records = lane.ring.copy(&head);
    const uint64_t oldest = head - records.size();
    write_ring(to / ring_name(header, header.index), header, header.index, head, oldest, records);
    auto& [of, since] = first.try_emplace(ProcessIdentity::of(header), &header, 0).first->second;
    for (const ring::Record& record : records) {
      if (record.head.kind != RecordKind::kCall) continue;
      // Before this the ring is overwritten, if it was ever full.
      if (oldest > 0) since = std::max(since, as<ring::CallRecord>(record).begin);
      break;
    }
  }
  for (const auto& [process, from] : first) {
    const auto& [header, since] = from;
    std::vector<ring::Record> facts;
    if (const auto known = facts_.find(process); known != facts_.end()) facts = known->second.all();
    if (since != 0) {
      // Earlier records of events are unknown.
      auto& collecting = reinterpret_cast<ring::CollectingRecord&>(facts.emplace_back());
      collecting.kind = RecordKind::kCollecting;
      collecting.on = 1;
      collecting.begin = since;
    }
    const uint32_t index = process.image * ring::kRingsPerImage + kFactsIndex;
    write_ring(to / ring_name(*header, index), *header, index, facts.size(), 0, facts);
  }
}

}  // namespace streamscope::record
