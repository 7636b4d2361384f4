// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_lives.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/memory_kind.h"

#include <algorithm>
#include <limits>

namespace streamscope::analysis {
namespace {

MemoryKind memory_of_end(const Trace& trace, Id op, bool destination) {
  const trace::Small kinds = trace.op.memory_kinds[op];
  if (kinds == trace::kNoSmall) return MemoryKind::kUnknown;
  return static_cast<MemoryKind>(destination ? destination_of(kinds) : source_of(kinds));
}

MemorySpace space_of_memory(MemoryKind memory) {
  using enum MemorySpace;
  constexpr MemorySpace kSpaces[] = {kUnknown, kHost,   kHost,   kDevice,
                                     kUnknown, kEither, kDevice, kEither};  // by MemoryKind
  const auto number = static_cast<size_t>(memory);
  return number < std::size(kSpaces) ? kSpaces[number] : kUnknown;
}

// By op.detail of a copy, in the order of CopyKind.
MemorySpace space_of_direction(trace::Small detail, bool destination) {
  constexpr MemorySpace kHost = MemorySpace::kHost, kDevice = MemorySpace::kDevice,
                        kNone = MemorySpace::kUnknown;
  constexpr std::pair<MemorySpace, MemorySpace> kEnds[] = {{kNone, kNone},    // unknown
                                                           {kHost, kDevice},  // HtoD
                                                           {kDevice, kHost},  // DtoH
                                                           {kHost, kNone},    // HtoA
                                                           {kNone, kHost},    // AtoH
                                                           {kNone, kNone},    // AtoA
                                                           {kNone, kDevice},  // AtoD
                                                           {kDevice, kNone},  // DtoA
                                                           {kDevice, kDevice}, {kHost, kHost},
                                                           {kDevice, kDevice}};  // DtoD, HtoH, PtoP
  if (detail < 0 || static_cast<size_t>(detail) >= std::size(kEnds)) return kNone;
  return destination ? kEnds[detail].second : kEnds[detail].first;
}

bool copies_at_its_call(const Trace& trace, Id op) {
  return trace.op.kind[op] == trace::kMemcpy && trace.op.graph_node[op] == trace::kNoInt;
}

// Pools allocate at least this much at once (2 MiB; PyTorch's caching allocator) and align the
// pieces at least like cudaMalloc.
constexpr uint64_t kLeastCarved = uint64_t{2} << 20, kPieceAlignment = 256;

}  // namespace

MemorySpace space_of_end(const Trace& trace, Id op, bool destination) {
  switch (trace.op.kind[op]) {
    case trace::kMemcpy: {
      const MemorySpace measured = space_of_memory(memory_of_end(trace, op, destination));
      return measured != MemorySpace::kUnknown
                 ? measured
                 : space_of_direction(trace.op.detail[op], destination);
    }
    case trace::kMemset: {
      const trace::Small memory = trace.op.detail[op];
      const bool of_cuda =
          memory != trace::kNoSmall && memory > static_cast<trace::Small>(MemoryKind::kPageable);
      return of_cuda ? MemorySpace::kEither : MemorySpace::kUnknown;
    }
    default:
      return MemorySpace::kUnknown;
  }
}

bool is_staged(const Trace& trace, Id op, bool destination) {
  return copies_at_its_call(trace, op) &&
         memory_of_end(trace, op, destination) == MemoryKind::kPageable;
}

bool is_staged_unless_pinned(const Trace& trace, Id op, bool destination) {
  return copies_at_its_call(trace, op) &&
         memory_of_end(trace, op, destination) == MemoryKind::kUnknown &&
         space_of_end(trace, op, destination) == MemorySpace::kHost;
}

MemorySpace space_by_call(std::string_view name) {
  return name.find("Managed") != name.npos ? MemorySpace::kEither
         : name.find("Host") != name.npos  ? MemorySpace::kHost
                                           : MemorySpace::kDevice;
}

MemoryLife life_of_call(const Trace& trace, Id api_call, bool captured) {
  const auto& calls = trace.api_call;
  const std::string_view name = trace.text(calls.name_id[api_call]);
  MemoryLife life;
  life.alloc_call = api_call;
  life.begin = life.end = static_cast<uint64_t>(calls.object[api_call]);
  life.stream_ordered = calls.kind[api_call] == CallKind::kMallocAsync && !captured;
  life.space = space_by_call(name);
  if (const trace::Int bytes = calls.value[api_call]; bytes != trace::kNoInt && bytes > 0)
    life.end += static_cast<uint64_t>(bytes);
  return life;
}

MemoryLife* MemoryLives::find(uint64_t address, MemorySpace space) {
  const auto found = lives_.upper_bound(address);
  if (found == lives_.begin()) return nullptr;
  MemoryLife& life = std::prev(found)->second;
  return address < life.end && may_be_same(life.space, space) ? &life : nullptr;
}

std::vector<MemoryLife*> MemoryLives::alive_at(uint64_t begin, uint64_t bytes) {
  std::vector<MemoryLife*> alive;
  for (auto at = lives_.lower_bound(begin);
       at != lives_.end() && at->first - begin < std::max<uint64_t>(bytes, 1); ++at) {
    if (at->second.free_call == kNoId) alive.push_back(&at->second);
  }
  return alive;
}

void MemoryLives::add(MemoryLife life) {
  auto at = lives_.upper_bound(life.begin);
  if (at != lives_.begin() && std::prev(at)->second.end > life.begin) --at;
  if (life.end == life.begin) {
    while (at != lives_.end() && at->second.free_call != kNoId) at = lives_.erase(at);
    return;
  }
  while (at != lives_.end() && at->first < life.end) at = lives_.erase(at);
  const uint64_t begin = life.begin;
  lives_.emplace(begin, std::move(life));
}

void MemoryPieces::add(const MemoryLife& life, uint64_t pointer) {
  if (life.end - life.begin < kLeastCarved || pointer % kPieceAlignment == 0)
    pointers_[life.alloc_call].insert(pointer);
}

uint64_t MemoryPieces::end_of(const MemoryLife& life, uint64_t pointer) const {
  const auto pointers = pointers_.find(life.alloc_call);
  if (pointers == pointers_.end()) return life.end;
  const auto next = pointers->second.upper_bound(pointer);
  return next == pointers->second.end() ? life.end : *next;
}

Captures::Captures(const Trace& trace) : trace_(trace) {
  constexpr trace::Small kCaptureBegin = 31, kCaptureEnd = 32;
  const auto& calls = trace.api_call;
  struct Capture {
    Ns from, until;
    Id process;
    auto operator<=>(const Capture&) const = default;
  };
  std::vector<Capture> captures;
  std::unordered_map<Id, std::set<Ns>> ends;  // by stream
  bool allocates = false;
  for (Id call = 0; call < calls.size(); ++call) {
    allocates |= calls.kind[call] == CallKind::kMallocAsync;
    if (calls.kind[call] == kCaptureEnd && calls.end_ns[call] != kUnknownNs)
      ends[calls.stream_id[call]].insert(calls.end_ns[call]);
  }
  for (Id call = 0; allocates && call < calls.size(); ++call) {
    if (calls.kind[call] != kCaptureBegin || calls.result[call] != 0) continue;
    const Ns from = calls.start_ns[call];
    const std::set<Ns>& of_stream = ends[calls.stream_id[call]];
    const auto end = of_stream.upper_bound(from);
    const Ns until = end == of_stream.end() ? std::numeric_limits<Ns>::max() : *end;
    of_stream_[calls.stream_id[call]].push_back({from, until});
    captures.push_back({from, until, trace.process_of_thread(calls.thread_id[call])});
  }
  std::sort(captures.begin(), captures.end());
  const auto& waits = trace.event_wait;
  for (Id wait = 0; !captures.empty() && wait < waits.size(); ++wait) {
    if (waits.binding[wait] != trace::kCaptured) continue;
    const Ns at = waits.start_ns[wait];
    // Of the captures active at that time the one that began last: few overlap.
    constexpr ptrdiff_t kLookedAt = 64;
    auto capture = std::partition_point(captures.begin(), captures.end(),
                                        [at](const Capture& each) { return each.from <= at; });
    const auto first = capture - std::min(kLookedAt, capture - captures.begin());
    while (capture != first) {
      --capture;
      if (at >= capture->until ||
          capture->process != trace.process_of_thread(waits.thread_id[wait]))
        continue;
      of_stream_[waits.stream_id[wait]].push_back({at, capture->until});
      break;
    }
  }
}

bool Captures::contains(Id api_call) const {
  const auto found = of_stream_.find(trace_.api_call.stream_id[api_call]);
  if (found == of_stream_.end()) return false;
  const Ns at = trace_.api_call.start_ns[api_call];
  return std::ranges::any_of(
      found->second, [at](const auto& window) { return window.first <= at && at < window.second; });
}

}  // namespace streamscope::analysis
