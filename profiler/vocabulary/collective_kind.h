// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the ranks of a communicator do together.
#pragma once

#include <cstdint>
#include <string_view>

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
  kGraph,  ///< a launch of a graph with collectives that is recorded as one op
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
    {CollectiveKind::kGraph, "graph launch"},
};

/// Whether two ranks are joined by it, not all of a communicator.
constexpr bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

/// What a kernel, a call or an annotation with this name does: "ncclDevKernel_AllReduce_Sum_f32",
/// "ncclAllReduce", "nccl:_all_gather_base", "allreduce_coalesced", "MPI_Bcast". Allocates
/// nothing.
constexpr CollectiveKind collective_kind(std::string_view name) {
  struct Row {
    std::string_view letters;
    CollectiveKind kind;
  };
  // Names that contain others come first. NCCL has one kernel for sends, receives and all-to-all.
  constexpr Row kRows[] = {
      {"sendrecv", CollectiveKind::kOther},      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather}, {"reducescatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},   {"barrier", CollectiveKind::kBarrier},
      {"broadcast", CollectiveKind::kBroadcast}, {"bcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},       {"scatter", CollectiveKind::kScatter},
      {"gather", CollectiveKind::kGather},       {"send", CollectiveKind::kSend},
      {"recv", CollectiveKind::kReceive},
  };
  name = name.substr(0, name.find('('));
  for (const Row& row : kRows) {
    for (size_t from = 0; from < name.size(); ++from) {
      size_t matched = 0;
      for (size_t at = from; at < name.size() && matched < row.letters.size(); ++at) {
        if (name[at] == '_') continue;
        const char c =
            name[at] >= 'A' && name[at] <= 'Z' ? static_cast<char>(name[at] - 'A' + 'a') : name[at];
        if (c != row.letters[matched]) break;
        ++matched;
      }
      if (matched == row.letters.size()) return row.kind;
    }
  }
  return CollectiveKind::kOther;
}

/// Whether no rank can end before all ranks of the communicator have started.
constexpr bool needs_all_ranks(CollectiveKind kind) {
  return (kind >= CollectiveKind::kAllReduce && kind <= CollectiveKind::kBarrier) ||
         kind == CollectiveKind::kGraph;
}

}  // namespace streamscope
