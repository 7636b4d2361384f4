// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the ranks of a communicator do together.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in summaries of ranks: append only.
enum class CollectiveKind : uint8_t {
  kOther,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBarrier,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kReceive,
};

inline constexpr Term kCollectiveKinds[] = {
    {CollectiveKind::kOther, "collective"},
    {CollectiveKind::kAllReduce, "all-reduce"},
    {CollectiveKind::kAllGather, "all-gather"},
    {CollectiveKind::kReduceScatter, "reduce-scatter"},
    {CollectiveKind::kAllToAll, "all-to-all"},
    {CollectiveKind::kBarrier, "barrier"},
    {CollectiveKind::kBroadcast, "broadcast"},
    {CollectiveKind::kReduce, "reduce"},
    {CollectiveKind::kGather, "gather"},
    {CollectiveKind::kScatter, "scatter"},
    {CollectiveKind::kSend, "send"},
    {CollectiveKind::kReceive, "receive"},
};

/// Whether two ranks are joined by it, not all of a communicator.
constexpr bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

/// Whether no rank can end before all ranks of the communicator have started.
constexpr bool needs_all_ranks(CollectiveKind kind) {
  return kind >= CollectiveKind::kAllReduce && kind <= CollectiveKind::kBarrier;
}

}  // namespace streamscope
