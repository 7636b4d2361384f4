// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks at the entry of calls that may block the host.
#pragma once

#include <cstdint>

#include "collect/thread_state.h"

namespace streamscope::collect {

/// Before the first stack is taken.
void prepare_stacks();

/// Takes the calling thread's stack and sends it once per process; the frames of a Python
/// interpreter are those of the Python program. Returns the low half of its hash, 0 if there is
/// none. Some microseconds, which the ring's header counts; nothing while paused.
uint32_t take_stack(ThreadState& thread);

void forget_stacks_after_fork();

}  // namespace streamscope::collect
