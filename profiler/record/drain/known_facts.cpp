// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "known_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "trace/error.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;

// 4 MiB for each process: some tens of thousands of names.
constexpr size_t kMostFacts = 1 << 16;

// Number of records of the fact that begins at the front. Nothing: its rest has not arrived. 0: its
// rest is lost.
template <class Chunk, class Follows>
std::optional<size_t> count_chunks(std::span<const ring::Record> records, size_t chunks,
                                   Follows follows) {
  const ring::RecordKind kind = records.front().head.kind;
  for (size_t i = 1; i < std::min(chunks, records.size()); ++i) {
    if (records[i].head.kind != kind || !follows(as<Chunk>(records[i]), i)) return 0;
  }
  return chunks <= records.size() ? std::optional(chunks) : std::nullopt;
}

std::optional<size_t> length_of(std::span<const ring::Record> records) {
  constexpr size_t kChars = sizeof ring::TextRecord{}.bytes;
  constexpr size_t kFrames = std::size(decltype(ring::StackRecord::frames){});
  if (records.front().head.kind == RecordKind::kText) {
    const auto text = as<ring::TextRecord>(records.front());
    return count_chunks<ring::TextRecord>(
        records, std::max<size_t>((text.total_bytes + kChars - 1) / kChars, 1),
        [&](const ring::TextRecord& chunk, size_t i) {
          return chunk.hash == text.hash && chunk.offset == i * kChars;
        });
  }
  if (records.front().head.kind == RecordKind::kStack) {
    const auto stack = as<ring::StackRecord>(records.front());
    return count_chunks<ring::StackRecord>(
        records, std::max<size_t>((stack.total_frames + kFrames - 1) / kFrames, 1),
        [&](const ring::StackRecord& chunk, size_t i) {
          return chunk.hash == stack.hash && chunk.first_frame == i * kFrames;
        });
  }
  return 1;
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
    case RecordKind::kCommunicator:
      return key(as<ring::CommunicatorRecord>(record).communicator);
    case RecordKind::kGraph:
      return key(as<ring::GraphRecord>(record).graph);
    case RecordKind::kGraphNode:
      return key(as<ring::GraphNodeRecord>(record).graph, as<ring::GraphNodeRecord>(record).node);
    case RecordKind::kGraphEdge: {
      const auto edge = as<ring::GraphEdgeRecord>(record);
      return key(edge.graph, std::rotl(edge.from_node, 32) ^ edge.to_node);
    }
    default:
      return std::nullopt;
  }
}

bool KnownFacts::holds(const ring::Record& record) {
  // These consist of several records.
  return record.head.kind == RecordKind::kText || record.head.kind == RecordKind::kStack ||
         key_of(record).has_value();
}

bool KnownFacts::ends(const ring::Record& record) {
  return (record.head.kind == RecordKind::kStream &&
          as<ring::StreamRecord>(record).destroyed != 0) ||
         (record.head.kind == RecordKind::kGraph && as<ring::GraphRecord>(record).destroyed != 0);
}

void KnownFacts::forget(const Key& key) {
  const auto known = facts_.find(key);
  if (known == facts_.end()) return;
  count_ -= known->second.records.size();
  by_age_.erase(known->second.number);
  facts_.erase(known);
}

void KnownFacts::forget_graph(uint64_t graph) {
  for (const RecordKind kind :
       {RecordKind::kGraph, RecordKind::kGraphNode, RecordKind::kGraphEdge}) {
    for (;;) {
      const auto known = facts_.lower_bound({kind, graph, 0});
      if (known == facts_.end() || known->first.kind != kind || known->first.first != graph) break;
      forget(Key(known->first));
    }
  }
}

size_t KnownFacts::add(std::span<const ring::Record> records) {
  size_t at = 0;
  while (at < records.size()) {
    const std::optional<Key> key = key_of(records[at]);
    const std::optional<size_t> length = key ? length_of(records.subspan(at)) : 0;
    if (!length) return at;
    if (*length == 0) {
      ++at;
      continue;
    }
    forget(*key);
    if (!ends(records[at])) {
      const auto fact = records.subspan(at, *length);
      by_age_.emplace(next_, *key);
      facts_.emplace(*key, Fact{next_++, {fact.begin(), fact.end()}});
      count_ += *length;
    } else if (key->kind == RecordKind::kGraph) {
      forget_graph(key->first);
    }
    while (count_ > kMostFacts) forget(Key(by_age_.begin()->second));
    at += *length;
  }
  return at;
}

std::vector<ring::Record> KnownFacts::all() const {
  std::vector<ring::Record> records;
  for (const auto& [age, key] : by_age_) {
    const auto& fact = facts_.at(key).records;
    records.insert(records.end(), fact.begin(), fact.end());
  }
  return records;
}

std::filesystem::path ring_file(const ring::RingHeader& of, uint32_t index) {
  return std::to_string(of.pid) + "-" + std::to_string(of.process_start) + "-" +
         std::to_string(index) + ".ring";
}

void write_ring(const std::filesystem::path& file, const ring::RingHeader& of, uint32_t index,
                uint64_t head, uint64_t tail, const std::vector<ring::Record>& records,
                const std::optional<ring::OpenCall::View>& open) {
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
  if (index % ring::kRingsPerImage != kFactsIndex) {
    header->stacks.store(of.stacks.load());
    header->stack_ticks.store(of.stack_ticks.load());
    header->submission.ended.store(of.submission.ended.load());
    header->submission.operation.store(of.submission.operation.load());
    header->submission.flags.store(of.submission.flags.load());
  }
  if (open) header->open_call.write(*open);
  auto* places = reinterpret_cast<ring::Record*>(bytes.data() + ring::kRingHeaderBytes);
  for (size_t i = 0; i < records.size(); ++i)
    places[(head - records.size() + i) & (capacity - 1)] = records[i];
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Error(file, "cannot be written", remedy_for(errno), errno);
  ::chmod(file.c_str(), 0600);
}

}  // namespace streamscope::record
