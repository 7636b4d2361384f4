// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which memory an address refers to. Host and device share one address space and addresses are
// reused, so memory is identified by its space and by the newest allocation at the time, never by
// its address alone. For memory_uses.h and memory_conflicts.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/order/happens_before.h"

namespace streamscope::analysis {

struct MemoryUse;

enum class MemorySpace : uint8_t {
  kUnknown,  ///< any memory, including pageable host memory
  kHost,
  kDevice,
  kEither,  ///< memory that CUDA allocated: managed, or of unknown kind
};

/// False if one is host memory and the other device memory.
inline bool may_be_same(MemorySpace a, MemorySpace b) {
  return !(a == MemorySpace::kHost && b == MemorySpace::kDevice) &&
         !(a == MemorySpace::kDevice && b == MemorySpace::kHost);
}

/// The space of one end of a copy, or of the target of a memset: as CUPTI reports it, otherwise by
/// the direction.
MemorySpace space_of_end(const Trace& trace, Id op, bool destination);

/// True if an end of a copy is known to be pageable host memory, which the call itself reads or
/// writes before it returns. False for graph nodes, which do so when they run.
bool is_staged(const Trace& trace, Id op, bool destination);
/// The same for an end in host memory of a kind that CUPTI does not report; true if CUDA did not
/// allocate it.
bool is_staged_unless_pinned(const Trace& trace, Id op, bool destination);

/// One life of allocated memory.
struct MemoryLife {
  uint64_t begin = 0, end = 0;
  MemorySpace space = MemorySpace::kUnknown;
  bool stream_ordered = false;
  Point allocated;  ///< stream-ordered
  Id alloc_call = kNoId;
  Id free_call = kNoId;                                          ///< kNoId: alive
  std::vector<std::pair<uint32_t, const MemoryUse*>> last_uses;  ///< by chain
};

/// Of what a call of this name allocates; managed memory is kEither.
MemorySpace space_by_call(std::string_view name);

/// What a successful call of malloc or malloc_async allocates; without bytes if the memory is
/// unknown. Memory allocated by a captured call belongs to its graph and is not stream-ordered.
MemoryLife life_of_call(const Trace& trace, Id api_call, bool captured);

/// The lives of one process: those that last, and those that ended and whose addresses have not
/// been reused.
class MemoryLives {
 public:
  /// The newest life at an address; nullptr if there is none, or if it is memory of another space.
  MemoryLife* find(uint64_t address, MemorySpace space);
  /// The lives that have not ended and begin at `begin` or within `bytes` from there.
  std::vector<MemoryLife*> alive_at(uint64_t begin, uint64_t bytes);
  /// Ends earlier lives at these addresses. A life without bytes has unknown size: lives that had
  /// ended at or after its address are forgotten.
  void add(MemoryLife life);
  void forget(uint64_t begin) { lives_.erase(begin); }
  void clear() { lives_.clear(); }

 private:
  std::map<uint64_t, MemoryLife> lives_;  // by begin
};

/// The pointers that kernels receive into each allocation, and how far one reaches: to the next
/// one. In an allocation that a pool may divide, only an address with a pool's alignment ends a
/// piece: other pointers point into a piece.
class MemoryPieces {
 public:
  void add(const MemoryLife& life, uint64_t pointer);
  /// The end of what a kernel is assumed to access through a pointer into a life.
  uint64_t end_of(const MemoryLife& life, uint64_t pointer) const;

 private:
  std::unordered_map<Id, std::set<uint64_t>> pointers_;  // by alloc_call
};

/// Which calls were captured into a graph: those between begin and end of a capture on its stream,
/// and on streams that joined through a captured event.
class Captures {
 public:
  explicit Captures(const Trace& trace);
  bool contains(Id api_call) const;

 private:
  const Trace& trace_;
  std::unordered_map<Id, std::vector<std::pair<Ns, Ns>>> of_stream_;
};

}  // namespace streamscope::analysis
