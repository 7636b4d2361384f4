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

}  // namespace streamscope::test
