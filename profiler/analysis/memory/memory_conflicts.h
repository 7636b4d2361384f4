// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Uses of memory that nothing orders: races between ops, races with host code, and uses outside of
// the life of stream-ordered memory. What the detectors of memory say in words.
//
// One walk over the order of issue. Of every piece of memory it keeps the last write and, per
// stream, the last read since; a new use is compared with those only (the epochs of FastTrack, but
// over streams). Certain uses are judged among themselves, and once more together with possible
// ones, so that a guess never hides a certain conflict. Order means: observed, that is what one
// host thread did after another's call had returned counts. Which memory an address names, and how
// far a kernel's parameter reaches: memory_lives.h.
#pragma once

#include <map>
#include <vector>

#include "analysis/order/happens_before.h"
#include "memory_uses.h"

namespace streamscope::analysis {

/// Alike conflicts: the same two calls of the program, as far as that is known; those that are only
/// possible also on whatever streams.
struct MemoryConflict {
  enum Kind { kStreamRace, kHostRace, kBeforeAllocation, kAfterFree };
  Kind kind = kStreamRace;
  /// Rows of access, in order of issue. `second` is kNoId where it is a call that frees.
  Id first_access = kNoId, second_access = kNoId;
  Id first_op = kNoId, second_op = kNoId;  ///< kNoId: host code, or a call
  Id memory_call = kNoId;  ///< kBeforeAllocation, kAfterFree: the api_call that allocates or frees
  Id free_call = kNoId;    ///< kBeforeAllocation without an op: the api_call that frees
  uint64_t begin = 0, end = 0;  ///< what both touch
  bool first_writes = false, second_writes = false;
  bool possible = false;
  uint64_t count = 0;
  Ns first_ns = kUnknownNs, last_ns = kUnknownNs;
};

struct MemoryConflicts {
  std::vector<MemoryConflict> found;  ///< in order of discovery
  size_t unknown_kernels = 0;         ///< kernels of which nobody says what they touch
  bool host_reported = false;         ///< host code says what it touches
};

MemoryConflicts find_memory_conflicts(const IssueOrder& order, const HappensBefore& observed);

}  // namespace streamscope::analysis
