// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The native part of a call stack.
#pragma once

#include <cstdint>

#include "collect/process/thread_state.h"

namespace streamscope::collect {

inline constexpr uint32_t kMaxNativeFrames = 32;

/// Once, before the first stack is walked.
void prepare_native_frames();

/// The calling thread's native frames outwards, without the collector's own, at most
/// kMaxNativeFrames; with `stop_at_python` only those inside of the interpreter's innermost.
/// Returns their number. A stack that the thread had before is recognized instead of walked.
uint32_t native_frames(ThreadState& thread, bool stop_at_python, uint64_t* frames);

}  // namespace streamscope::collect
