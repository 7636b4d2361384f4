// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Everything that is made of a trace, for fuzzers: analyses, reports, exports, the viewer's
// document.
#pragma once

#include <filesystem>

#include "trace/reader.h"

namespace streamscope::test {

/// Does one of the things that are done with traces, chosen by `choice`, to one that was read from
/// a file; what is written must be valid in its format. May change the file. Throws Error if the
/// trace cannot be used so.
void use_trace(const trace::Trace& trace, unsigned choice);
/// Likewise with a file, which is read only if that takes a trace.
void use_trace(const std::filesystem::path& file, unsigned choice);

}  // namespace streamscope::test
