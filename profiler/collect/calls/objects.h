// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Devices, contexts and streams of the program -> records, each reported once.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// How a source of calls numbers what the driver has. The functions are called only with handles
/// that are alive.
struct Numbering {
  /// Number of a stream (null: the default stream; `per_thread`: that of the calling thread) among
  /// those of its process, kNone32 if it is unknown.
  uint32_t (*stream)(CUcontext context, CUstream stream, bool per_thread);
  /// Ordinal of the context's device. False if it is unknown.
  bool (*device)(CUcontext context, uint32_t* ordinal);
  /// Numbers of a context, a graph and an executable graph, kNone32 if they are unknown. Graphs and
  /// executable graphs share theirs.
  uint32_t (*context)(CUcontext context);
  uint32_t (*graph)(CUgraph graph);
  uint32_t (*executable)(CUgraphExec executable);
};
/// Set before the first call is recorded.
void set_numbering(const Numbering& chosen);
const Numbering& numbering();

/// A context exists: reports it, its device and its default stream, unless they were.
void report_context(ThreadState& thread, CUcontext context, uint32_t context_id);

/// A stream was created or (`destroyed`) is destroyed at `at`, in ticks. What it is like is in the
/// parameters of the thread's open call, if that creates it.
void report_stream_change(ThreadState& thread, CUcontext context, uint32_t context_id,
                          CUstream stream, bool destroyed, uint64_t at);

/// At the exit of a successful call that destroyed no context: the calling thread used its
/// per-thread default stream in this context. Reports it once.
void report_per_thread_stream(ThreadState& thread, CUcontext context, uint32_t context_id);

/// At the exit of a successful call that destroyed nothing, if recording began late: reports the
/// context and the stream (0: none) that it used if they are new.
void report_used(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream);

/// At the exit of a successful call on a stream with a handle, which is in this context: false if
/// the stream was never reported. Then it is now.
bool is_known_stream(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream);

void forget_objects_after_fork();

}  // namespace streamscope::collect
