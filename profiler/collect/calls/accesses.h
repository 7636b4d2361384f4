// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What memory calls access -> ring records: both ends of copies and memsets, always, and words in
// the parameters of kernels that may be pointers (--with args).
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "collect/calls/call_table.h"
#include "ring/ring.h"

namespace streamscope::collect {

struct LaunchParameters;
struct ThreadState;

/// Reports what a successful copy or memset accesses. `call` is its record. For entries with
/// kEntryAccesses.
void report_accesses(ThreadState& thread, const CallEntry& entry, const void* parameters,
                     const ring::CallRecord& call);

/// The kinds of memory at both ends of a successful copy or memset, by asking the driver; as in
/// op.memory_kinds. For entries with kEntryAccesses.
uint32_t memory_kinds(const CallEntry& entry, const void* parameters);

/// At the exit of a successful launch in the driver, also inside one in the runtime: reports which
/// aligned words of the parameters may be pointers, also inside structs. `open` is the outermost
/// traced call. Reads only the parameters themselves, and only as far as the driver says there are
/// any: 1024 words at most, of which it reports 250. Kernels that have more are loss
/// `kernel-parameters`.
void report_arguments(ThreadState& thread, const LaunchParameters& launch,
                      const ring::CallRecord& open);

/// With --with args: the program received memory here. Thread-safe.
void note_allocation(uint64_t address, uint64_t bytes);
/// The program received memory that was not noted.
void distrust_allocations();

}  // namespace streamscope::collect
