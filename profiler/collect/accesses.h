// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What memory calls touch -> ring records: the ends of copies and memsets, always, and words in the
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
void report_accesses(ThreadState& thread, const CallEntry& entry, const void* parameters,
                     const ring::CallRecord& call);

/// At the exit of a launch in the driver that succeeded, also inside of one in the runtime: tells
/// which aligned words of the parameters may be pointers, also inside of structs. `open` is the
/// outermost traced call. Reads the parameters themselves and nothing else, only as far as the
/// driver says there are any: 1024 words at most, of which it tells 250. Kernels that have more are
/// loss `kernel-parameters`.
void report_arguments(ThreadState& thread, ring::CallId driver_call, const void* parameters,
                      const ring::OpenCall& open);

/// With --with args: the program was given memory here. Thread-safe.
void note_allocation(uint64_t address, uint64_t bytes);
/// The program was given memory that nobody noted.
void distrust_allocations();

}  // namespace streamscope::collect
