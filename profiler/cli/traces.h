// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How commands come by a trace, and where their output goes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "command_line.h"
#include "trace/reader.h"

namespace streamscope::cli {

/// Makes a trace ready for reading: what a dead recorder left in the rings beside it is added
/// first. False if a recorder may be at work on it.
bool recover(const std::filesystem::path& file);
/// Reads a trace in whatever state it is, with progress.
trace::Trace load(const std::filesystem::path& file, bool quiet, trace::ReadOptions options = {});
/// The same without those derived tables that the analyses compute again, such as edges: of them
/// only the findings are read.
trace::Trace load_to_analyze(const std::filesystem::path& file, bool quiet);
/// The same as load(), and says on standard error if it is unfinished: for output that has no place
/// for it.
trace::Trace load_to_convert(const std::filesystem::path& file, bool quiet);

inline constexpr double kDefaultWaitS = 10;
/// Declares --wait SECONDS of a command that needs finished traces.
void add_wait_option(CommandLine& line, double& seconds);
/// Waits up to so long for the recorder of a trace to end, and says so on standard error.
void wait_for_end(const std::filesystem::path& file, double seconds);
/// Says on standard error that a trace is unfinished.
void note_unfinished(const std::filesystem::path& file);

/// Writes to standard output, or to `file` if it is not empty. `input` and other traces are never
/// overwritten.
void write_output(std::string_view text, const std::filesystem::path& file,
                  const std::filesystem::path& input);

/// The folder of the running program.
std::filesystem::path program_folder();

}  // namespace streamscope::cli
