// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks at the entry of calls that may block the host, and of the first calls that put work
// on the legacy default stream.
#pragma once

#include <cstdint>

#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// To be called before the first stack is taken.
void prepare_stacks();

/// Takes the calling thread's stack and sends it once per process; the frames of a Python
/// interpreter are those of the Python program. Returns the low half of its hash, 0 if there is
/// none. Takes some microseconds, which the ring's header counts; does nothing while paused.
uint32_t take_stack(ThreadState& thread);

/// Calls of a thread that put work on the legacy default stream, which implicitly blocks other
/// streams, and have a stack: these name the places of a loop, and a program that uses no other
/// stream does not pay for all of its calls.
inline constexpr uint32_t kEarlyLegacyCalls = 64;
/// Counts such a call. True if it is one of the first.
inline bool is_early_legacy_call(ThreadState& thread) {
  return thread.legacy_calls < kEarlyLegacyCalls && ++thread.legacy_calls != 0;
}

void forget_stacks_after_fork();

}  // namespace streamscope::collect
