// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The tensors of PyTorch, which are blocks within memory that a call allocated.
#pragma once

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// The row of allocation of the tensor to which an address belonged at this time; kNoId if none is
/// known. Takes as long as the process has allocations.
trace::Id tensor_at(const trace::Trace& trace, trace::Id process, uint64_t address, trace::Ns at);

}  // namespace streamscope::analysis
