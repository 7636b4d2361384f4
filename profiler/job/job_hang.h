// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which rank keeps a job from going on, and why. Each rank says in a few KB what it waits for;
// these are joined by communicator and sequence, so no clock is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/rank_hang.h"

namespace streamscope::job {

enum class JobHangKind : uint8_t {
  kNone,
  kDeadRank,    ///< a rank ended before a collective that others wait in
  kMissing,     ///< a rank did not call a collective or message that others wait in
  kMismatch,    ///< ranks called different collectives of the same number
  kOrder,       ///< ranks wait for each other in collectives of different communicators
  kCollective,  ///< all ranks are in it, and it does not end
  kOnOneRank,   ///< a rank hangs, and no other waits for it in a collective
};

struct JobHang {
  JobHangKind kind = JobHangKind::kNone;
  std::vector<int32_t> culprits;   ///< ranks, ascending
  std::string headline;            ///< one sentence
  std::vector<std::string> lines;  ///< who waits where, one each
};

/// Ranks each once; those of the job that are not among them are lost. Where all have ended, and
/// not all by themselves, what they waited for before. O(calls log calls).
JobHang explain(const std::vector<RankHang>& ranks);

}  // namespace streamscope::job
