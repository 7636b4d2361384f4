// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds unordered uses of memory: races between ops, races with host code, and uses outside of the
// lifetime of stream-ordered memory. The memory detectors describe them.
//
// One walk in issue order. For every piece of memory it keeps the last write and, per stream, the
// last read since; a new use is compared with those only (the epochs of FastTrack, but over
// streams). Certain uses are judged among themselves, and again together with possible ones, so
// that a guess never hides a certain conflict. Order means observed order: what one host thread did
// after another's call had returned is ordered. memory_lives.h tells which memory an address refers
// to and how far a kernel's parameter reaches.
#pragma once

#include <vector>

#include "analysis/order/happens_before.h"
#include "memory_uses.h"

namespace streamscope::analysis {

/// Two accesses of the same memory.
struct ConflictingPair {
  /// Rows of access, in issue order. `second` is kNoId if it is a call that frees.
  Id first_access = kNoId, second_access = kNoId;
  Id first_op = kNoId, second_op = kNoId;  ///< kNoId: host code, or a call
  Id alloc_call = kNoId;        ///< races: the api_call that allocated the memory, if it is known
  uint64_t begin = 0, end = 0;  ///< what both access
  bool first_writes = false, second_writes = false;
};

/// Similar conflicts: the same two calls of the program, as far as known; possible conflicts are
/// merged across streams. The pair itself is the first one.
struct MemoryConflict : ConflictingPair {
  enum Kind { kStreamRace, kHostRace, kBeforeAllocation, kAfterFree };
  Kind kind = kStreamRace;
  ConflictingPair again;   ///< races: the second pair; without ops if there is none
  Id memory_call = kNoId;  ///< kBeforeAllocation, kAfterFree: the api_call that allocates or frees
  Id free_call = kNoId;    ///< kBeforeAllocation without an op: the api_call that frees
  bool possible = false;
  uint64_t signal_word = 0;  ///< races: a value here may order the two; 0: no kernel waits for one
  uint64_t count = 0;
  Ns first_ns = kUnknownNs, last_ns = kUnknownNs;
};

struct MemoryConflicts {
  std::vector<MemoryConflict> found{};  ///< in order of discovery
  size_t unknown_kernels = 0;           ///< kernels whose accesses are not all recorded
  bool observed = false;                ///< accesses of kernels were observed
  bool host_reported = false;           ///< host code reports its accesses
};

MemoryConflicts find_memory_conflicts(const IssueOrder& order, const HappensBefore& observed);

/// True if the work of these two calls is one of the pairs of a race.
bool is_race_of(const MemoryConflicts& conflicts, const Trace& trace, Id first_call,
                Id second_call);

}  // namespace streamscope::analysis
