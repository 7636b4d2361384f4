// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Devices, contexts, streams and graphs, from CUPTI's resource callbacks.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// Enables or disables the resource callbacks we use. CUPTI's code, 0 on success.
CUptiResult switch_resource_callbacks(CUpti_SubscriberHandle subscriber, bool on);

/// A callback of the resource domain. `open_kind` says what the calling thread is doing.
void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);

/// At the exit of a successful call that destroyed no context: the calling thread used its
/// per-thread default stream in this context. Reports it once.
void report_per_thread_stream(ThreadState& thread, CUcontext context, uint32_t context_id);

/// At the exit of a successful call that destroyed nothing, if recording began late: reports the
/// context and the stream (0: none) that it used if they are new.
void report_used(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream);

void forget_resources_after_fork();

}  // namespace streamscope::collect
