// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX ranges, marks and names, through our own NVTX injection table (not CUPTI's).
#pragma once

#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// Records the ranges that the calling thread opened while nothing was recorded and that are still
/// open.
void report_pending_ranges(ThreadState& thread);

}  // namespace streamscope::collect
