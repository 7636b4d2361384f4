// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which rank keeps a job from going on, and why. Each rank says in a few KB what it waits for;
// these are joined by communicator and sequence, so no clock is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rank_summary.h"

namespace streamscope::job {

/// How far a rank came in a communicator: the oldest collective that it has not left, or else the
/// newest. The same of its sends to another rank, and of its receives from one.
struct LastCall {
  std::string communicator;  ///< equal on all of its ranks
  int32_t size = -1;         ///< ranks of the communicator; -1: not known
  int32_t rank = -1;         ///< of this rank, there; -1: not known
  int32_t peer = -1;         ///< of a send or receive: rank there
  uint32_t sequence = 0;     ///< from 0; of sends and receives, between the two ranks
  uint32_t issued = 0;       ///< of the newest that the host has called, which runs ahead
  CollectiveKind kind = CollectiveKind::kOther;
  uint64_t bytes = 0;    ///< 0: not known
  bool started = false;  ///< on the device
  bool ended = false;    ///< the rank has left it

  bool operator==(const LastCall&) const = default;
};

enum class RankState : uint8_t {
  kRuns,   ///< nothing indicates that it will not continue
  kQuiet,  ///< it makes no progress, and may yet
  kHangs,  ///< it waits for what may never come
  kEnded,  ///< by itself
  kDied,   ///< of a signal, or with an exit code that is not 0
  kLost,   ///< it, or its host, is gone: it says nothing
};

struct RankHang {
  RankIdentity identity;
  RankState state = RankState::kRuns;
  std::string reason;           ///< what it waits for, or how it ended: a clause without its name
  std::vector<LastCall> calls;  ///< those of a communicator differ in kind and peer
  bool in_message = false;      ///< it is in a send or receive, not known between which ranks
  bool calls_are_missing = false;  ///< it may be in more communicators

  bool operator==(const RankHang&) const = default;
};

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

/// Adds the ranks of the job that are not among these. `reason`: why they are lost.
void add_lost_ranks(std::vector<RankHang>& ranks, std::string_view reason);

/// Ranks each once; those of the job that are not among them are lost. Where all have ended, and
/// not all by themselves, what they waited for before. O(calls log calls).
JobHang explain(const std::vector<RankHang>& ranks);

}  // namespace streamscope::job
