// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "tensors.h"

namespace streamscope::analysis {

trace::Id tensor_at(const trace::Trace& trace, trace::Id process, uint64_t address, trace::Ns at) {
  const auto& all = trace.allocation;
  trace::Id newest = trace::kNoId;
  for (trace::Id id = 0; id < all.size(); ++id) {
    if (all.kind[id] != trace::kTensorAllocation || all.process_id[id] != process) continue;
    const auto begin = static_cast<uint64_t>(all.address[id]);
    if (address < begin || address - begin >= static_cast<uint64_t>(all.bytes[id])) continue;
    const bool has_begun = all.allocated_ns[id] != trace::kUnknownNs && all.allocated_ns[id] <= at;
    if (!has_begun || (all.freed_ns[id] != trace::kUnknownNs && all.freed_ns[id] <= at)) continue;
    if (newest == trace::kNoId || all.allocated_ns[newest] < all.allocated_ns[id]) newest = id;
  }
  return newest;
}

}  // namespace streamscope::analysis
