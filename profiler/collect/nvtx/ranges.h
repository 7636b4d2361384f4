// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the collector records of NVTX: ranges, marks and names.
#pragma once

#include "collect/nvtx/act.h"
#include "ring/record.h"

namespace streamscope::collect {

/// As NVTX's functions; a push and a pop answer the depth.
int range_push(const Act& act);
int range_pop(const void* domain);
/// `others`: the id that another tool gave the range.
nvtxRangeId_t range_start(std::optional<nvtxRangeId_t> others, const Act& act);
void range_end(const void* domain, nvtxRangeId_t id);
void mark(const Act& act);

void name_object(ring::ObjectKind kind, uint64_t object, std::string_view text);

/// The process is now in this communicator of NCCL's.
void joined(const NcclCommunicator& communicator);

}  // namespace streamscope::collect
