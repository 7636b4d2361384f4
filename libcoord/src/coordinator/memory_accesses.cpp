// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_accesses.h"

#include <algorithm>
#include <iterator>

namespace coord {

namespace {

std::uintptr_t begin_of(const MemoryRange& range) {
  return reinterpret_cast<std::uintptr_t>(range.address);
}

}  // namespace

void MemoryAccesses::conflicts(const MemoryRange& range, bool writes,
                               const Conflict& conflict) const {
  if (range.bytes == 0) return;
  const std::uintptr_t begin = begin_of(range), end = begin + range.bytes;
  auto at = segments_.upper_bound(begin);
  if (at != segments_.begin() && std::prev(at)->second.end > begin) --at;
  for (; at != segments_.end() && at->first < end; ++at) {
    const Segment& segment = at->second;
    const std::uintptr_t from = std::max(begin, at->first), to = std::min(end, segment.end);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses are compared, never dereferenced
    const MemoryRange where(reinterpret_cast<const void*>(from), to - from);
    const auto check = [&](const OperationHandle& earlier) {
      if (OperationRecord* before = OperationRecord::unended(earlier); before != nullptr)
        conflict(*before, where);
    };
    if (segment.writer.id().valid()) check(segment.writer);
    if (writes) std::ranges::for_each(segment.readers, check);
  }
}

void MemoryAccesses::split(std::uintptr_t at) {
  auto found = segments_.upper_bound(at);
  if (found == segments_.begin()) return;
  --found;
  if (found->first == at || found->second.end <= at) return;
  Segment rest = found->second;
  found->second.end = at;
  segments_.emplace(at, std::move(rest));
}

void MemoryAccesses::add(OperationRecord& record, const Conflict& conflict) {
  const auto other = [&](OperationRecord& earlier, MemoryRange where) {
    if (&earlier != &record) conflict(earlier, where);
  };
  const OperationExtra& extra = *record.extra;
  for (const MemoryRange& range : extra.reads) conflicts(range, false, other);
  for (const MemoryRange& range : extra.writes) conflicts(range, true, other);
  for (const MemoryRange& range : extra.reads) add(range, false, record.handle());
  for (const MemoryRange& range : extra.writes) add(range, true, record.handle());
}

void MemoryAccesses::add(const MemoryRange& range, bool writes, OperationHandle operation) {
  if (range.bytes == 0) return;
  const std::uintptr_t begin = begin_of(range), end = begin + range.bytes;
  split(begin);
  split(end);
  if (writes) {
    segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
    segments_[begin] = {end, operation, {}};
    return;
  }
  std::uintptr_t covered = begin;
  for (auto at = segments_.lower_bound(begin); covered < end; ++at) {
    if (at == segments_.end() || at->first > covered) {  // a gap with no access yet
      const std::uintptr_t until = at == segments_.end() ? end : std::min(end, at->first);
      at = segments_.emplace_hint(at, covered, Segment{until, {}, {}});
    }
    std::vector<OperationHandle>& readers = at->second.readers;
    if (readers.size() >= 16)
      std::erase_if(readers, [](OperationHandle one) { return !OperationRecord::unended(one); });
    if (std::ranges::find(readers, operation) == readers.end()) readers.push_back(operation);
    covered = at->second.end;
  }
}

}  // namespace coord
