// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the samples of a run say, in words, for tooltip and inspector.
#pragma once

#include "trace_facts.h"
#include "trace_model.h"

namespace streamscope::viewer {

/// Of a run of HostFrames: where in its function, what the thread did there, and how much of an
/// iteration and of all iterations that is.
std::vector<Fact> sample_facts(const TraceModel& model, Id run);

}  // namespace streamscope::viewer
