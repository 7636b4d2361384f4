// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What memory calls touch -> ring records: the ends of copies and memsets, always, and the
// parameters of kernels that may be pointers (--with args).
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "collect/call_table.h"
#include "ring/ring.h"

namespace streamscope::collect {

struct ThreadState;

/// Tells what a copy or memset that succeeded touches. `call` is its record. For entries with
/// kEntryAccesses.
void tell_accesses(ThreadState& thread, const CallEntry& entry, const void* parameters,
                   const ring::CallRecord& call);

/// At the exit of a launch in the driver that succeeded, also inside of one in the runtime: tells
/// the parameters of pointer size. `open` is the outermost traced call. Never follows a pointer of
/// the program but to the parameters themselves, and only as far as the driver says there are any.
void tell_arguments(ThreadState& thread, ring::CallId driver_call, const void* parameters,
                    const ring::OpenCall& open);

}  // namespace streamscope::collect
