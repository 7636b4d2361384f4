// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a recording or an imported profile was not made to contain, and how to make it contain that.
// For footnotes and answers of detectors.
#pragma once

#include <string>

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// "the host was not sampled (record --samples)". The trace has no samples.
std::string not_sampled(const trace::Trace& trace);

/// "where calls were made is not known (profile with with_stack=True)"; "" if the trace has stacks,
/// was recorded, or is of a tool that never has them.
std::string without_stacks(const trace::Trace& trace);

/// True for profiles of tools that leave out the calls that read the time between two events.
bool lacks_elapsed_times(const trace::Trace& trace);

}  // namespace streamscope::analysis
