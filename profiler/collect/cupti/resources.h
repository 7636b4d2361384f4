// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Contexts, streams and graphs, from CUPTI's resource callbacks.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "collect/calls/objects.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// CUPTI's own numbers, which its activities have. Needs load_cupti().
const Numbering& cupti_numbering();

/// Enables or disables the resource callbacks we use. CUPTI's code, 0 on success.
CUptiResult switch_resource_callbacks(CUpti_SubscriberHandle subscriber, bool on);

/// A callback of the resource domain. `open_kind` says what the calling thread is doing.
void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);

void forget_resources_after_fork();

}  // namespace streamscope::collect
