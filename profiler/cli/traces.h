// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How commands open traces and write output.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "command_line.h"
#include "report/check/check.h"
#include "trace/read/reader.h"

namespace streamscope::cli {

/// Prepares a trace for reading: adds the records that a dead recorder left in the rings next to
/// it. False if a recorder may still be writing it.
bool recover(const std::filesystem::path& file);
/// Reads a trace in any state, with progress.
trace::Trace load(const std::filesystem::path& file, bool quiet, trace::ReadOptions options = {});
/// The same without the derived tables that the analyses recompute, such as edges; findings are
/// read.
trace::Trace load_to_analyze(const std::filesystem::path& file, bool quiet);

inline constexpr double kDefaultWaitS = 10;
/// Declares --wait SECONDS for a command that needs finished traces.
void add_wait_option(CommandLine& line, double& seconds);
/// Waits up to `seconds` for the recorder of a trace to finish, and reports it on standard error.
void wait_for_end(const std::filesystem::path& file, double seconds);
/// Reports on standard error that a trace is unfinished.
void note_unfinished(const std::filesystem::path& file);

/// Declares --iteration, how iterations are found; `otherwise` says what the default does.
void add_iteration_option(
    CommandLine& line, std::string& text,
    std::string_view otherwise = "auto (default) takes the first that is found");
/// What its value means; throws Error if it means nothing.
analysis::IterationRequest iteration_request(const std::string& text);

/// How to write text to `output`: in the style of the terminal if it is empty.
report::TextStyle style_for(const std::filesystem::path& output);
/// The exit code of a check or a comparison.
int exit_code(report::CheckResult result);
/// Takes output piece by piece.
using Sink = std::function<void(std::string_view)>;
/// Writes to standard output, or to `file` if it is not empty. Never overwrites `input` or another
/// trace, and leaves no incomplete file.
void write_pieces(const std::function<void(const Sink&)>& produce,
                  const std::filesystem::path& file, const std::filesystem::path& input);
void write_output(std::string_view text, const std::filesystem::path& file,
                  const std::filesystem::path& input);

/// The folder of the running program.
std::filesystem::path program_folder();

}  // namespace streamscope::cli
