// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which bytes every kernel touches, seen by patches in its code (--with accesses).
//
// The Compute Sanitizer patches every module when it is loaded (patches.cu). Each launch gets its
// place in a table in device memory (touch_table.h); two tables of a context are filled in turn,
// and when all launches of one have ended, a thread of ours reads it and writes AccessRecords of
// source kObserved. That they have ended is known from a stream that is idle, or from an event that
// was recorded behind them in the program's own thread.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace streamscope::collect {

/// Why accesses cannot be observed in this process; null if they can. Loads the library.
const char* observing_obstacle();

/// Observes every context and module that the program makes from now on. False if the library
/// refuses. Needs a running session, calls recorded by wrappers, and no obstacle.
bool start_observing();

// The next five are called where session.observes is set.

/// The calling thread is about to launch work in this stream: waits while there is no room for what
/// that touches, 2 s at most. Thread-safe, as all that follows.
void observe_before_launch(uint64_t stream);
/// The call that launches it has returned.
void observe_after_launch();
/// The program is about to destroy the stream.
void observe_stream_end(uint64_t stream);
/// Waits until all that launches have touched so far is reported, as before contexts are destroyed;
/// false if that takes longer than 10 s.
bool report_touched();
/// It is about to do what observing would break: waits as above, and observes nothing from now on.
void observe_no_more(const char* why);
/// It is about to end: reports what has been touched. What does not end in 10 s is reported as
/// not known.
void finish_observing();

void forget_observing_after_fork();

}  // namespace streamscope::collect
