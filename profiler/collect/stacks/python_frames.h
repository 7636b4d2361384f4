// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Python's part of a call stack, read from outside the interpreter.
//
// A thread inside a CUDA call often does not hold the interpreter's lock, so no function that
// takes, creates or counts an object may be called. But the frames of a thread do not change while
// it is here, and what they refer to lives as long. They are read as memory: each object's type is
// checked first, and read through the kernel until the layout has been verified often enough, so
// that an unexpected pointer costs the frames and nothing else. Layouts are those of CPython 3.8 to
// 3.13 with the lock; others are left out.
#pragma once

#include <cstdint>

#include "collect/process/thread_state.h"
#include "ring/record.h"

namespace streamscope::collect {

/// Looks for an interpreter in the process. Call again when one was loaded; cheap once one is
/// found. May wait for the dynamic loader.
void find_python();

/// True if `address` is in the interpreter's own code.
bool in_python(uint64_t address);

/// Frames of the calling thread, innermost first, as hashes of "file:line function" (sent). Returns
/// their number, at most `limit`. About 50 ns per frame once the layout is verified.
uint32_t python_frames(ThreadState& thread, uint64_t* hashes, uint32_t limit);

/// Where a sampler finds the calling thread's frames; nothing if no interpreter was found.
void describe_python(ring::ThreadRecord& record);

void forget_python_after_fork();

}  // namespace streamscope::collect
