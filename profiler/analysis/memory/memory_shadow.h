// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The last write and the reads since of every piece of memory: what a new use is compared with. The
// epochs of FastTrack, but over streams; only for memory_conflicts.h.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "memory_uses.h"

namespace streamscope::analysis {

/// The range that both a new use and an earlier one cover.
struct Overlap {
  uint64_t begin, end;
};

/// Keeps pointers to the uses it receives. Not thread-safe. A use of a piece that was used before
/// with the same bounds takes O(log pieces + log streams).
class MemoryShadow {
 public:
  /// Calls conflict(earlier, overlap) for every kept use that is not compatible with the new one.
  /// Then keeps the new one; it replaces those of its kind and chain that are `passed`. A chain is
  /// a stream, or a thread of the host.
  template <class Conflict, class Passed>
  void use(const MemoryUse& now, uint64_t begin, uint64_t end, uint32_t chain, Conflict conflict,
           Passed passed) {
    auto at = segments_.lower_bound(begin);
    const bool as_before = at != segments_.end() && at->first == begin && at->second.end == end;
    if (!as_before) {
      at = split(at, begin);
      split(segments_.lower_bound(end), end);
    }
    if (now.write && !now.atomic) {
      write(now, begin, end, at, conflict);
    } else {
      share(now, begin, end, at, chain, conflict, passed);
    }
  }
  void forget(uint64_t begin, uint64_t end) {
    const auto from = split(segments_.lower_bound(begin), begin);
    split(segments_.lower_bound(end), end);
    segments_.erase(from, segments_.lower_bound(end));
  }

 private:
  struct Shared {
    uint32_t chain;
    const MemoryUse* use;
  };
  struct Segment {
    uint64_t end;
    const MemoryUse* write;
    std::vector<Shared> shared;  // reads and atomic operations since, by chain
  };
  using Segments = std::map<uint64_t, Segment>;

  template <class Conflict>
  void write(const MemoryUse& now, uint64_t begin, uint64_t end, Segments::iterator at,
             Conflict conflict) {
    for (auto i = at; i != segments_.end() && i->first < end; ++i) {
      const Overlap overlap{i->first, i->second.end};
      if (i->second.write) conflict(*i->second.write, overlap);
      for (const Shared& other : i->second.shared) conflict(*other.use, overlap);
    }
    if (at != segments_.end() && at->first == begin && at->second.end == end) {
      at->second.write = &now;
      at->second.shared.clear();
      return;
    }
    const auto after = segments_.lower_bound(end);
    segments_.erase(at, after);
    segments_.emplace_hint(after, begin, Segment{end, &now, {}});
  }
  // Reads do not conflict with reads, nor atomic operations with each other.
  template <class Conflict, class Passed>
  void share(const MemoryUse& now, uint64_t begin, uint64_t end, Segments::iterator at,
             uint32_t chain, Conflict conflict, Passed passed) {
    for (uint64_t from = begin; from < end;) {
      if (at == segments_.end() || at->first > from) {  // an unused gap
        const uint64_t to = at == segments_.end() ? end : std::min(end, at->first);
        at = segments_.emplace_hint(at, from, Segment{to, nullptr, {}});
      }
      Segment& segment = at->second;
      if (segment.write) conflict(*segment.write, Overlap{from, segment.end});
      for (const Shared& other : segment.shared) {
        if (other.use->atomic != now.atomic) conflict(*other.use, Overlap{from, segment.end});
      }
      keep(segment.shared, {chain, &now}, passed);
      from = segment.end;
      ++at;
    }
  }
  template <class Passed>
  static void keep(std::vector<Shared>& uses, const Shared& now, Passed passed) {
    const auto before = [](const Shared& one, uint32_t value) { return one.chain < value; };
    const auto first = std::lower_bound(uses.begin(), uses.end(), now.chain, before);
    auto kept = first, last = first;  // uses of this chain: ends of the kept ones and of all
    for (; last != uses.end() && last->chain == now.chain; ++last) {
      if (last->use->atomic != now.use->atomic || !passed(*last->use)) *kept++ = *last;
    }
    if (kept != last) {
      *kept++ = now;
      uses.erase(kept, last);
    } else {
      uses.insert(last, now);
    }
  }

  // Splits at an address; `found` is the first segment from there on, and so is the result.
  Segments::iterator split(Segments::iterator found, uint64_t at) {
    if (found == segments_.begin()) return found;
    auto before = std::prev(found);
    if (before->second.end <= at) return found;
    Segment rest = before->second;
    before->second.end = at;
    return segments_.emplace_hint(found, at, std::move(rest));
  }

  Segments segments_;
};

}  // namespace streamscope::analysis
