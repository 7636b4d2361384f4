// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Facts about devices, contexts, streams and graphs, from CUPTI's resource callbacks.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "collect/thread_state.h"

namespace streamscope::collect {

/// Turns the resource callbacks we want on or off. CUPTI's code, 0 on success.
CUptiResult switch_resource_callbacks(CUpti_SubscriberHandle subscriber, bool on);

/// A callback of the resource domain. `open_kind` says what the calling thread is doing.
void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);

/// At the exit of a call that succeeded and ended no context: the calling thread used its
/// per-thread default stream in this context. Tells of it once.
void report_per_thread_stream(ThreadState& thread, CUcontext context, uint32_t context_id);

/// At the exit of a call that succeeded and ended nothing, if recording began late: tells of the
/// context and the stream (0: none) that it used if they are new.
void report_used(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream);

void forget_resources_after_fork();

}  // namespace streamscope::collect
