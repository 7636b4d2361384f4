// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs with one mistake each, for tests of everything that reports or draws it.
#pragma once

#include "support/trace_builder.h"

namespace streamscope::test {

/// Two streams that wait for memory which only the other would write.
TraceBuilder deadlock_trace();

/// The host waits for each kernel before it prepares the next one, which needs no result of it.
/// A kernel takes 0.6 ms, preparing one 0.4 ms; each step has two, on different streams.
TraceBuilder needless_sync_trace(int steps);

/// Steps of 20 kernels that the host launches one by one from train.py:41, and for one of which it
/// waits: the device is idle most of the time. Three slow steps of start-up, `steady` steps of 1
/// ms, of which the eighth takes twice as long, then four short ones.
TraceBuilder host_bound_trace(int steady);

}  // namespace streamscope::test
