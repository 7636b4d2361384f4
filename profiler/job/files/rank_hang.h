// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one rank of a job waits for, in a few KB.
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

/// Adds the ranks of the job that are not among these. `reason`: why they are lost.
void add_lost_ranks(std::vector<RankHang>& ranks, std::string_view reason);

}  // namespace streamscope::job
