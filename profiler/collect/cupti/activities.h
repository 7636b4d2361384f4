// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's activity records: which kinds are enabled, their buffers, and two threads of our own.
//
// CUPTI returns completed buffers on any thread of the program; that callback only queues. A
// decoder thread turns them into ring records, a flusher thread requests them from CUPTI. The
// flusher is expendable: CUPTI blocks a flush while some thread is in cudaFree or in another call
// that holds the context's lock, so no thread waits for it without a time limit.
#pragma once

#include <atomic>
#include <cstdint>

#include "ring/control.h"
#include "vocabulary/call_kind.h"

namespace streamscope::collect {

/// How activities are tied to calls.
enum class CallNumbers {
  kCupti,  // callbacks tell CUPTI's number of each call
  kOwn,    // calls have numbers of the collector: CUPTI reports the calls of the driver as well
  kNamed,  // the same, but callbacks tell CUPTI's numbers (callbacks.h)
};

/// Enables the kinds of the tier. `late`: CUDA was in use before, so graphs may exist; then graph
/// launches get no times, because CUPTI 13.0 crashes in the launch of a graph that was created
/// before GRAPH_TRACE was enabled. Returns CUPTI's code, 0 on success. Call once, before the
/// program creates a graph.
int start_activities(const ring::Control& control, bool late, CallNumbers numbers);

/// Switches device times off and on, except those of graph launches: their kind must not be
/// switched once there are graphs. Calls keep their records.
void pause_activities(bool pause);

/// True if device work of this kind of call is reported, and the call gets CUPTI's number.
bool is_correlated(CallKind kind);

/// True if the loaded libcupti can report single functions of the driver, for CallNumbers::kOwn.
bool can_correlate_calls();

/// libcoord is in use: with CallNumbers::kOwn, its records of events get CUPTI's numbers too.
void correlate_coord_calls();

/// Another client of CUPTI is about to take over the buffers: their content is delivered to us
/// first (2 s at most).
void drain_activities();

/// It has owned them since `begin` (ticks). The user is notified once, and the trace marks the
/// interval until reclaim_activities() as lost.
void yield_activities(uint64_t begin);

/// The other client has left: the buffers and kinds are ours again, but not with CallNumbers::kOwn,
/// where they cannot be used any more. No effect if they were not taken over.
void reclaim_activities();

/// CUPTI is gone (it reported a fatal error): it must not be called from now on.
void abandon_activities();

/// Disables every kind; what was not delivered is lost. For detaching from a program that goes on.
void stop_activities();

/// One flush, in a thread that may never return from it, and the decoding of its records. False if
/// that takes longer than `limit_ms`. Of work that has ended:
bool flush_finished(int limit_ms);
/// Of all work; what is unfinished then never gets its times.
bool flush_by_force(int limit_ms);

/// One forced flush and the decoding of its records; returns after 2 s at the latest. For the end
/// of the process.
void finish_activities();

/// Number of records that CUPTI reported as dropped.
uint64_t dropped_activities();

void forget_activities_after_fork();

}  // namespace streamscope::collect
