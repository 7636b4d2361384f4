// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives, sends and receives as a rank takes part in them: what they are, and their sequence
// number in their communicator, which is equal on all ranks.
//
// A call has the kernels that its thread launched meanwhile. Calls in a group of NCCL's launch
// nothing themselves: they have the kernel that their thread launches next, outside of calls, and
// are one collective; but sends and receives that are no all-to-all stay apart. A captured call has
// kernels at each launch of the graph. A launch that is recorded as one op is one collective of the
// communicator that has the most ranks; those of the others are only counted, and sends and
// receives left out. Kernels of no known call are collectives of their own. Calls
// that launch nothing, such as those of a communicator with one rank, are none, unless they have
// not returned or run on the host (MPI, gloo).
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
  Id op = kNoId;       ///< the first of its kernels, or the launch; kNoId: none, as on the host
  Id last_op = kNoId;  ///< the one that ends last
  Id process = kNoId;
  Id thread = kNoId;  ///< that issued it
  Id stream = kNoId;
  CollectiveKind kind = CollectiveKind::kOther;
  std::string communicator{kUnnamedCommunicator};  ///< equal on all of its ranks
  trace::Small communicator_size = -1;             ///< -1: unknown
  trace::Small rank = -1;  ///< of the process in the communicator; -1: unknown
  uint32_t sequence = 0;   ///< in its communicator and on its device, in the order of issue
  trace::Int bytes = 0;    ///< that the rank contributes; 0: unknown
  trace::Small peer = -1;  ///< of a send or receive, in the communicator; -1: unknown
  Ns issued_ns = kUnknownNs;
  Ns start_ns = kUnknownNs, end_ns = kUnknownNs;

  bool is_named() const { return communicator != kUnnamedCommunicator; }
};

/// True for NCCL kernels.
bool is_collective(const Trace& trace, Id op);

/// All collectives in the order of issue. O(n log n) in the calls and kernels of collectives.
std::vector<Collective> collectives(const Trace& trace);

/// "all-reduce 3 of communicator 0x1f on stream 7 left"; without a communicator "all-reduce 3 on
/// ...".
std::string name_of(const Trace& trace, const Collective& collective);

}  // namespace streamscope::analysis
