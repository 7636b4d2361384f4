// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NCCL's kernels as collectives: their communicator and their sequence number in the stream. Both
// come from NCCL's NVTX ranges, whose payload begins with a hash of the communicator that is the
// same on all ranks.
#pragma once

#include <string>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

struct Collective {
  trace::Id op = trace::kNoId;
  trace::Id stream = trace::kNoId;
  trace::Int communicator = trace::kNoInt;  ///< kNoInt: unknown
  size_t sequence = 0;                      ///< from 1, per communicator and stream
};

/// True for NCCL kernels.
bool is_collective(const trace::Trace& trace, trace::Id op);

/// All collectives in launch order.
std::vector<Collective> collectives(const trace::Trace& trace);

/// "collective 3 of communicator 0x1f on stream 7 left"; without a communicator "collective 3 on
/// ...".
std::string name_of(const trace::Trace& trace, const Collective& collective);

}  // namespace streamscope::analysis
