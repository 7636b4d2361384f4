// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives, sends and receives as a rank takes part in them: what they are, and their sequence
// number in their communicator, which is equal on all ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/stream_ops.h"
#include "vocabulary/collective_kind.h"

namespace streamscope::analysis {

/// The name of the communicator where the trace has none.
inline constexpr std::string_view kUnnamedCommunicator = "default";

struct Collective {
  Id op = kNoId;       ///< the first of its kernels
  Id last_op = kNoId;  ///< the one that ends last
  Id process = kNoId;
  Id stream = kNoId;
  CollectiveKind kind = CollectiveKind::kOther;
  std::string communicator{kUnnamedCommunicator};  ///< equal on all of its ranks
  trace::Small communicator_size = -1;             ///< -1: unknown
  uint32_t sequence = 0;   ///< in its communicator and on its device, in the order of issue
  trace::Int bytes = 0;    ///< that the rank contributes; 0: unknown
  trace::Small peer = -1;  ///< of a send or receive, in the communicator; -1: unknown
  Ns issued_ns = kUnknownNs;
  Ns start_ns = kUnknownNs, end_ns = kUnknownNs;

  bool is_named() const { return communicator != kUnnamedCommunicator; }
};

/// True for NCCL kernels.
bool is_collective(const Trace& trace, Id op);

/// What a kernel, a call or an annotation with this name does: "ncclDevKernel_AllReduce_Sum_f32",
/// "ncclAllReduce", "nccl:_all_gather_base", "allreduce_coalesced".
CollectiveKind collective_kind(std::string_view name);

/// All collectives in the order of issue.
std::vector<Collective> collectives(const Trace& trace);

/// "all-reduce 3 of communicator 0x1f on stream 7 left"; without a communicator "all-reduce 3 on
/// ...".
std::string name_of(const Trace& trace, const Collective& collective);

}  // namespace streamscope::analysis
