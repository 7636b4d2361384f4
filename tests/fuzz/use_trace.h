// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Everything that is made of a trace, for fuzzers: analyses, reports, exports, the viewer's
// document.
#pragma once

#include <filesystem>

#include "trace/reader.h"

namespace streamscope::test {

/// Reads a trace and does one of the things that are done with traces, chosen by `choice`; what is
/// written must be valid in its format. Throws Error for a file that is refused.
void use_trace(const std::filesystem::path& file, unsigned choice);

/// All of them.
void use_trace_fully(const std::filesystem::path& file);

}  // namespace streamscope::test
