// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Of a call stack the one frame that a user calls the place: the innermost that is neither the
// tool's, CUDA's nor the C library's; a Python line (of the program rather than of a package) or a
// libcoord call site if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/reader.h"

namespace streamscope::analysis {

/// One text per stack: "train.py:41 step", "data.cpp:41 load", "load" without debug information,
/// "app+0xb667" without symbols, "" if nothing is known.
std::vector<std::string> call_sites(const trace::Trace& trace);

/// All frames of a stack, innermost first, in the same words; frames side by side of a library
/// without names are one line. Searches all frames of the trace.
std::vector<std::string> stack_lines(const trace::Trace& trace, trace::Id stack);

/// A call site that names a line; views into its text.
struct SourceLine {
  std::string_view file;
  uint32_t line;
  std::string_view function;  ///< empty: not known
};

/// The parts of "src/train.py:41 step"; nothing for a call site without file and line.
std::optional<SourceLine> source_line(std::string_view call_site);

}  // namespace streamscope::analysis
