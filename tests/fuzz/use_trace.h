// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Everything that uses traces, for fuzzers: analyses, reports, exports, the viewer's document.
#pragma once

#include <filesystem>

#include "trace/read/reader.h"

namespace streamscope::test {

/// Uses a trace that was read from a file in one way, chosen by `choice`; the output must be valid
/// in its format. May change the file. Throws Error if the trace cannot be used in this way.
void use_trace(const trace::Trace& trace, unsigned choice);
/// The same with a file, which is read only if the use needs a trace.
void use_trace(const std::filesystem::path& file, unsigned choice);

}  // namespace streamscope::test
