// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's activity records: which kinds are on, the buffers they come in, and two threads of our
// own.
//
// CUPTI hands out completed buffers from any thread of the program; that callback only queues. A
// decoder thread turns them into ring records, a flusher thread asks CUPTI for them. The flusher is
// sacrificial: CUPTI blocks a flush while some thread sits in cudaFree or in another call with the
// context's lock, so nobody waits for it without a bound.
#pragma once

#include <atomic>
#include <cstdint>

#include "ring/control.h"

namespace streamscope::collect {

/// Turns on the kinds of the tier. `late`: CUDA was in use before, so graphs may exist; then graph
/// launches get no times, because CUPTI 13.0 crashes in the launch of a graph that was made before
/// GRAPH_TRACE was on. Returns CUPTI's code, 0 on success. Call once, before the program makes a
/// graph.
int start_activities(const ring::Control& control, bool late);

/// Another client of CUPTI is about to ask for the buffers: what is in them comes to us first (2 s
/// at most).
void drain_activities();

/// It has them since `begin` (ticks). The user is told once, and the trace marks the interval until
/// reclaim_activities() as lost.
void yield_activities(uint64_t begin);

/// The other client has left: the buffers and kinds are ours again. No effect if nothing was taken.
void reclaim_activities();

/// CUPTI is gone (it reported a fatal error): no call of it from now on.
void abandon_activities();

/// Turns every kind off; what was not delivered is lost. For detaching from a program that goes on.
void stop_activities();

/// One forced flush, in a thread that may be lost to it, and the decoding of what it brings. False
/// if that takes longer than `limit_ms`. What is not finished then never gets its times.
bool flush_by_force(int limit_ms);

/// One forced flush and the decoding of what it brings; returns after 2 s at the latest. For the
/// end of the process.
void finish_activities();

/// Records that CUPTI said it dropped.
uint64_t dropped_activities();

void forget_activities_after_fork();

}  // namespace streamscope::collect
