// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Traces to draw: an ordinary one and the extremes.
#pragma once

#include <string>
#include <vector>

#include "support/trace_builder.h"

namespace streamscope::test {

/// Copies, kernels that wait for them, copies back; two host threads with ranges, libcoord
/// operations; `steps` rounds.
TraceBuilder pipeline_trace(int steps);
/// A program whose steps the host bounds, with samples of its thread.
TraceBuilder sampled_trace(int steady);
/// One stream with this many short kernels.
trace::Trace dense_trace(size_t ops);

/// One thread with this many samples of a few stacks.
trace::Trace dense_samples_trace(size_t samples);

struct NamedTrace {
  std::string name;
  trace::Trace trace;
};
/// Ordinary, empty, tiny, crowded, nameless, endless, sampled, lossy, without device times, at the
/// ends of time.
std::vector<NamedTrace> sample_traces();

}  // namespace streamscope::test
