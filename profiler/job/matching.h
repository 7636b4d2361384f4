// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives of all ranks joined by identity, without clocks: which steps belong together, and
// what does not match.
#pragma once

#include "steps.h"

namespace streamscope::job {

enum class MismatchKind : uint8_t {
  kKind,         ///< another kind than the others call
  kBytes,        ///< another size
  kOrder,        ///< the same calls in another order
  kMissing,      ///< not called, though the rank goes on; only the first is named
  kEndsEarlier,  ///< nothing more in this communicator, though the others go on
  kNoPartner,    ///< a send without its receive, or the reverse
};

struct Mismatch {
  MismatchKind kind;
  int32_t rank;           ///< that differs from the others
  uint32_t communicator;  ///< index into Steps::communicators
  uint32_t sequence;      ///< of the first case
  uint32_t count = 1;     ///< cases of this kind on this rank and communicator
  std::string text;       ///< one sentence about the first case
};

struct Matching {
  std::vector<uint32_t> first_member;    ///< by group, one more at the end; into `members`
  std::vector<uint32_t> members;         ///< steps, by rank within a group
  std::vector<uint32_t> slots;           ///< by step: its index in `members`
  std::vector<Mismatch> mismatches;      ///< by rank
  std::vector<int32_t> without_summary;  ///< ranks of the job of which there is none

  std::span<const uint32_t> of(uint32_t group) const {
    return std::span(members).subspan(first_member[group],
                                      first_member[group + 1] - first_member[group]);
  }
  size_t group_count() const { return first_member.size() - 1; }
};

/// O(steps).
Matching matching_of(const Steps& steps);

}  // namespace streamscope::job
