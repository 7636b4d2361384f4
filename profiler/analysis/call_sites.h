// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Picks the frame of a call stack that a user would call the call site: the innermost that does not
// belong to a profiler, CUDA or the C library. A Python line (of the program rather than a package,
// of a package rather than PyTorch or Python's own library) or a libcoord call site takes
// precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream_ops.h"

namespace streamscope::analysis {

/// One text per stack: "train.py:41 step", "data.cpp:41 load", "load" without debug information,
/// "app+0xb667" without symbols, "" if nothing is known.
std::vector<std::string> call_sites(const trace::Trace& trace);

/// How many frames of a stack, outermost first, lead to its call site, with the site itself; 0 if
/// none is it.
size_t frames_to_site(const trace::Trace& trace, std::span<const trace::Id> frames,
                      std::string_view site);

/// All frames of a stack, innermost first, in the same format; adjacent frames of a library without
/// symbols are one line. Searches all frames of the trace.
std::vector<std::string> stack_lines(const trace::Trace& trace, trace::Id stack);

/// What a program is written in, as far as its call stacks tell: advice has words for each.
enum class Language : uint8_t { kUnknown, kPython, kCompiled };
/// O(frames of the trace).
Language language_of(const trace::Trace& trace);

/// By the symbol of a function of Python: true if torch.compile wrote it.
bool is_generated_code(std::string_view symbol);
/// The same: true if it is in this folder or file ("torch/utils/data/"), which may be below others.
bool is_in_path(std::string_view symbol, std::string_view path);

/// A frame in the same format.
std::string frame_label(const trace::Trace& trace, trace::Id frame);
/// A frame without its line: "step (train.py)", "load (data.cpp)", "load", "libtorch.so".
std::string frame_function(const trace::Trace& trace, trace::Id frame);

/// A call site that names a line; views into its text.
struct SourceLine {
  std::string_view file;
  uint32_t line;
  std::string_view function;  ///< empty: unknown
};

/// The parts of "src/train.py:41 step"; nothing for a call site without file and line.
std::optional<SourceLine> source_line(std::string_view call_site);

}  // namespace streamscope::analysis
