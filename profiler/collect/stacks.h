// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks at the entry of calls that may block the host.
#pragma once

#include <cstdint>

#include "collect/thread_state.h"

namespace streamscope::collect {

/// Takes the calling thread's stack and sends it once per process. Returns the low half of its
/// hash, 0 if there is none. A few microseconds; nothing while paused.
uint32_t take_stack(ThreadState& thread);

void forget_stacks_after_fork();

}  // namespace streamscope::collect
